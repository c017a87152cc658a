"""Backends that a session can be made in: the entry point group `forkproof.backends`.

A backend is registered as a harness class, which is called with a directory and opens a repository there. forkgen
takes of it what it needs and asks for no instrument, so that any harness will do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final, Protocol, cast

from forkstore.contract.store import SessionRepo

from .commands import UsageError, described, unknown

GROUP: Final = "forkproof.backends"
FAMILY: Final = "sessions"


@dataclass(frozen=True)
class Seams:
    """What a harness is asked to build in: nothing."""

    clock: None = None
    probe: None = None
    files: None = None
    connect: None = None
    staging_dir: None = None
    stage_batch_rows: int = 250
    stage_batch_bytes: int = 1_048_576


class Harness(Protocol):
    """What forkgen calls of a harness."""

    async def open_repo(self, seams: Seams) -> SessionRepo: ...


@dataclass(frozen=True)
class OpenTarget:
    """A backend at a place. `durable` says that sessions outlive the repository, `cwd` what `create` is given."""

    name: str
    harness: Harness
    durable: bool
    cwd: str | None


@dataclass(frozen=True)
class Target:
    """A registered backend."""

    name: str
    make: Callable[[Path], Harness]

    def at(self, directory: Path) -> OpenTarget:
        """The backend at a directory. Raises UsageError for one that cannot be made or keeps no sessions."""
        try:
            harness = self.make(directory)
        except Exception as error:
            raise UsageError(f"target {self.name}: the harness cannot be made: {described(error)}") from error
        if (family := getattr(harness, "family", FAMILY)) != FAMILY:
            raise UsageError(f"target {self.name}: keeps {family}, not {FAMILY}")
        durable, cwd = bool(getattr(harness, "durable", False)), getattr(harness, "cwd", None)
        return OpenTarget(self.name, harness, durable, cwd)


def registered() -> dict[str, EntryPoint]:
    """The registered backends, by name."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def find_target(name: str) -> Target:
    """The backend of a name. Raises UsageError, with the nearest one."""
    points = registered()
    if name not in points:
        raise unknown("registered backend", name, points)
    try:
        made = points[name].load()
    except Exception as error:
        raise UsageError(f"target {name}: {points[name].value} cannot be loaded: {described(error)}") from error
    if not callable(made):
        raise UsageError(f"target {name}: {points[name].value} is no harness class")
    return Target(name, cast("Callable[[Path], Harness]", made))
