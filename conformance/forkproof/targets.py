"""Finding what to grade: a name of the entry point group `forkproof.backends`, or `package.module:Class`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from forkproof.verdict import TargetError

GROUP = "forkproof.backends"

HarnessFactory = Callable[[Path], object]


@dataclass(frozen=True)
class FoundTarget:
    """A way to make harnesses. `name` is the entry point's; None leaves the name to the harness."""

    text: str
    name: str | None
    make: HarnessFactory


def registered() -> dict[str, EntryPoint]:
    """The registered backends, by name."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def find_target(text: str) -> FoundTarget:
    """Finds the harness a target names. Raises TargetError, which names what is known."""
    if ":" in text:
        return FoundTarget(text, None, _callable(text, _import(text)))
    points = registered()
    if text not in points:
        close = get_close_matches(text, points, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        known = ", ".join(points) or "none"
        raise TargetError(f"unknown target {text!r}: {hint}registered are {known}; or name one as package.module:Class")
    try:
        loaded = points[text].load()
    except (Exception, SystemExit) as error:
        raise TargetError(f"target {text}: {points[text].value} cannot be loaded: {describe(error)}") from error
    return FoundTarget(text, text, _callable(text, loaded))


def describe(error: BaseException) -> str:
    """An exception in one line."""
    return ": ".join([type(error).__name__, *" ".join(str(error).split()).splitlines()])


def _import(text: str) -> object:
    module, _, attribute = text.partition(":")
    if not module or not attribute:
        raise TargetError(f"target {text!r} must be written package.module:Class")
    # The author's module lies in the directory the command runs in, where a console script does not look by itself.
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: object = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise TargetError(f"target {text}: cannot be imported: {describe(error)}") from error
    return found


def _callable(text: str, found: object) -> HarnessFactory:
    if not callable(found):
        raise TargetError(f"target {text}: is no harness class, but {type(found).__name__}")
    return found
