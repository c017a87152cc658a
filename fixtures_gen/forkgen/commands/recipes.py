"""`forkgen list` and `forkgen digest`: what there is, and what it comes to in 32 bytes."""

from __future__ import annotations

import json

from forkgen.digest import digest
from forkgen.progress import Tally, bar
from forkgen.recipe import RECIPES, Generated, Recipe

from . import unknown


def find(name: str) -> Recipe:
    """The recipe of a name. Raises UsageError, with the nearest one."""
    if name not in RECIPES:
        raise unknown("recipe", name, RECIPES)
    return RECIPES[name]


def generate(name: str, seed: int, size: int) -> Generated:
    """The session that was asked for. Raises UsageError and BadRequest."""
    return find(name)(seed, size)


def list_recipes(*, as_json: bool) -> int:
    """Lists all recipes."""
    if as_json:
        print(json.dumps({"recipes": [_document(recipe) for recipe in RECIPES.values()]}, indent=1))
        return 0
    width = max(map(len, RECIPES)) + 2
    for recipe in RECIPES.values():
        print(f"{recipe.name:<{width}}{recipe.summary}")
        print(f"{'':<{width}}size: {recipe.unit}")
    return 0


def show_recipe(name: str, *, as_json: bool) -> int:
    """Shows one recipe with its picture. Raises UsageError."""
    recipe = find(name)
    if as_json:
        print(json.dumps(_document(recipe), indent=1))
        return 0
    print(f"{recipe.name}: {recipe.summary}\nsize: {recipe.unit}\n\n{recipe.picture}")
    return 0


def show_digest(name: str, seed: int, size: int, *, as_json: bool) -> int:
    """Prints the digest of a session's writes. Raises UsageError and BadRequest."""
    generated, tally = generate(name, seed, size), Tally()
    with bar(f"digest of {name}", tally.total(generated)) as step:
        text = digest(tally.watched(generated, step))
    print(json.dumps({"recipe": name, "seed": seed, "size": size, "digest": text}) if as_json else text)
    return 0


def _document(recipe: Recipe) -> dict[str, str]:
    return {"name": recipe.name, "unit": recipe.unit, "summary": recipe.summary, "picture": recipe.picture}
