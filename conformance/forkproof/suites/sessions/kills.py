"""Processes that are killed: acknowledged commits are there, deletes are whole, leftovers are in nobody's way (sections
5, 11 and 20).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments import sql_operations
from forkproof.instruments.fault_kinds import CHANGES, When
from forkproof.instruments.kill import Killed, Play, Point, killed
from forkproof.instruments.kill_child import KillStage
from forkproof.instruments.kill_sweep import expect_acknowledged, killed_at_every_operation, killed_at_seeded_points
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject
from forkproof.oracle.model import SessionModel
from forkproof.suites import killed_processes
from forkproof.suites.killed_processes import COMMITS, LOG, OLD, PLAN, STEPS, writes_of
from forkproof.suites.sessions.standing import expect_made_anew
from forkstore.contract.errors import SessionNotFound
from forkstore.contract.forks import TreeFork, fork_options_to_wire
from forkstore.contract.store import SessionMetadata, SessionRepo
from forkstore.contract.writes import CommitResult

MOMENTS: dict[str, When] = {"before": "before", "middle": "middle", "after": "after"}
WRITING = CHANGES | sql_operations.CHANGES
"""Every operation by which a session changes, in a file or in a database."""
REMOVALS = WRITING | {"rename_file", "publish_file", "remove_file", "remove_dir"}
"""Every operation that can make a session go, in part or whole."""
STRIDE = 14
"""Of a database's operations one in so many is the last of a process, another one at each moment."""


def _sweep(store: SessionMaker, when: When) -> dict[str, Any]:
    """How thoroughly the operations of a scenario are swept."""
    if not store.faults.are_many:
        return {"when": when}
    because = "a commit in a database is a run of writes, and SQLite itself is not on trial"
    first = 1 + STRIDE // len(MOMENTS) * list(MOMENTS).index(when)
    return {"when": when, "sparse": True, "first": first, "stride": STRIDE, "because": because}


async def _found(repo: SessionRepo, id: str) -> SessionMetadata | None:
    """The session as a repository of its own lists it."""
    return next((metadata for metadata in await repo.list() if metadata.id == id), None)


class _NothingIsLost:
    """After each killed run of `commits_follow_each_other`: a new repository shows all that was acknowledged, in full,
    at most one commit more, which is there wholly, and takes further commits.
    """

    def __init__(self, store: SessionMaker) -> None:
        self._store = store

    async def __call__(self, run: Killed) -> None:
        repo = await self._store.open_second_repo()
        metadata = await _found(repo, run.name)
        if metadata is None:
            expect_acknowledged([], run, STEPS, of="the steps whose data is there")
            return
        session = await repo.open(metadata)
        entries = await session.get_entries([f"entry-{number}" for number in range(COMMITS)])
        seen = ["created", *(f"commit-{number}" for number in range(COMMITS) if f"entry-{number}" in entries)]
        expect_acknowledged(seen, run, STEPS, of="the steps whose data is there")
        model = await self._model(session, list(entries.values()))
        subject = self._store.subject(session, model)
        await subject.check(f"the session of {run}")
        await subject.append("main", "written afterwards")
        await subject.check(f"the session of {run}, after one more commit")
        await session.close()

    async def _model(self, session: Any, entries: list[dict[str, Any]]) -> SessionModel:
        model = SessionModel()
        for number, entry in enumerate(entries):
            writes, first = writes_of(number), model.next_seq or 1
            seqs = list(range(first, first + len(writes)))
            model.apply(writes, CommitResult(first, seqs, entry["timestamp"], await session.get_stats()))
        model.look_at((address.namespace, address.key) for address in (LOG, OLD, PLAN))
        return model


@case("S-TXN-15", needs=("fault-injection",))
@rows("when", MOMENTS)
async def acknowledged_commits_survive_a_kill(store: SessionMaker, when: When) -> None:
    """A process is killed before, in the middle of and after operations that change a file or database: a new process
    reads every commit that was acknowledged, in full, and of the one that was not, all or nothing.

    If this fails, look at: a commit that is acknowledged before its last write has ended; writes that are kept back for
    the next commit; half a line that is read.
    """
    bystander = await store.linear_session(1)
    await bystander.close()
    play = Play(store.harness, killed_processes.commits_follow_each_other)
    whole = await killed_at_every_operation(play, _NothingIsLost(store), names=WRITING, **_sweep(store, when))
    await _NothingIsLost(store)(whole)
    expect_equal(whole.acknowledged, STEPS, of="what the run acknowledged that was not killed")
    await bystander.open()
    await bystander.check("a session that the killed processes left alone")


