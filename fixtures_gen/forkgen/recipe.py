"""Recipes by name, and the sessions they give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import getdoc, getmodule
from typing import Final

from .expectation import Expectation
from .plan import Plan, Transaction
from .random import WORD
from .recipes import PLANS


class BadRequest(ValueError):
    """A recipe that does not exist, or a seed or size that no recipe takes; the message is one line."""


@dataclass(frozen=True)
class Generated:
    """One session of a recipe: iterating gives its transactions, anew and equal every time."""

    name: str
    seed: int
    size: int
    plan: Plan

    def __iter__(self) -> Iterator[Transaction]:
        return self.plan.transactions()

    @cached_property
    def expectation(self) -> Expectation:
        """What a session must hold after all transactions; there is no need to iterate first."""
        return Expectation(self.plan)


@dataclass(frozen=True)
class Recipe:
    """A shape of sessions.

    >>> generated = recipe("linear")(seed=1, size=2)
    >>> [len(transaction) for transaction in generated]
    [3, 2, 2]
    """

    plan: type[Plan]

    @property
    def name(self) -> str:
        """What the recipe is called."""
        return self.plan.name

    @property
    def unit(self) -> str:
        """What its size counts."""
        return self.plan.unit

    @property
    def summary(self) -> str:
        """What its sessions are, in a line."""
        return (getdoc(self.plan) or "").partition("\n")[0]

    @property
    def picture(self) -> str:
        """What its sessions look like, in a few lines."""
        return (getmodule(self.plan).__doc__ or "").strip("\n")

    def __call__(self, seed: int, size: int) -> Generated:
        """The session of a seed, 0 … 2^64−1, and a size of at least 1. Raises BadRequest."""
        if not 0 <= seed < WORD:
            raise BadRequest(f"seed {seed} is outside 0 … 2^64−1")
        if size < 1:
            raise BadRequest(f"size {size} is below 1")
        return Generated(self.name, seed, size, self.plan(seed, size))


RECIPES: Final = {plan.name: Recipe(plan) for plan in PLANS}
"""All recipes, by name, in the order of the documentation."""


def recipe(name: str) -> Recipe:
    """The recipe of a name. Raises BadRequest."""
    if name not in RECIPES:
        raise BadRequest(f"there is no recipe {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]
