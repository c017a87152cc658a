"""The line reader, interrupted: a read that is cancelled, fails or loses its file gives no byte twice and none less."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import Literal

import pytest

from forkstore.contract.files import CHUNK, FileError
from tests.forkstore.gated import settle
from tests.forkstore.held import HeldThreads, at_once, cancelled_while_held
from tests.forkstore.jsonl.lines import CONTENTS, FILES, Line, collect, gives, lines_of, opened
from tests.forkstore.jsonl.page_cache import HAS, PageCache

pytestmark = pytest.mark.asyncio
Moment = Literal["before", "after"]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("name", ["border-1+0", "closed-3+1", "open-2+2", "short-lines-3-1", "empty", "long-lines"])
async def test_a_read_cancelled_at_any_chunk_consumes_nothing(
    here: Path, cold_cache: PageCache, name: str, moment: Moment
) -> None:
    """Before and after the thread has read the chunk; what follows the last chunk is the end."""
    content = CONTENTS[name]
    lines: list[Line] = []
    reader = await opened(here, content)
    for _ in range(-(-len(content) // CHUNK) + 1):
        await cancelled_while_held(collect(reader, lines), moment)
    expected = lines_of(content)
    assert lines == expected[: len(lines)]
    assert await gives(reader, expected[len(lines) :])
    await reader.close()


async def test_a_read_cancelled_between_chunks_that_the_page_cache_has_consumes_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PageCache(monkeypatch, HAS["every-other-chunk"])
    content = CONTENTS["long-between-short"]
    lines: list[Line] = []
    reader = await opened(here, content)
    for _ in range(10):
        await cancelled_while_held(collect(reader, lines), "after")
    assert lines == [(b"a", True)]
    assert await gives(reader, lines_of(content)[1:])
    await reader.close()


async def test_a_closed_reader_refuses_and_closes_again(here: Path) -> None:
    reader = await opened(here, b"a\nb\n")
    await reader.read_line()
    for _ in range(2):
        at_once(reader.close())
        with pytest.raises(FileError) as refusal:
            at_once(reader.read_line())
        assert (refusal.value.code, refusal.value.path) == ("invalid", str(here / "lines"))


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_reader_closed_under_a_read_gives_no_bytes_of_another_file(
    here: Path, monkeypatch: pytest.MonkeyPatch, moment: Moment
) -> None:
    """The next file to be opened takes the number of the closed descriptor."""
    PageCache(monkeypatch, lambda offset: CHUNK if offset else 0)
    reader = await opened(here, b"a" * CHUNK)
    (here / "other").write_bytes(b"x" * CHUNK + b"other\n")
    with HeldThreads(moment) as threads:
        task = asyncio.create_task(reader.read_line())
        await threads.until_held(task)
        await reader.close()
        other = await FILES.open_line_reader(str(here / "other"))
        threads.let_go()
        with pytest.raises(FileError) as refusal:
            await task
        assert refusal.value.code == "invalid"
        assert await gives(other, [(b"x" * CHUNK + b"other", True)])
        await other.close()


async def test_a_read_whose_chunk_came_before_the_close_gives_its_line_and_no_further(
    here: Path, cold_cache: PageCache
) -> None:
    reader = await opened(here, b"a\nb\n")
    with HeldThreads("after") as threads:
        task = asyncio.create_task(reader.read_line())
        await threads.until_held(task)
        await reader.close()
        await settle()
        threads.let_go()
        assert await task == (b"a", True)
    with pytest.raises(FileError):
        await reader.read_line()


async def test_a_read_that_fails_consumes_nothing(here: Path) -> None:
    reader = await FILES.open_line_reader("/proc/self/mem")
    for _ in range(2):
        with pytest.raises(FileError) as refusal:
            await reader.read_line()
        assert (refusal.value.code, refusal.value.path) == ("unknown", "/proc/self/mem")
    await reader.close()


async def test_a_read_that_fails_in_the_middle_goes_on_where_it_stood(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PageCache(monkeypatch, HAS["every-other-chunk"])
    pread = os.pread
    failures = [OSError(errno.EIO, os.strerror(errno.EIO))] * 3

    def fail(descriptor: int, size: int, offset: int) -> bytes:
        if offset and failures:
            raise failures.pop()
        return pread(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", fail)
    reader = await opened(here, CONTENTS["long-lines"])
    lines: list[Line] = []
    for _ in range(3):
        with pytest.raises(FileError) as refusal:
            await collect(reader, lines)
        assert refusal.value.code == "unknown"
    await collect(reader, lines)
    assert lines == lines_of(CONTENTS["long-lines"])
    await reader.close()