@case("S-TXN-15", needs=("fault-injection",))
async def acknowledged_commits_survive_a_kill_anywhere(store: SessionMaker) -> None:
    """The same at points that a seed draws, from all operations and from the moments right after an acknowledgement,
    where the process is killed from outside.

    If this fails, look at: a commit that is acknowledged before its last write has ended; data that a background task
    has still to write.
    """
    play = Play(store.harness, killed_processes.commits_follow_each_other)
    await killed_at_seeded_points(play, _NothingIsLost(store), seed=3, count=2 if store.faults.are_many else 4)


@case("S-REPO-19", needs=("fault-injection",))
@rows("when", before="before", after="after")
async def a_killed_delete_is_whole(store: SessionMaker, when: When) -> None:
    """A process is killed at an operation by which its `delete` changes a file or database: afterwards the session is
    wholly there, or wholly gone, and not reserved.

    If this fails, look at: a delete that empties a file before it removes it; a mark of a delete that was begun and
    keeps everyone out; parts that are removed one by one.
    """
    doomed: dict[str, Subject] = {}

    async def prepare(name: str) -> None:
        doomed[name] = await store.bushy_session(id=name)
        await doomed[name].close()

    async def is_whole(run: Killed) -> None:
        subject, repo = doomed[run.name], await store.open_second_repo()
        if await _found(repo, run.name) is None:
            with refused(SessionNotFound, session_id=run.name):
                await repo.open(subject.metadata)
            again = await ended(repo.create(id=run.name, **store.create_options))
            expect_equal(again.word, "returned", of=f"a create of the id, after {run}")
            await again.value.close()
            return
        expect(not run.acknowledged, f"{run}\nexpected: the deleted session is gone\nseen:     it is listed")
        opened = await ended(repo.open(subject.metadata))
        expect_equal(opened.word, "returned", of=f"opening the session, after {run}")
        subject.session = opened.value
        await subject.check(f"the session, after {run}")
        await subject.close()

    play = Play(store.harness, killed_processes.deletes)
    whole = await killed_at_every_operation(play, is_whole, names=REMOVALS, prepare=prepare, **_sweep(store, when))
    await is_whole(whole)


BEGUN = Point(1, "middle", ("append_file", "write_file"))
COMPLETE = Point(1, "before", ("publish_file",))
LEFTOVERS: dict[str, tuple[Callable[[KillStage], Awaitable[object]], Point]] = {
    "create-begun": (killed_processes.creates, BEGUN),
    "create-complete": (killed_processes.creates, COMPLETE),
    "fork-begun": (killed_processes.forks, BEGUN),
    "fork-complete": (killed_processes.forks, COMPLETE),
}


@case("S-FORK-FAIL-09", kinds=("jsonl",))
@rows("leftover", LEFTOVERS)
async def leftovers_of_a_killed_process_are_in_nobodys_way(store: SessionMaker, leftover: Any) -> None:
    """The temporary file of a process that was killed while it made a session, half or complete, is not listed, and
    keeps neither a create nor a fork of that id from succeeding, nor from being opened afterwards.

    If this fails, look at: temporary files that end in `.jsonl`; an id that counts as taken because of them; a
    temporary file that is always called the same and must not exist.
    """
    scenario, point = leftover
    source = await store.linear_session(2, id="source")
    await source.close()
    arguments = {"options": fork_options_to_wire(TreeFork())}
    run = await killed(Play(store.harness, scenario, arguments), point)
    expect(run.hit is not None, f"expected: the process reaches {point.name}\nseen:     it ended")
    known = set(store.root.rglob("*"))
    await expect_made_anew(store, source, run)
    for path in set(store.root.rglob("*.tmp")) - known:
        expect(False, f"expected: no further temporary file\nseen:     {path}")
