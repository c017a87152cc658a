"""The committed digests: what every recipe must give for three seeds and three sizes, on every machine and Python.

`python -m forkgen.golden` prints them as they are now. A digest that changes on purpose is committed with the change of
its recipe; every stored session made by that recipe is then another one.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

from forkgen.digest import digest
from forkgen.recipe import RECIPES, recipe

SEEDS: Final = (0, 1, 2**64 - 1)
SIZES: Final = (1, 40, 1_000)


def committed() -> dict[str, dict[str, str]]:
    """The committed digests, by recipe and then by `seed/size`."""
    table: dict[str, dict[str, str]] = json.loads(files(__name__).joinpath("digests.json").read_text("utf-8"))
    return table


def computed(name: str) -> dict[str, str]:
    """The digests of a recipe as it is, by `seed/size`. Raises BadRequest for an unknown recipe."""
    made = recipe(name)
    return {f"{seed}/{size}": digest(made(seed, size)) for seed in SEEDS for size in SIZES}


def table() -> str:
    """All digests as they are, as the text of the committed file."""
    return json.dumps({name: computed(name) for name in RECIPES}, indent=2) + "\n"
