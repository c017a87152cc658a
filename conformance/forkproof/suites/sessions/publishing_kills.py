"""Processes that are killed while they publish (S-JSONL-PUB-04)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import CHANGES, When
from forkproof.instruments.kill import Killed, Play
from forkproof.instruments.kill_child import KillStage
from forkproof.instruments.kill_sweep import killed_at_every_operation
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_lines import lines_in
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.legacy_model import legacy_model
from forkproof.oracle.model import SessionModel
from forkproof.suites import killed_processes
from forkproof.suites.killed_processes import LOG
from forkproof.suites.sessions.file_attempts import legacy_case
from forkstore.contract.forks import TreeFork, fork_options_to_wire
from forkstore.contract.store import Session
from forkstore.contract.writes import CommitResult, ListAppend

NAMES: dict[When, frozenset[str]] = {
    "before": CHANGES | {"make_dir", "rename_file", "publish_file"},
    "middle": CHANGES,
    "after": frozenset({"rename_file", "publish_file"}),
}
"""The file calls at which a process dies. Behind each of the others it is as before the next; a sync changes nothing
that another process could see.
"""


class _Creates:
    """A process that creates a session, named like the run."""

    scenario: Callable[[KillStage], Awaitable[object]] = staticmethod(killed_processes.creates)
    made = SessionModel()

    def __init__(self, store: SessionMaker) -> None:
        self.store = store

    async def arrange(self) -> None:
        """Makes what all runs need: here the session directory, which another session stands in."""
        await (await self.store.linear_session(2, id="source")).close()

    async def prepare(self, name: str) -> None:
        """Makes what one run needs."""

    async def check(self, run: Killed) -> None:
        """Breaks the clause unless the destination is absent, or the complete new session."""
        files = list(self.store.root.rglob(f"*_{run.name}.jsonl"))
        expect(files or not run.acknowledged, f"{run}\nexpected: the file that was acknowledged\nseen:     none")
        listed = [metadata for metadata in await self.store.list() if metadata.id == run.name]
        expect_equal(len(listed), len(files), of=f"how many sessions are listed of {len(files)} files, after {run}")
        for metadata in listed:
            await self.opened(run, metadata)

    async def opened(self, run: Killed, metadata: Any, model: SessionModel | None = None) -> Subject:
        """The session, opened by a repository that knows nothing of the other process, and looked at."""
        opened = await ended((await self.store.open_second_repo()).open(metadata))
        expect_equal(opened.word, "returned", of=f"opening the session, after {run}")
        subject = self.store.subject(opened.value, model or await self.model(opened.value))
        await subject.check(f"the session, after {run}")
        await subject.close()
        return subject

    async def model(self, session: Session) -> SessionModel:
        """What the opened session must hold."""
        return self.made


class _Forks(_Creates):
    """A process that forks a session."""

    scenario = staticmethod(killed_processes.forks)

    async def arrange(self) -> None:
        source = await self.store.linear_session(2, id="source")
        await source.close()
        self.made = source.model.fork(TreeFork(), source.id)


class _Repairs(_Creates):
    """A process that opens a file with a torn tail."""

    scenario = staticmethod(killed_processes.opens)

    def __init__(self, store: SessionMaker) -> None:
        super().__init__(store)
        self.old: dict[str, bytes] = {}
        self.paths: dict[str, Path] = {}

    async def arrange(self) -> None:
        """Every run has a file of its own."""

    async def prepare(self, name: str) -> None:
        await self.planted(name, small_file(id=name, cwd=self.store.raw.cwd)[:-30])

    async def planted(self, name: str, data: bytes, **naming: Any) -> None:
        """Puts the file of a run in its place."""
        self.old[name] = data
        self.paths[name] = await self.store.plant(data, id=name, **naming)

    def now(self, run: Killed) -> bytes:
        """What stands in the place of the run's file."""
        path = self.paths[run.name]
        expect(path.exists(), f"{run}\nexpected: {path}\nseen:     it is gone")
        return path.read_bytes()

    async def check(self, run: Killed) -> None:
        path, old = self.paths[run.name], self.old[run.name]
        now, new = self.now(run), old[: old.rindex(b"\n") + 1]
        expect(now in (old, new), f"{run}\nexpected: the old file, or the repaired one\nseen:     {len(now)} bytes")
        expect(now == new or not run.acknowledged, f"{run}\nexpected: the repaired file\nseen:     the old one")
        model = model_of_records(lines_in(new, path).records)
        await self.opened(run, self.store.raw.metadata(path), model)


class _Upgrades(_Repairs):
    """A process that opens a legacy v3 file and commits to it."""

    scenario = staticmethod(killed_processes.upgrades)
    legacy = legacy_case()

    async def prepare(self, name: str) -> None:
        data = self.legacy.contents.replace(f'"{self.legacy.id}"'.encode(), f'"{name}"'.encode(), 1)
        await self.planted(name, data, cwd=self.legacy.cwd, created_at=self.legacy.created_at)

    async def check(self, run: Killed) -> None:
        path = self.paths[run.name]
        self.is_old = self.now(run) == self.old[run.name]
        expect(not (run.acknowledged and self.is_old), f"{run}\nexpected: the new file\nseen:     the old one")
        if not self.is_old:
            expect_equal(lines_in(path.read_bytes(), path).header["v"], 4, of=f"the version of the file, after {run}")
        await self.opened(run, self.store.raw.metadata(path), None)

    async def model(self, session: Session) -> SessionModel:
        model = legacy_model(self.legacy, [entry["id"] for entry in await session.scan_entries()])
        model.look_at([(LOG.namespace, LOG.key)])
        if not self.is_old:
            seqs = [element.seq for element in await session.read_list(LOG)]
            expect_equal(len(seqs), 1, of="the number of elements that the first commit has left")
            model.apply([ListAppend(LOG, "first")], CommitResult(seqs[0], seqs, 0, await session.get_stats()))
            model.follow_upgrade(await session.scan_usage())
        return model


PROCESSES: dict[str, type[_Creates]] = {
    "create": _Creates,
    "fork": _Forks,
    "repair": _Repairs,
    "upgrade": _Upgrades,
}


@case("S-JSONL-PUB-04", needs=("fault-injection", "raw-files"))
@rows("process", PROCESSES)
@rows("when", before="before", middle="middle", after="after")
async def a_process_killed_while_publishing_leaves_old_or_new(
    store: SessionMaker, process: type[_Creates], when: When
) -> None:
    """A process is killed before and in the middle of every file call by which it publishes, and right after the
    rename: the destination is the old one, or the complete new one; what was acknowledged is the new one.

    If this fails, look at: a destination that is written in place; a rename before the last of the data; an upgrade in
    two steps.
    """
    kind = process(store)
    await kind.arrange()
    play = Play(store.harness, kind.scenario, {"options": fork_options_to_wire(TreeFork())})
    whole = await killed_at_every_operation(play, kind.check, when=when, names=NAMES[when], prepare=kind.prepare)
    await kind.check(whole)
    expect_equal(whole.acknowledged, ("made",), of="what the process acknowledged that was not killed")
