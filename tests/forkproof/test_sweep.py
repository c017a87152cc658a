"""A sweep hits every file operation of a call once, hands each to the check, and ends with the untouched call."""

import asyncio

import pytest

from forkproof.expect import ClauseBroken, expect
from forkproof.instruments.fault_kinds import CHANGES, OPERATIONS, Cancel, Fail, FailAfter, NoSpace, Short
from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.sweep import swept
from forkstore.contract.files import FileError
from tests.forkproof.plain_files import PlainFiles


class Publisher:
    """A tiny store: puts a text at a path, by way of a temporary file that it takes away when something fails."""

    STEPS = ("write_file", "append_file", "sync_file", "publish_file", "sync_dir")

    def __init__(self, directory):
        self.faults = FileFaults()
        self.files = self.faults.wrap(PlainFiles())
        self.directory = directory
        self.target = directory / "text"

    def path(self, name):
        return str(self.directory / name)

    async def publish(self):
        try:
            await self.stage()
        except (FileError, asyncio.CancelledError):
            await self.clean_up()
            raise

    async def stage(self):
        await self.files.write_file(self.path("text.tmp"), b"head\n")
        await self.files.append_file(self.path("text.tmp"), b"body\n")
        await self.files.sync_file(self.path("text.tmp"))
        await self.files.publish_file(self.path("text.tmp"), self.path("text"))
        await self.files.sync_dir(self.path(""))

    async def clean_up(self):
        for name in ("text", "text.tmp"):
            if await self.files.exists(self.path(name)):
                await self.files.remove_file(self.path(name))

    @property
    def standing(self):
        return sorted(one.name for one in self.directory.iterdir())


class LeavesTheTarget(Publisher):
    """Thinks that a published file needs no cleaning up."""

    async def clean_up(self):
        if await self.files.exists(self.path("text.tmp")):
            await self.files.remove_file(self.path("text.tmp"))


class WorksInATask(Publisher):
    """Does its file work in a task that outlives its caller, and takes back what a cancelled caller will not see."""

    async def publish(self):
        work = asyncio.ensure_future(super().publish())
        if await self.sees_through(work):
            if not work.exception():
                await self.take_back()
            raise asyncio.CancelledError
        work.result()

    async def sees_through(self, work):
        cancelled = False
        while not work.done():
            try:
                await asyncio.wait([work])
            except asyncio.CancelledError:
                cancelled = True
        return cancelled

    async def take_back(self):
        await self.sees_through(asyncio.ensure_future(self.clean_up()))


class GivesUp(WorksInATask):
    """Takes back in the caller's own task: a second cancellation stops it."""

    async def take_back(self):
        await self.clean_up()


def sweep(store, fault, *, expected="raised", **asked):
    """Sweeps a publish; nothing may be left of one that was hit. Gives what was hit and what the sweep gave."""
    hit_at = []

    async def nothing_is_left(n, hit, outcome):
        assert n == hit.number
        hit_at.append((n, hit.name))
        expect(outcome.kind == expected, f"{outcome.kind} at {hit}")
        expect(not store.standing, f"{store.standing} at {hit}")

    async def run():
        return await swept(store.publish, store.faults, fault, nothing_is_left, **asked)

    count = asyncio.run(run())
    assert store.standing == ["text"]
    return count, hit_at


STEPS = list(enumerate(Publisher.STEPS, start=1))


@pytest.mark.parametrize("fault", [Fail("permission_denied"), FailAfter(), Short()], ids=lambda one: type(one).__name__)
def test_every_operation_is_hit_once_and_the_last_call_is_whole(tmp_path, fault):
    assert sweep(Publisher(tmp_path), fault) == (5, STEPS)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("store", [Publisher, WorksInATask])
def test_every_operation_is_cancelled_once(tmp_path, store, when):
    assert sweep(store(tmp_path), Cancel(when), expected="cancelled") == (5, STEPS)


