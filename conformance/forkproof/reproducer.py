"""Writes a failing case down as a script that replays its operations against the author's harness, without the kit.

The script needs the harness import and the store's contract, nothing else. Operations that overlapped overlap again:
each is started and awaited in the recorded order of starts and ends.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forkproof import replay
from forkproof.case import BoundCase
from forkproof.instruments.trace import Operation, Trace

NAME_KEPT = 120


def write_reproducer(directory: Path, bound: BoundCase, harness: Any, trace: Trace, detail: str) -> Path:
    """Writes `<case id>.py` into the directory (made if needed) and gives its path.

    >>> write_reproducer(Path("reproducers"), bound, harness, trace, "expected: …")
    PosixPath('reproducers/S-LIST-01-elements-are-ordered-by-sequence.py')
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{bound.id[:NAME_KEPT]}.py"
    path.write_text(reproducer_text(bound, harness, trace, detail), encoding="utf-8", errors="backslashreplace")
    return path


def reproducer_text(bound: BoundCase, harness: Any, trace: Trace, detail: str) -> str:
    """The script: what was seen, the player (the text of `forkproof.replay`), and the recorded steps."""
    kind = type(harness)
    clock = next((one.clock for one in trace.operations if one.clock is not None), None)
    name, folder = f"{kind.__module__}:{kind.__qualname__}", str(import_folder(kind) or "")
    return (
        f'"""{_heading(bound, trace, detail)}"""\n'
        f"{_player()}\n\n"
        f"STEPS: list[Step] = [\n{''.join(_steps(trace.operations))}]\n\n"
        f'if __name__ == "__main__":\n'
        f"    sys.exit(main(STEPS, harness={name!r}, folder={folder!r}, clock={clock!r}))\n"
    )


def _heading(bound: BoundCase, trace: Trace, detail: str) -> str:
    said = [f"Replays the case {bound.id} of forkproof ({', '.join(bound.clauses)}).", "", "What the case saw:"]
    said += [f"    {line}".rstrip() for line in detail.splitlines()[:40]]
    said += ["", "Run it:  python THIS_FILE [package.module:HarnessClass]"]
    if trace.cut:
        said.append(f"Only the first {len(trace.operations)} operations were recorded.")
    return "\n".join(said).replace("\\", "\\\\").replace('"', "'") + "\n"


def _player() -> str:
    source = inspect.getsource(replay)
    docstring_end = ast.parse(source).body[0].end_lineno or 0
    return "".join(source.splitlines(keepends=True)[docstring_end:]).rstrip() + "\n"


def _steps(operations: list[Operation]) -> list[str]:
    """One line for each start, entered scope and end, in their order."""
    moments = [(one.started, _start(number, one)) for number, one in enumerate(operations)]
    moments += [
        (one.entered, f"    enter({number}, {one.scope!r}),\n")
        for number, one in enumerate(operations)
        if one.entered is not None
    ]
    moments += [(one.ended, _end(number, one)) for number, one in enumerate(operations) if one.ended is not None]
    return [line for _, line in sorted(moments)]


def _start(number: int, one: Operation) -> str:
    options = f", clock={one.clock}" if one.clock is not None else ""
    options += ", shortened=True" if one.shortened else ""
    arguments = "" if one.method == "mutate" else one.arguments
    return f"    start({number}, {one.handle!r}, {one.method!r}, lambda replay: args({arguments}){options}),\n"


def _end(number: int, one: Operation) -> str:
    found = {"gives": one.gives, "learned": one.learned, "session": one.session}
    named = "".join(f", {name}={value!r}" for name, value in found.items() if value is not None)
    return f"    end({number}, {one.kind!r}, {one.outcome!r}{named}),\n"


def import_folder(kind: type | Callable[..., object]) -> Path | None:
    """The folder from which the module of a class or a function can be imported; None when that is not known."""
    try:
        source = Path(inspect.getfile(kind)).resolve()
    except (OSError, TypeError):
        return None
    depth = kind.__module__.count(".") + (source.name == "__init__.py")
    return source.parents[depth] if depth < len(source.parents) else None
