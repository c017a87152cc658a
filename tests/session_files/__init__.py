"""A handful of small session files in the shapes that people keep, committed as data: every version, whole and torn.

`python -m tests.session_files` writes them anew; a test holds them to what that gives.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from forkgen import recipe
from forkgen.jsonl import lines
from forkgen.legacy import VERSION_ONE, legacy_files, version_two
from forkgen.legacy.records import text_of

DIRECTORY: Final = Path(__file__).parent


def _legacy(name: str) -> bytes:
    return next(case.contents for case in legacy_files() if case.name == name)


def _recipe(name: str) -> bytes:
    generated = recipe(name)(seed=1, size=12)
    return b"".join(lines(generated, id=f"{name}-1", cwd="/srv/garden", created_at=1_760_000_000_123))


def _torn(contents: bytes) -> bytes:
    """The file with half of its last line."""
    start = contents.rindex(b"\n", 0, -1) + 1
    return contents[: (start + len(contents)) // 2]


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "v1.jsonl": lambda: text_of(*VERSION_ONE),
    "v2.jsonl": lambda: text_of(*version_two()),
    "v3.jsonl": lambda: _legacy("every-kind"),
    "v3-torn.jsonl": lambda: _torn(_legacy("chains-through-discarded")),
    "format-4.jsonl": lambda: _recipe("compacted"),
    "format-4-torn.jsonl": lambda: _torn(_recipe("usage")),
}
"""What each file holds, by its name in `DIRECTORY`."""
