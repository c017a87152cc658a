"""Deterministic sessions of any size and shape: pure functions of recipe, seed and size.

    from forkgen import recipe

    generated = recipe("bushy")(seed=7, size=10_000)
    for transaction in generated:                  # lists of contract writes, made as they are asked for
        await session.storage.commit(transaction)
    await check_session(session, generated.expectation)
    fork = await repo.fork(session.metadata, BranchFork("main"))
    await check_session(fork, generated.expectation.branch_fork("main"))

Equal requests give equal writes, byte for byte, on every machine and Python: `digest` tells in 32 bytes. Of this
project it imports `forkstore.contract` only.
"""

from __future__ import annotations

from .checking import ExpectationBroken
from .digest import digest
from .expectation import Expectation
from .plan import Transaction
from .recipe import RECIPES, BadRequest, Generated, Recipe, recipe
from .session_check import check_session

__all__ = [
    "RECIPES",
    "BadRequest",
    "Expectation",
    "ExpectationBroken",
    "Generated",
    "Recipe",
    "Transaction",
    "check_session",
    "digest",
    "recipe",
]
