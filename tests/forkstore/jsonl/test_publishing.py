"""The atomic publisher: a file appears when it is complete, or not at all (spec section 24)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forkproof.instruments.fault_kinds import Fail
from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.file_spy import FileSpy
from forkstore.contract.errors import SessionExists, SessionFileChanged, StoreIOError
from forkstore.contract.files import FileError
from forkstore.jsonl.files import LocalFiles
from forkstore.jsonl.publishing import Publication
from tests.forkstore.jsonl.publications import FILES, failed, publish, published, replace_and_let_go, replaced
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio


# ── a new session ──


async def test_a_new_file_holds_all_that_was_written_and_nothing_stands_beside_it(tmp_path: Path) -> None:
    await published(tmp_path / "a.jsonl", b"one\n", b"two\n", b"three\n")
    assert tree(tmp_path) == {"a.jsonl": b"one\ntwo\nthree\n"}


async def test_missing_directories_are_made_on_the_way(tmp_path: Path) -> None:
    await published(tmp_path / "root" / "--srv--" / "a.jsonl", b"one\n")
    assert tree(tmp_path) == {"root": None, "root/--srv--": None, "root/--srv--/a.jsonl": b"one\n"}


async def test_until_it_is_published_only_a_temporary_file_beside_the_destination_exists(tmp_path: Path) -> None:
    async with Publication(FILES, str(tmp_path / "a.jsonl")) as publication:
        assert tree(tmp_path) == {}
        await publication.write(b"one\n")
        await publication.write(b"two\n")
        ((name, content),) = tree(tmp_path).items()
        assert re.fullmatch(r"a\.jsonl\.[0-9a-f]{16}\.tmp", name)
        assert content == b"one\ntwo\n"
        await publication.publish("walk-1")
        assert tree(tmp_path) == {"a.jsonl": b"one\ntwo\n"}


async def test_a_new_session_never_replaces_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"theirs\n")
    with pytest.raises(SessionExists) as refusal:
        await published(tmp_path / "a.jsonl", b"ours\n")
    assert refusal.value.session_id == "walk-1"
    assert isinstance(refusal.value.__cause__, FileError)
    assert tree(tmp_path) == {"a.jsonl": b"theirs\n"}


async def test_the_file_is_synced_before_it_appears_and_its_directory_after(tmp_path: Path) -> None:
    spy = FileSpy()
    await published(tmp_path / "a.jsonl", b"one\n", b"two\n", files=spy.wrap(FILES))
    calls = ["write_file", "append_file", "sync_file", "publish_file", "sync_dir"]
    assert spy.sequence(*calls, "rename_file") == calls
    assert [call.name for call in spy.changes(tmp_path / "a.jsonl")] == ["publish_file"]


async def test_what_cannot_be_synced_is_published_all_the_same(tmp_path: Path) -> None:
    faults = FileFaults()
    for name in ("sync_file", "sync_dir"):
        faults.arm(Fail("not_supported"), names={name})
        await published(tmp_path / name, b"one\n", files=faults.wrap(FILES))
        assert faults.hit is not None
    assert tree(tmp_path) == {"sync_file": b"one\n", "sync_dir": b"one\n"}


async def test_a_published_file_goes_when_its_block_fails(tmp_path: Path) -> None:
    await failed(tmp_path / "root" / "a.jsonl", publish)
    assert tree(tmp_path) == {}


async def test_directories_stay_that_others_use_or_have_made(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    theirs = tmp_path / "root" / "used" / "theirs"
    await failed(tmp_path / "root" / "used" / "deep" / "a.jsonl", lambda _: theirs.touch())
    await failed(tmp_path / "root" / "a.jsonl")
    assert tree(tmp_path) == {"root": None, "root/used": None, "root/used/theirs": b""}


async def test_a_file_that_others_have_put_in_its_place_stays(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"theirs\n")
    await failed(tmp_path / "a.jsonl", publish, lambda publication: theirs.rename(publication.path))
    assert tree(tmp_path) == {"a.jsonl": b"theirs\n"}


async def test_a_directory_that_another_call_takes_away_is_made_again(tmp_path: Path) -> None:
    class TakenAway(LocalFiles):
        times = 0

        async def make_dir(self, path: str) -> None:
            await super().make_dir(path)
            self.times += 1
            if self.times == 1:
                await self.remove_dir(path)

    files = TakenAway()
    await published(tmp_path / "root" / "a.jsonl", b"one\n", files=files)
    assert tree(tmp_path) == {"root": None, "root/a.jsonl": b"one\n"}
    assert files.times == 2


async def test_a_directory_that_always_vanishes_is_a_failure(tmp_path: Path) -> None:
    class Vanishing(LocalFiles):
        async def make_dir(self, path: str) -> None:
            """Makes nothing."""

    with pytest.raises(StoreIOError) as failure:
        await published(tmp_path / "root" / "a.jsonl", b"one\n", files=Vanishing())
    assert (failure.value.operation, failure.value.code) == ("write_file", "not_found")


async def test_a_file_in_the_place_of_a_directory_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "root").write_bytes(b"theirs")
    with pytest.raises(StoreIOError) as failure:
        await published(tmp_path / "root" / "deep" / "a.jsonl", b"one\n")
    assert failure.value.code == "not_directory"
    assert tree(tmp_path) == {"root": b"theirs"}


# ── in the place of another file ──


async def test_a_replacement_shows_the_old_bytes_until_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"old\n")
    old = await FILES.file_info(str(path))
    async with Publication(FILES, str(path)) as publication:
        await publication.write(b"new\n")
        await publication.write(b"newer\n")
        assert path.read_bytes() == b"old\n"
        info = await replace_and_let_go(publication, old)
    assert tree(tmp_path) == {"a.jsonl": b"new\nnewer\n"}
    assert info == await FILES.file_info(str(path))


async def test_a_replacement_stays_when_its_block_fails_later(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"old\n")
    old = await FILES.file_info(str(tmp_path / "a.jsonl"))
    await failed(tmp_path / "a.jsonl", lambda publication: replace_and_let_go(publication, old))
    assert tree(tmp_path) == {"a.jsonl": b"one\n"}


async def test_a_replacement_is_synced_before_it_is_renamed_and_its_directory_after(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"old\n")
    spy = FileSpy()
    await replaced(tmp_path / "a.jsonl", b"new\n", files=spy.wrap(FILES))
    calls = ["write_file", "sync_file", "rename_file", "sync_dir"]
    assert spy.sequence(*calls, "publish_file") == calls
    assert [call.name for call in spy.changes(tmp_path / "a.jsonl")] == ["rename_file"]


async def test_nothing_is_replaced_but_the_file_that_was_there(tmp_path: Path) -> None:
    path, other = tmp_path / "root" / "a.jsonl", tmp_path / "other"
    path.parent.mkdir()
    path.write_bytes(b"old\n")
    old = await FILES.file_info(str(path))
    path.write_bytes(b"old\nmore\n")
    with pytest.raises(SessionFileChanged):
        await replaced(path, b"new\n", expected=old)
    other.write_bytes(b"old\n")
    other.rename(path)
    with pytest.raises(SessionFileChanged):
        await replaced(path, b"new\n", expected=old)
    assert tree(tmp_path) == {"root": None, "root/a.jsonl": b"old\n"}


async def test_nothing_is_replaced_that_is_not_there_any_more(tmp_path: Path) -> None:
    path = tmp_path / "root" / "a.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"old\n")
    old = await FILES.file_info(str(path))
    path.unlink()
    with pytest.raises(SessionFileChanged):
        await replaced(path, b"new\n", expected=old)
    path.parent.rmdir()
    with pytest.raises(SessionFileChanged):
        await replaced(path, b"new\n", expected=old)
    assert tree(tmp_path) == {}
