"""Byteguard, audit spy and file spy together on a real store: one mind about a right fork, and each on its own lie."""

import asyncio
import os
from pathlib import Path

import pytest

from forkproof.expect import ClauseBroken
from forkproof.instruments.audit import AuditSpy
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.file_spy import FileSpy
from forkproof.instruments.trace import Trace
from forkproof.makers import SessionMaker
from forkproof.makers.case_instruments import CaseInstruments
from forkstore import JsonlSessionRepo, LocalFiles
from forkstore.contract.files import CHUNK
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.testing import JsonlHarness


class OpensToWrite(LocalFiles):
    """Lie: the source is opened for writing, though nothing is written."""

    async def open_line_reader(self, path):
        os.close(os.open(path, os.O_RDWR))
        return await super().open_line_reader(path)


class Locks(LocalFiles):
    """Lie: a lock file stands beside the source for a moment."""

    async def open_line_reader(self, path):
        lock(Path(f"{path}.lock"))
        return await super().open_line_reader(path)


def lock(path):
    path.touch()
    path.unlink()


class Touches(LocalFiles):
    """Lie: the source gets another time."""

    async def open_line_reader(self, path):
        os.utime(path, (1, 1))
        return await super().open_line_reader(path)


class ReadsWhole(JsonlSessionRepo):
    """Lie: the source is read in one call before it is streamed."""

    async def fork(self, metadata, options):
        await self._files.read_all(metadata.path)
        return await super().fork(metadata, options)


class Harness(JsonlHarness):
    repo, files = JsonlSessionRepo, LocalFiles

    async def open_repo(self, seams):
        return self.repo(self.sessions_root, files=seams.files(self.files()))


def forked(directory, options=None, **lie):
    """Forks a closed source under the three instruments; gives what each of them has to say."""
    harness = Harness(directory)
    for name, value in lie.items():
        setattr(harness, name, value)

    async def steps():
        spy = FileSpy()
        store = await SessionMaker(harness, Trace(), CaseInstruments(files=spy)).start()
        source = await store.torn_tail_session()
        path = store.path_of(source)
        spy.forget()
        guard, audit = ByteGuard(path, root=store.root), AuditSpy(path)
        broken = []
        try:
            with audit, guard:
                fork = await source.fork(options or TreeFork())
                guard.allow(store.path_of(fork))
        except ClauseBroken as error:
            broken.append(error)
        try:
            audit.check()
        except ClauseBroken as error:
            broken.append(error)
        await store.repo.close()
        return path, spy, guard.difference, audit.offences, broken

    return asyncio.run(steps())


@pytest.mark.parametrize("options", [TreeFork(), BranchFork("main")])
def test_all_agree_on_a_right_fork(tmp_path, options):
    path, spy, difference, offences, broken = forked(tmp_path, options)
    assert (difference, offences, broken) == (None, [], [])
    assert spy.whole_file_reads() == []
    assert spy.only_read(path)
    assert max(spy.lines_read(path)[1:]) == 2
    assert all(reader.longest <= CHUNK for reader in spy.readers(path))
    assert spy.open_readers == []
    assert spy.sequence("write_file", "publish_file")[-1] == "publish_file"


@pytest.mark.parametrize("lie", [OpensToWrite, Locks])
def test_the_audit_spy_sees_what_leaves_no_trace(tmp_path, lie):
    path, spy, difference, offences, broken = forked(tmp_path, files=lie)
    assert (difference, spy.only_read(path)) == (None, True)
    assert f"{__file__}:" in offences[0]
    assert broken != []


def test_the_byteguard_sees_what_was_left_behind(tmp_path):
    _, _, difference, _, broken = forked(tmp_path, files=Touches)
    assert "modification time: was " in difference
    assert "is 1970-01-01T00:00:01.000000000Z" in difference
    assert broken != []


def test_the_file_spy_flags_a_whole_read(tmp_path):
    path, spy, difference, offences, _ = forked(tmp_path, repo=ReadsWhole)
    assert (difference, offences) == (None, [])
    assert [call.name for call in spy.whole_file_reads(path)] == ["read_all"]
