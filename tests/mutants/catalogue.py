"""The list of all mutants."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar

from forkproof.harness import Seams, SessionHarness
from forkstore import MemorySessionRepo

from . import sessions
from .source_lies import SourceLie


class Mutant(MemorySessionRepo):
    """Base of the wrong backends in memory. `kills` names the clause whose own cases must fail."""

    kills: ClassVar[str]

    @classmethod
    def harness(cls, directory: Path) -> SessionHarness:
        """A harness of the reference's own shape around a mutant."""

        class MutantHarness(SessionHarness):
            name = cls.__name__
            kinds = frozenset({"memory"})
            seams = frozenset({"clock", "probe", "raw-commit"})

            async def open_repo(self, seams: Seams) -> Any:
                return cls(now=seams.clock, fork_probe=seams.probe)

        return MutantHarness(directory)


AnyMutant = type[Mutant] | type[SourceLie]


def mutants() -> list[AnyMutant]:
    """Every mutant, in the order of the files and of their text."""
    modules = [import_module(f"{sessions.__name__}.{found.name}") for found in iter_modules(sessions.__path__)]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Mutant | SourceLie)
        and value.__module__ == module.__name__
        and "kills" in vars(value)
    ]
