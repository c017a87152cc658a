"""Looks at sessions from another process: a child makes the harness anew, opens the store, and reads everything.

The child finds the harness by the module and the name of its class, as a reproducer does, and makes it on the same
directory.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forkproof.expect import ClauseBroken
from forkproof.harness import HarnessError
from forkproof.instruments.child_process import run_child
from forkproof.instruments.kill import harness_target
from forkproof.oracle.state import Location, LogicalState
from forkproof.reproducer import import_folder
from forkstore.contract.store import SessionMetadata

CEILING_SECONDS = 60.0
"""How long the child may take: a net, as the runner's ceiling is for a case."""
CODE = "from forkproof.instruments.reading_child import main; main()"

Asked = tuple[SessionMetadata, Collection[Location]]
"""A session, and the scalars and lists to look for in it beside those that it tells of."""


async def states_in_second_process(harness: Any, sessions: Sequence[Asked]) -> list[LogicalState]:
    """The logical states that one new process reads of the sessions, in their order.

    Breaks the clause when a session cannot be opened and read there. Raises HarnessError when the harness cannot be
    made there. The sessions may be open here: the other process only reads.

    >>> await states_in_second_process(MyHarness(directory), [(fork.metadata, ())]) == [await read_state(fork)]
    True
    """
    directory = getattr(harness, "directory", None)
    if directory is None:
        raise HarnessError(f"{type(harness).__name__} has no `directory`: another process cannot open the same store")
    orders = {
        "harness": harness_target(harness),
        "directory": str(directory),
        "sessions": [
            {"metadata": asdict(metadata), "locations": [list(location) for location in locations]}
            for metadata, locations in sessions
        ],
    }
    folder = import_folder(type(harness))
    return _states_of(await _answer(orders, [] if folder is None else [folder]))


async def _answer(orders: dict[str, Any], folders: list[Path]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="forkproof-second-") as place:
        path = Path(place, "answer.json")
        asked = {**orders, "answer": str(path)}
        try:
            ended = await run_child(CODE, asked, lambda line: False, folders=folders, ceiling=CEILING_SECONDS)
        except TimeoutError as error:
            raise _broken(f"it still runs after {CEILING_SECONDS:g} s") from error
        if ended.exit_code != 0:
            raise _broken(f"exit code {ended.exit_code}\n{ended.output}")
        return _taken(path)


def _taken(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return told


def _states_of(answer: dict[str, Any]) -> list[LogicalState]:
    if "harness" in answer:
        raise HarnessError(f"in a second process: {answer['harness']}")
    if "refused" in answer:
        raise _broken(answer["refused"])
    return [_state_of(state) for state in answer["states"]]


def _state_of(state: dict[str, Any]) -> LogicalState:
    for rows in ("scalars", "lists"):
        state[rows] = {(namespace, key): value for namespace, key, value in state[rows]}
    return LogicalState(**state)


def _broken(seen: str) -> ClauseBroken:
    return ClauseBroken(f"a second process\nexpected: opens the session and reads it in full\nseen:     {seen}")
