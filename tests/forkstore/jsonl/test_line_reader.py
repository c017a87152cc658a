"""The line reader: every byte once and in order, a chunk at a time, whoever holds the chunk (spec section 2.5)."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from forkstore.contract.files import CHUNK
from tests.forkstore.held import HeldThreads, at_once
from tests.forkstore.jsonl.lines import CONTENTS, FILES, gives, lines_of, opened
from tests.forkstore.jsonl.page_cache import HAS, PageCache

pytestmark = pytest.mark.asyncio


def descriptor_of(path: Path) -> dict[str, str]:
    """What the system knows about the only descriptor of the file, such as its `flags`."""
    [number] = [entry.name for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink() and entry.samefile(path)]
    return dict(line.split(":\t") for line in Path("/proc/self/fdinfo", number).read_text().splitlines())


@pytest.mark.parametrize("has", HAS)
@pytest.mark.parametrize("name", CONTENTS)
async def test_a_file_is_given_line_by_line(here: Path, monkeypatch: pytest.MonkeyPatch, name: str, has: str) -> None:
    cache = PageCache(monkeypatch, HAS[has])
    reader = await opened(here, CONTENTS[name])
    assert await gives(reader, lines_of(CONTENTS[name]))
    assert [await reader.read_line() for _ in range(3)] == [None] * 3
    assert cache.given == len(CONTENTS[name])
    await reader.close()


@pytest.mark.parametrize("name", ["long-lines", "short-lines-2+1"])
async def test_a_file_is_given_line_by_line_by_the_page_cache_of_this_machine(here: Path, name: str) -> None:
    reader = await opened(here, CONTENTS[name])
    assert await gives(reader, lines_of(CONTENTS[name]))
    await reader.close()


async def test_the_file_is_opened_for_reading_only(here: Path) -> None:
    reader = await opened(here, b"a\n")
    flags = int(descriptor_of(here / "lines")["flags"], 8)
    assert flags & os.O_ACCMODE == os.O_RDONLY
    await reader.close()


@pytest.mark.parametrize("has", ["everything", "nothing", "every-other-chunk"])
async def test_a_chunk_is_taken_when_the_one_before_is_used_up(
    here: Path, monkeypatch: pytest.MonkeyPatch, has: str
) -> None:
    line = b"a" * 999 + b"\n"
    cache = PageCache(monkeypatch, HAS[has])
    reader = await opened(here, line * 500)
    assert cache.given == 0
    for number in range(1, 501):
        assert await reader.read_line() == (line[:-1], True)
        used = number * len(line)
        assert cache.given == min(-(-used // CHUNK) * CHUNK, 500 * len(line))
    await reader.close()


async def test_what_the_page_cache_has_is_given_at_once(here: Path, warm_cache: PageCache) -> None:
    content = CONTENTS["long-lines"]
    reader = await opened(here, content)
    assert [at_once(reader.read_line()) for _ in lines_of(content)] == lines_of(content)
    assert at_once(reader.read_line()) is None
    assert not warm_cache.threads
    await reader.close()


async def test_what_the_page_cache_does_not_have_is_read_in_a_thread(here: Path, cold_cache: PageCache) -> None:
    content = b"a" * (2 * CHUNK + 5)
    reader = await opened(here, content)
    assert await gives(reader, [(content, False)])
    assert threading.get_ident() not in cold_cache.threads
    assert cold_cache.asked == [0, CHUNK, 2 * CHUNK, len(content)]
    await reader.close()


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.ENOSYS])
async def test_a_system_that_cannot_tell_what_it_has_is_asked_once(
    here: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    asked: list[int] = []

    def refuse(descriptor: int, buffers: object, offset: int, flags: int) -> int:
        asked.append(offset)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "preadv", refuse)
    reader = await opened(here, CONTENTS["long-lines"])
    assert await gives(reader, lines_of(CONTENTS["long-lines"]))
    assert asked == [0]
    await reader.close()


async def test_a_line_in_the_chunk_is_given_at_once(here: Path, cold_cache: PageCache) -> None:
    reader = await opened(here, b"a\nb\n")
    assert await reader.read_line() == (b"a", True)
    assert at_once(reader.read_line()) == (b"b", True)
    await reader.close()


@pytest.mark.parametrize("has", HAS)
async def test_no_more_than_a_few_chunks_are_held(here: Path, monkeypatch: pytest.MonkeyPatch, has: str) -> None:
    """Short lines are the worst: a chunk of them, held as objects, is many times as large."""
    PageCache(monkeypatch, HAS[has])
    reader = await opened(here, b"ab\n" * (4 * CHUNK))
    await reader.read_line()
    tracemalloc.start()
    try:
        while await reader.read_line() is not None:
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * CHUNK
    await reader.close()


async def test_two_readers_of_one_file_are_independent(here: Path) -> None:
    content = CONTENTS["long-lines"]
    first = await opened(here, content)
    second = await FILES.open_line_reader(str(here / "lines"))
    assert all(await asyncio.gather(*(gives(reader, lines_of(content)) for reader in (first, second))))
    await first.close()
    await second.close()


async def test_what_is_appended_while_lines_are_left_is_given(here: Path, warm_cache: PageCache) -> None:
    reader = await opened(here, b"a\n")
    assert await reader.read_line() == (b"a", True)
    with (here / "lines").open("ab") as file:
        file.write(b"b\n")
    assert await gives(reader, [(b"b", True)])
    await reader.close()


async def test_what_is_appended_before_the_end_was_seen_is_given(here: Path, cold_cache: PageCache) -> None:
    reader = await opened(here, b"a" * CHUNK)
    task = asyncio.create_task(reader.read_line())
    with HeldThreads("before") as threads:
        await threads.until_held(task)
        with (here / "lines").open("ab") as file:
            file.write(b"b\n")
        threads.let_go()
        assert await task == (b"a" * CHUNK + b"b", True)
    await reader.close()


async def test_an_open_reader_keeps_the_file_it_opened(here: Path) -> None:
    reader = await opened(here, b"old\n")
    before = (await FILES.file_info(str(here / "lines"))).identity
    (here / "lines").unlink()
    (here / "lines").write_bytes(b"new\n")
    assert (await FILES.file_info(str(here / "lines"))).identity != before
    assert await gives(reader, [(b"old", True)])
    await reader.close()
