"""What the processes do that are killed: the scenarios of the suites about kills, each reporting what was acknowledged.

They stand apart from the suites because every run of a sweep starts a process that imports them: so they import next
to nothing.
"""

from __future__ import annotations

from typing import Any, Final

from forkproof.instruments.kill_child import KillStage
from forkstore.contract.addresses import branch_tip, list_address, session_name, value_address
from forkstore.contract.forks import ForkOptions, fork_options_from_wire
from forkstore.contract.records import zero_usage
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

LOG: Final = list_address("garden.log", "beds")
OLD: Final = list_address("garden.log", "old")
PLAN: Final = value_address("garden.plan", "beds")
COMMITS: Final = 2
STEPS: Final = ("created", *(f"commit-{number}" for number in range(COMMITS)))
"""What `commits_follow_each_other` acknowledges, in order."""
LARGE: Final = 1
"""The commit whose line is longer than any chunk."""


def writes_of(number: int) -> list[Write]:
    """The writes of a commit, of every kind; its entry is `entry-<number>`."""
    text = "x" * 100_000 if number == LARGE else f"früh {number}"
    message = {"role": "user", "content": text, "timestamp": 1_650_000_000_000}
    parent = f"entry-{number - 1}" if number else None
    return [
        EntryInsert({"id": f"entry-{number}", "parentId": parent, "type": "message", "message": message}),
        ValueSet(branch_tip("main"), f"entry-{number}"),
        UsageInsert({"id": f"usage-{number}", "usage": zero_usage(), "adjustment": False}),
        ListAppend(LOG, number),
        ValueDelete(session_name()) if number == LARGE else ValueSet(session_name(), "before"),
        ListDelete(OLD) if number == LARGE else ListAppend(OLD, "before"),
        ValueSet(PLAN, {"number": number}),
    ]


async def _metadata(stage: KillStage, id: str) -> SessionMetadata:
    return next(metadata for metadata in await stage.repo.list() if metadata.id == id)


async def commits_follow_each_other(stage: KillStage) -> None:
    """Creates a session and commits to it."""
    session: Any = await stage.repo.create(id=stage.name, **stage.create_options)
    stage.acknowledged("created")
    for number in range(COMMITS):
        await _commit(session, writes_of(number))
        stage.acknowledged(f"commit-{number}")


async def _commit(session: Any, writes: list[Write]) -> None:
    await session.mutate(lambda scope: scope.commit(writes))


async def creates(stage: KillStage) -> None:
    """Creates a session."""
    await stage.repo.create(id=stage.name, **stage.create_options)
    stage.acknowledged("made")


async def forks(stage: KillStage) -> None:
    """Forks the session `source` by the options of the case."""
    options: ForkOptions = fork_options_from_wire({**stage.arguments["options"], "id": stage.name})
    await stage.repo.fork(await _metadata(stage, "source"), options)
    stage.acknowledged("made")


async def opens(stage: KillStage) -> None:
    """Opens the session that is named like the run."""
    await stage.repo.open(await _metadata(stage, stage.name))
    stage.acknowledged("made")


async def upgrades(stage: KillStage) -> None:
    """Opens it, and commits for the first time."""
    session = await stage.repo.open(await _metadata(stage, stage.name))
    await session.append_list(LOG, "first")
    stage.acknowledged("made")


async def deletes(stage: KillStage) -> None:
    """Deletes it."""
    await stage.repo.delete(await _metadata(stage, stage.name))
    stage.acknowledged("made")