def test_a_store_that_leaves_something_is_seen(tmp_path):
    with pytest.raises(ClauseBroken, match=r"\['text'\] at file operation 5, sync_dir"):
        sweep(LeavesTheTarget(tmp_path), Fail())


@pytest.mark.parametrize("later", [1, 2, 3])
def test_a_second_cancellation_during_the_cleanup(tmp_path, later):
    assert sweep(WorksInATask(tmp_path), Cancel(), expected="cancelled", again_after=later) == (5, STEPS)


def test_a_cleanup_that_a_second_cancellation_stops_is_seen(tmp_path):
    assert sweep(GivesUp(tmp_path), Cancel(), expected="cancelled") == (5, STEPS)
    (tmp_path / "text").unlink()
    with pytest.raises(ClauseBroken, match=r"\['text'\] at file operation 1, write_file"):
        sweep(GivesUp(tmp_path), Cancel(), expected="cancelled", again_after=5)


def test_a_sweep_of_named_operations(tmp_path):
    assert sweep(Publisher(tmp_path), Fail(), names=CHANGES) == (2, STEPS[:2])
    (tmp_path / "text").unlink()
    assert sweep(Publisher(tmp_path), Fail(), paths="*/text") == (1, [(1, "publish_file")])
    (tmp_path / "text").unlink()
    assert sweep(Publisher(tmp_path), Fail(), names={"truncate_file"}) == (0, [])


def test_a_full_disk_stays_full_for_the_check(tmp_path):
    store = Publisher(tmp_path)
    log = []

    async def check(n, hit, outcome):
        log.append(hit.name)
        with pytest.raises(FileError, match="no space"):
            await store.files.write_file(store.path("other"), b"x")
        store.faults.room()
        await store.files.write_file(store.path("other"), b"x")
        await store.files.remove_file(store.path("other"))

    assert asyncio.run(swept(store.publish, store.faults, NoSpace(), check)) == 3
    assert log == ["write_file", "append_file", "publish_file"]


def test_room_is_made_before_the_next_call(tmp_path):
    assert sweep(Publisher(tmp_path), NoSpace())[0] == 3


@pytest.mark.parametrize("fault", [Fail(), Cancel(), NoSpace()], ids=lambda one: type(one).__name__)
def test_nothing_is_armed_after_a_check_that_broke(tmp_path, fault):
    store = Publisher(tmp_path)

    async def breaks(n, hit, outcome):
        raise ClauseBroken("as it happens")

    async def run():
        with pytest.raises(ClauseBroken, match="as it happens"):
            await swept(store.publish, store.faults, fault, breaks, again_after=1)
        await store.publish()

    asyncio.run(run())
    assert store.standing == ["text"]


def test_the_error_of_the_untouched_call_is_raised(tmp_path):
    store = Publisher(tmp_path)

    async def looks_for_nothing():
        await store.files.exists(store.path(""))
        await store.files.read_all(store.path("nothing"))

    async def check(n, hit, outcome):
        assert (outcome.kind, outcome.error) == ("raised", hit.error)

    with pytest.raises(FileError, match="not found") as raised:
        asyncio.run(swept(looks_for_nothing, store.faults, Fail("invalid"), check))
    assert raised.value.path == store.path("nothing")


def test_a_call_without_end_breaks_the_clause(tmp_path):
    store = Publisher(tmp_path)

    async def tries_for_ever():
        while True:
            try:
                await store.files.exists(store.path(""))
            except FileError:
                return
            await asyncio.sleep(0)

    async def check(n, hit, outcome):
        assert outcome.value is None

    with pytest.raises(ClauseBroken, match="a file operation after 7 others"):
        asyncio.run(swept(tries_for_ever, store.faults, Fail(), check, limit=7))


def test_a_misspelt_operation_is_no_quiet_sweep(tmp_path):
    store = Publisher(tmp_path)
    assert "append" not in OPERATIONS
    with pytest.raises(ValueError, match="no file operation is called append"):
        sweep(store, Fail(), names={"append"})
