"""The list of all mutants, and the harness that puts one before the kit."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar

from forkproof.harness import Seams, SessionHarness
from forkstore import MemorySessionRepo

from . import sessions


class Mutant(MemorySessionRepo):
    """Base of the wrong backends. `kills` names the clause whose own cases must fail."""

    kills: ClassVar[str]


def mutants() -> list[type[Mutant]]:
    """Every mutant, in the order of the files and of their text."""
    modules = [import_module(f"{sessions.__name__}.{found.name}") for found in iter_modules(sessions.__path__)]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Mutant)
        and value.__module__ == module.__name__
        and "kills" in vars(value)
    ]


def harness_of(mutant: type[Mutant], directory: Path) -> SessionHarness:
    """A harness of the reference's own shape around a mutant."""

    class MutantHarness(SessionHarness):
        name = mutant.__name__
        kinds = frozenset({"memory"})
        seams = frozenset({"clock", "probe", "raw-commit"})

        async def open_repo(self, seams: Seams) -> Any:
            return mutant(now=seams.clock, fork_probe=seams.probe)

    return MutantHarness(directory)
