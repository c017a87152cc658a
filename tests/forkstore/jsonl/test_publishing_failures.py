"""Publications that fail: no trace is left, and no failure hides another (spec sections 20 and 24)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest

from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkstore.contract.errors import StoreIOError
from forkstore.jsonl.files import LocalFiles
from forkstore.jsonl.publishing import Publication
from tests.forkstore.gated import settle
from tests.forkstore.jsonl.publications import FILES, failed, published, replaced
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio
FAULTS: dict[str, Fault] = {
    "fails": Fail("permission_denied"),
    "fails-late": FailAfter("unknown"),
    "short": Short(0.5),
    "no-space": NoSpace(),
    "cancelled": Cancel("before"),
    "cancelled-late": Cancel("after"),
}


class SlowFiles(LocalFiles):
    """Files whose every change suspends, as those of a remote disk do."""

    async def make_dir(self, path: str) -> None:
        await super().make_dir(path)
        await asyncio.sleep(0)

    async def write_file(self, path: str, data: bytes) -> None:
        await super().write_file(path, data)
        await asyncio.sleep(0)

    async def publish_file(self, path: str, target: str) -> None:
        await super().publish_file(path, target)
        await asyncio.sleep(0)

    async def remove_file(self, path: str) -> None:
        await asyncio.sleep(0)
        await super().remove_file(path)

    async def remove_dir(self, path: str) -> None:
        await asyncio.sleep(0)
        await super().remove_dir(path)


def judged(tmp_path: Path, *right: Mapping[str, bytes | None]) -> Callable[[int, Hit, Stepped], Awaitable[None]]:
    """The tree is one of the right ones; what was raised is a failure with its cause, or the cancellation as it is."""

    async def check(n: int, hit: Hit, outcome: Stepped) -> None:
        assert tree(tmp_path) in right, str(hit)
        assert outcome.kind in ("raised", "cancelled"), str(hit)
        if outcome.kind == "raised":
            assert isinstance(outcome.error, StoreIOError), str(hit)
            assert outcome.error.__cause__ is hit.error, str(hit)
            assert (outcome.error.operation, outcome.error.path) == (hit.name, hit.path), str(hit)

    return check


STEPS = {"write_file", "append_file", "sync_file", "file_info", "publish_file", "rename_file", "sync_dir"}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_new_file_that_fails_anywhere_leaves_no_trace(fault: str, tmp_path: Path) -> None:
    faults = FileFaults()

    async def publish_it() -> None:
        await published(tmp_path / "a.jsonl", b"one\n", b"two\n", files=faults.wrap(FILES))

    names = STEPS - {"sync_file", "file_info", "sync_dir"} if fault == "no-space" else STEPS
    hits = await swept(publish_it, faults, FAULTS[fault], judged(tmp_path, {}), names=names)
    assert hits == (3 if fault == "no-space" else 6)
    assert tree(tmp_path) == {"a.jsonl": b"one\ntwo\n"}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_directory_that_fails_to_be_made_leaves_no_trace(fault: str, tmp_path: Path) -> None:
    faults = FileFaults()

    async def publish_it() -> None:
        await published(tmp_path / "root" / "a.jsonl", b"one\n", files=faults.wrap(FILES))

    assert await swept(publish_it, faults, FAULTS[fault], judged(tmp_path, {}), names={"make_dir"}) == 1
    assert tree(tmp_path) == {"root": None, "root/a.jsonl": b"one\n"}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_replacement_that_fails_before_it_is_renamed_leaves_the_old_file(fault: str, tmp_path: Path) -> None:
    faults, old = FileFaults(), {"a.jsonl": b"old\n"}
    (tmp_path / "a.jsonl").write_bytes(b"old\n")

    async def replace() -> None:
        await replaced(tmp_path / "a.jsonl", b"one\n", b"two\n", files=faults.wrap(FILES))

    names = {"write_file", "append_file", "sync_file", "file_info"}
    await swept(replace, faults, FAULTS[fault], judged(tmp_path, old), names=names)
    assert tree(tmp_path) == {"a.jsonl": b"one\ntwo\n"}


async def test_a_renaming_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    faults = FileFaults()
    (tmp_path / "a.jsonl").write_bytes(b"old\n")
    faults.arm(Fail("permission_denied"), names={"rename_file"})
    with pytest.raises(StoreIOError) as failure:
        await replaced(tmp_path / "a.jsonl", b"new\n", files=faults.wrap(FILES))
    assert failure.value.operation == "rename_file"
    assert tree(tmp_path) == {"a.jsonl": b"old\n"}


@pytest.mark.parametrize("name", ["rename_file", "sync_dir"])
async def test_once_a_file_has_been_renamed_the_replacement_has_succeeded(name: str, tmp_path: Path) -> None:
    faults = FileFaults()
    (tmp_path / "a.jsonl").write_bytes(b"old\n")
    faults.arm(FailAfter("unknown"), names={name})
    info = await replaced(tmp_path / "a.jsonl", b"new\n", files=faults.wrap(FILES))
    assert faults.hit is not None
    assert info == await FILES.file_info(str(tmp_path / "a.jsonl"))
    assert tree(tmp_path) == {"a.jsonl": b"new\n"}


@pytest.mark.parametrize("again_after", [None, 1, 2, 3, 5])
async def test_a_cancellation_anywhere_leaves_no_trace_even_when_the_clean_up_is_cancelled(
    again_after: int | None, tmp_path: Path
) -> None:
    async def publish_and_open() -> None:
        async with Publication(SlowFiles(), str(tmp_path / "root" / "--srv--" / "a.jsonl")) as publication:
            await publication.write(b"one\n")
            await publication.publish("walk-1")
            await settle()

    async def nothing_is_left(k: int, outcome: Stepped) -> None:
        assert outcome.kind == "cancelled"
        assert tree(tmp_path) == {}, k

    suspensions = await cancelled_at_every_suspension(publish_and_open, nothing_is_left, again_after=again_after)
    assert suspensions > 20
    assert tree(tmp_path) == {"root": None, "root/--srv--": None, "root/--srv--/a.jsonl": b"one\n"}


async def test_a_failure_of_the_clean_up_does_not_take_the_place_of_the_first_one(tmp_path: Path) -> None:
    faults = FileFaults()

    def arm(_: Publication) -> None:
        faults.arm(Fail("permission_denied"), names={"remove_file"})

    await failed(tmp_path / "root" / "a.jsonl", arm, files=faults.wrap(FILES))
    assert faults.hit is not None
    assert faults.hit.name == "remove_file"


class LateFiles(LocalFiles):
    """Files whose directories and publications are made later, by calls that nobody can call back."""

    def __init__(self, name: str) -> None:
        self.begun = asyncio.Event()
        self._name = name

    async def make_dir(self, path: str) -> None:
        await self._late("make_dir", super().make_dir(path))

    async def publish_file(self, path: str, target: str) -> None:
        await self._late("publish_file", super().publish_file(path, target))

    async def _late(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        async def later() -> None:
            self.begun.set()
            await settle()
            await work

        await (asyncio.shield(asyncio.ensure_future(later())) if name == self._name else work)


@pytest.mark.parametrize("name", ["make_dir", "publish_file"])
async def test_what_cannot_be_called_back_is_waited_for_and_taken_away(name: str, tmp_path: Path) -> None:
    files = LateFiles(name)
    publishing = asyncio.ensure_future(published(tmp_path / "root" / "a.jsonl", b"one\n", files=files))
    await files.begun.wait()
    publishing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await publishing
    assert tree(tmp_path) == {}
    await settle()
    assert tree(tmp_path) == {}


async def test_a_directory_that_somebody_else_makes_first_stays(tmp_path: Path) -> None:
    class Overtaken(LocalFiles):
        async def make_dir(self, path: str) -> None:
            await super().make_dir(path)
            await super().make_dir(path)

    await failed(tmp_path / "root" / "a.jsonl", files=Overtaken())
    assert tree(tmp_path) == {"root": None}
