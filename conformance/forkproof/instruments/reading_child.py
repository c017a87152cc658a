"""The other process that looks at sessions: makes the harness anew, opens the store, and reads everything.

Started by `forkproof.makers.second_process`, with its orders as JSON on standard input. The answer passes through a
file, because a whole session is more than a line may hold. The module imports little: every child pays for it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forkproof.harness import Seams
from forkproof.oracle.reading import read_state
from forkproof.targets import find_target
from forkstore.contract.store import SessionMetadata, SessionRepo


def main() -> None:
    """What the child does: reads the sessions, and writes the states down, or what kept it from reading."""
    orders = json.load(sys.stdin)
    Path(orders["answer"]).write_text(json.dumps(asyncio.run(_answer(orders))), encoding="utf-8")


async def _answer(orders: Mapping[str, Any]) -> dict[str, Any]:
    try:
        harness: Any = find_target(orders["harness"]).make(Path(orders["directory"]))
        repo = await harness.open_repo(Seams())
    except Exception as error:  # noqa: BLE001 - whatever a harness raises is told to the case
        return {"harness": f"{type(error).__name__}: {error}"}
    try:
        states = [await _state(repo, asked) for asked in orders["sessions"]]
        await repo.close()
    except Exception as error:  # noqa: BLE001 - and so is whatever the store raises
        return {"refused": f"{type(error).__name__}: {error}"}
    return {"states": states}


async def _state(repo: SessionRepo, asked: Mapping[str, Any]) -> dict[str, Any]:
    session = await repo.open(SessionMetadata(**asked["metadata"]))
    state = await read_state(session, [tuple(location) for location in asked["locations"]])
    await session.close()
    told = asdict(state)
    for rows in ("scalars", "lists"):
        told[rows] = [[namespace, key, value] for (namespace, key), value in told[rows].items()]
    return told
