"""The file capability on the files of this machine: what each call does (spec section 2.5)."""

from __future__ import annotations

import asyncio
import os
import resource
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from forkstore.contract.files import CHUNK, FileError, FileInfo, Files
from forkstore.jsonl.files import INLINE_BYTES, LocalFiles
from tests.forkstore.held import at_once, cancelled_while_held

FILES: Files = LocalFiles()
LARGE = b"x" * (INLINE_BYTES + 1)


class ShortWrites:
    """`os.write` that takes at most `most` bytes a call. Tells the sizes it was asked for, and in which threads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int | None = None) -> None:
        self.sizes: list[int] = []
        self.threads: set[int] = set()
        self._write, self._most = os.write, most
        monkeypatch.setattr(os, "write", self)

    def __call__(self, descriptor: int, data: bytes) -> int:
        self.sizes.append(len(data))
        self.threads.add(threading.get_ident())
        return self._write(descriptor, data[: self._most])


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file of this process can grow beyond `size` bytes: a full disk for one process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# ── paths ──


@pytest.mark.parametrize("path", ["a/./b/../c/", "../x", "/a//b/", "/", "."])
def test_an_absolute_path_is_plain_and_follows_no_link(path: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here)
    (here / "a").symlink_to("folder")
    expected = {
        "a/./b/../c/": f"{here}/a/c",
        "../x": f"{here.parent}/x",
        "/a//b/": "/a/b",
        "/": "/",
        ".": str(here),
    }
    assert FILES.absolute_path(path) == expected[path]


def test_a_real_path_follows_links_as_far_as_it_exists(here: Path) -> None:
    (here / "a").symlink_to("folder")
    real = FILES.real_path(str(here))
    assert FILES.real_path(f"{here}/a/inner") == f"{real}/folder/inner"
    assert FILES.real_path(f"{here}/a/missing/x") == f"{real}/folder/missing/x"


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
def test_a_path_no_file_can_have_has_no_real_path(path: str) -> None:
    with pytest.raises(FileError) as refusal:
        FILES.real_path(path)
    assert (refusal.value.code, refusal.value.path) == ("invalid", path)


def test_a_relative_path_in_a_directory_that_is_gone_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(FileError) as refusal:
        FILES.absolute_path("x")
    assert refusal.value.code == "not_found"


def test_a_name_is_joined_to_its_directory() -> None:
    assert FILES.join_path("/a/b", "c") == "/a/b/c"
    assert FILES.join_path("/a/b/", "c") == "/a/b/c"


# ── what stands where ──


@pytest.mark.parametrize(
    ("name", "stands"),
    [("file", True), ("folder", True), ("link", True), ("missing", False), ("file/x", False), ("missing/x", False)],
)
def test_exists_tells_whether_something_stands_there(here: Path, name: str, stands: bool) -> None:
    assert at_once(FILES.exists(str(here / name))) is stands


@pytest.mark.parametrize(
    ("name", "kind"), [("file", "file"), ("folder", "directory"), ("link", "symlink"), ("pipe", "other")]
)
def test_file_info_tells_what_stands_there(here: Path, name: str, kind: str) -> None:
    path = here / name
    os.utime(path, ns=(0, 1_700_000_000_123_999_999), follow_symlinks=False)
    status = path.lstat()
    identity = (status.st_dev, status.st_ino)
    info = at_once(FILES.file_info(str(path)))
    assert info == FileInfo(name, str(path), info.kind, status.st_size, 1_700_000_000_123, identity)
    assert info.kind == kind


def test_the_name_of_a_directory_does_not_depend_on_a_separator_at_the_end(here: Path) -> None:
    assert at_once(FILES.file_info(f"{here}/folder/")).name == "folder"


def test_identity_stays_with_the_file_and_not_with_its_name(here: Path) -> None:
    def identity(name: str) -> object:
        return at_once(FILES.file_info(str(here / name))).identity

    before = identity("file")
    (here / "file").rename(here / "moved")
    (here / "file").write_bytes(b"old data")
    assert identity("moved") == before != identity("file")
    os.link(here / "moved", here / "second name")
    assert identity("second name") == before


@pytest.mark.asyncio
async def test_a_directory_is_listed_by_name_and_code_point(here: Path) -> None:
    names = ["Z", "a", "ä", "\uffff", "\U0001f600", "b\nc", os.fsdecode(b"\xff")]
    for name in names:
        (here / "folder" / name).write_bytes(b"12")
    listed = await FILES.list_dir(str(here / "folder"))
    assert [info.name for info in listed] == sorted([*names, "inner"])
    assert listed == [at_once(FILES.file_info(info.path)) for info in listed]
    assert [info.kind for info in await FILES.list_dir(str(here))] == ["file", "directory", "symlink", "other"]


@pytest.mark.asyncio
async def test_what_vanishes_while_a_directory_is_listed_is_left_out(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def scan_and_lose(path: str) -> Any:
        with scan(path) as entries:
            found = list(entries)
        (here / "link").unlink()
        return nullcontext(found)

    monkeypatch.setattr(os, "scandir", scan_and_lose)
    assert [info.name for info in await FILES.list_dir(str(here))] == ["file", "folder", "pipe"]


# ── directories ──


def test_a_directory_is_made_and_removed(here: Path) -> None:
    at_once(FILES.make_dir(str(here / "new")))
    assert (here / "new").is_dir()
    at_once(FILES.remove_dir(str(here / "new")))
    assert not (here / "new").exists()


# ── reading ──


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
async def test_a_file_is_read_whole_or_from_its_start(here: Path, size: int) -> None:
    path, data = here / "file", os.urandom(size)
    path.write_bytes(data)
    assert await FILES.read_all(str(path)) == data
    for limit in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, size, 10**12):
        assert await FILES.read_bytes(str(path), limit) == data[:limit]


def test_a_small_read_does_not_suspend(here: Path) -> None:
    assert at_once(FILES.read_bytes(str(here / "file"), CHUNK)) == b"old data"


# ── writing ──


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [0, 5, INLINE_BYTES, INLINE_BYTES + 1])
async def test_a_file_is_made_replaced_and_added_to(here: Path, size: int) -> None:
    data = os.urandom(size)
    for name in ("file", "new"):
        await FILES.write_file(str(here / name), data)
        assert (here / name).read_bytes() == data
        await FILES.append_file(str(here / name), data[::-1])
        assert (here / name).read_bytes() == data + data[::-1]
    await FILES.append_file(str(here / "made"), data)
    assert (here / "made").read_bytes() == data


@pytest.mark.parametrize("call", [FILES.write_file, FILES.append_file])
def test_a_new_file_has_the_mode_that_the_process_asks_for(here: Path, call: Callable[..., Awaitable[None]]) -> None:
    mask = os.umask(0o027)
    try:
        at_once(call(str(here / "new"), b"x"))
    finally:
        os.umask(mask)
    assert (here / "new").stat().st_mode & 0o777 == 0o640


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [1, INLINE_BYTES, INLINE_BYTES + 1, 5_000_000])
async def test_an_append_is_one_write_in_a_thread_only_when_it_is_long(
    here: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    writes = ShortWrites(monkeypatch)
    await FILES.append_file(str(here / "file"), b"x" * size)
    assert writes.sizes == [size]
    assert (writes.threads == {threading.get_ident()}) == (size <= INLINE_BYTES)


def test_a_short_write_is_continued(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes = ShortWrites(monkeypatch, most=3)
    at_once(FILES.append_file(str(here / "file"), b" and new"))
    assert (here / "file").read_bytes() == b"old data and new"
    assert writes.sizes == [8, 5, 2]


def test_an_append_that_fails_in_the_middle_is_an_error_and_leaves_its_part(here: Path) -> None:
    path = str(here / "file")
    with file_size_limit(11), pytest.raises(FileError) as refusal:
        at_once(FILES.append_file(path, b"123456"))
    assert (refusal.value.code, refusal.value.path) == ("no_space", path)
    assert (here / "file").read_bytes() == b"old data123"
    at_once(FILES.append_file(path, b"4"))
    assert (here / "file").read_bytes() == b"old data1234"


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [0, 3, 8])
async def test_a_file_is_cut(here: Path, size: int) -> None:
    await FILES.truncate_file(str(here / "file"), size)
    assert (here / "file").read_bytes() == b"old data"[:size]


# ── the disk ──


@pytest.mark.asyncio
async def test_files_and_directories_are_synced(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    await FILES.sync_file(str(here / "file"))
    await FILES.sync_dir(str(here / "folder"))
    assert synced == [(here / "file").stat().st_ino, (here / "folder").stat().st_ino]


# ── cancellation ──

# What the file holds after the call.
IN_A_THREAD: dict[str, tuple[Callable[[str], Awaitable[object]], bytes]] = {
    "read_bytes": (lambda path: FILES.read_bytes(path, CHUNK + 1), b"old data"),
    "read_all": (FILES.read_all, b"old data"),
    "write_file": (lambda path: FILES.write_file(path, LARGE), LARGE),
    "append_file": (lambda path: FILES.append_file(path, LARGE), b"old data" + LARGE),
    "truncate_file": (lambda path: FILES.truncate_file(path, 3), b"old"),
    "sync_file": (FILES.sync_file, b"old data"),
    "sync_dir": (lambda path: FILES.sync_dir(os.path.dirname(path)), b"old data"),  # noqa: PTH120 - paths are `str`
    "list_dir": (lambda path: FILES.list_dir(os.path.dirname(path)), b"old data"),  # noqa: PTH120
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", IN_A_THREAD)
async def test_a_call_that_is_cancelled_in_a_thread_ends_after_its_work(here: Path, name: str) -> None:
    call, content = IN_A_THREAD[name]
    await cancelled_while_held(call(str(here / "file")), "before")
    assert (here / "file").read_bytes() == content


@pytest.mark.asyncio
async def test_calls_run_side_by_side(here: Path) -> None:
    names = [str(here / f"new-{number}") for number in range(20)]
    await asyncio.gather(*(FILES.write_file(name, LARGE) for name in names))
    assert all(data == LARGE for data in await asyncio.gather(*map(FILES.read_all, names)))
