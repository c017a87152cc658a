"""Looks at a session from another process: a child makes the harness anew, opens the store, and reads everything.

The child finds the harness by the module and the name of its class, as a reproducer does, and makes it on the same
directory. The answer passes through a file, because a whole session is more than a line may hold.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forkproof.expect import ClauseBroken
from forkproof.harness import HarnessError, Seams
from forkproof.instruments.child_process import run_child
from forkproof.instruments.kill import harness_target
from forkproof.oracle.reading import read_state
from forkproof.oracle.state import Location, LogicalState
from forkproof.reproducer import import_folder
from forkproof.targets import find_target
from forkstore.contract.store import SessionMetadata

CEILING_SECONDS = 60.0
"""How long the child may take: a net, as the runner's ceiling is for a case."""
CODE = "from forkproof.makers.second_process import main; main()"


async def state_in_second_process(
    harness: Any, metadata: SessionMetadata, locations: Collection[Location] = ()
) -> LogicalState:
    """The logical state that a new process reads of the session, with the scalars and lists at `locations`.

    Breaks the clause when the session cannot be opened and read there. Raises HarnessError when the harness cannot be
    made there. The session may be open here: the other process only reads.

    >>> await state_in_second_process(MyHarness(directory), fork.metadata) == await read_state(fork)
    True
    """
    directory = getattr(harness, "directory", None)
    if directory is None:
        raise HarnessError(f"{type(harness).__name__} has no `directory`: another process cannot open the same store")
    orders = {
        "harness": harness_target(harness),
        "directory": str(directory),
        "metadata": asdict(metadata),
        "locations": [list(location) for location in locations],
    }
    folder = import_folder(type(harness))
    return _state_of(await _answer(orders, [] if folder is None else [folder]))


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


def _state_of(answer: dict[str, Any]) -> LogicalState:
    if "harness" in answer:
        raise HarnessError(f"in a second process: {answer['harness']}")
    if "refused" in answer:
        raise _broken(answer["refused"])
    state: dict[str, Any] = answer["state"]
    for rows in ("scalars", "lists"):
        state[rows] = {(namespace, key): value for namespace, key, value in state[rows]}
    return LogicalState(**state)


def _broken(seen: str) -> ClauseBroken:
    return ClauseBroken(f"a second process\nexpected: opens the session and reads it in full\nseen:     {seen}")


def main() -> None:
    """What the child does: reads the session, and writes the state down, or what kept it from reading."""
    orders = json.load(sys.stdin)
    Path(orders["answer"]).write_text(json.dumps(asyncio.run(_read(orders))), encoding="utf-8")


async def _read(orders: dict[str, Any]) -> dict[str, Any]:
    try:
        harness: Any = find_target(orders["harness"]).make(Path(orders["directory"]))
        repo = await harness.open_repo(Seams())
    except Exception as error:  # noqa: BLE001 - whatever a harness raises is told to the case
        return {"harness": f"{type(error).__name__}: {error}"}
    try:
        session = await repo.open(SessionMetadata(**orders["metadata"]))
        state = await read_state(session, [tuple(location) for location in orders["locations"]])
        await session.close()
        await repo.close()
    except Exception as error:  # noqa: BLE001 - and so is whatever the store raises
        return {"refused": f"{type(error).__name__}: {error}"}
    told = asdict(state)
    for rows in ("scalars", "lists"):
        told[rows] = [[namespace, key, value] for (namespace, key), value in told[rows].items()]
    return {"state": told}
