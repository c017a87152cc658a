"""The line reader: every byte once and in order, a chunk at a time, whoever interrupts it (spec section 2.5)."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from forkstore.contract.files import CHUNK, FileError, Files, LineReader
from forkstore.jsonl.files import LocalFiles
from tests.forkstore.gated import settle
from tests.forkstore.held import HeldThreads, at_once, cancelled_while_held

pytestmark = pytest.mark.asyncio
FILES: Files = LocalFiles()
Line = tuple[bytes, bool]
Moment = Literal["before", "after"]


def contents() -> Iterator[tuple[str, bytes]]:
    """Named contents with lines that end at, before and behind every border of a chunk."""
    yield "empty", b""
    yield "no-line-ends-but-these", "a\r\nb\rc\x0b\x0c\x1c\x85\u2028\u2029\n\0\n".encode()
    yield "line-end-first", b"\nab"
    for chunks in (1, 2, 3):
        for offset in (-2, -1, 0, 1, 2):
            size = chunks * CHUNK + offset
            yield f"open-{chunks}{offset:+}", b"a" * size
            yield f"closed-{chunks}{offset:+}", b"a" * (size - 1) + b"\n"
            yield f"border-{chunks}{offset:+}", b"a" * (size - 1) + b"\n" + b"b" * 10
            yield f"border-empty-lines-{chunks}{offset:+}", b"a" * (size - 2) + b"\n\n\nb\n"
            yield f"short-lines-{chunks}{offset:+}", (b"ab\n" * size)[:size]
            yield f"empty-lines-{chunks}{offset:+}", b"\n" * size
    yield "long-between-short", b"a\n" + b"b" * (40 * CHUNK + 7) + b"\nc\n" + b"d" * (3 * CHUNK)
    yield "long-lines", b"".join(bytes([97 + n]) * (n * CHUNK // 3) + b"\n" for n in range(12))


CONTENTS = dict(contents())


def lines_of(content: bytes) -> list[Line]:
    *lines, rest = content.split(b"\n")
    return [(line, True) for line in lines] + ([(rest, False)] if rest else [])


async def gives(reader: LineReader, lines: list[Line]) -> bool:
    """Whether the reader gives these lines and no more."""
    for line in lines:
        if await reader.read_line() != line:
            return False
    return await reader.read_line() is None


async def opened(directory: Path, content: bytes) -> LineReader:
    path = directory / "lines"
    path.write_bytes(content)
    return at_once(FILES.open_line_reader(str(path)))


def descriptor_of(path: Path) -> dict[str, str]:
    """What the system knows about the only descriptor of the file: its position `pos` and its `flags`."""
    [number] = [entry.name for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink() and entry.samefile(path)]
    return dict(line.split(":\t") for line in Path("/proc/self/fdinfo", number).read_text().splitlines())


@pytest.mark.parametrize("name", CONTENTS)
async def test_a_file_is_given_line_by_line(here: Path, name: str) -> None:
    reader = await opened(here, CONTENTS[name])
    assert await gives(reader, lines_of(CONTENTS[name]))
    assert [await reader.read_line() for _ in range(3)] == [None] * 3
    await reader.close()


async def test_the_file_is_opened_for_reading_only(here: Path) -> None:
    reader = await opened(here, b"a\n")
    flags = int(descriptor_of(here / "lines")["flags"], 8)
    assert flags & os.O_ACCMODE == os.O_RDONLY
    await reader.close()


async def test_a_chunk_is_taken_when_the_one_before_is_used_up(here: Path) -> None:
    line = b"a" * 999 + b"\n"
    reader = await opened(here, line * 500)
    assert descriptor_of(here / "lines")["pos"] == "0"
    for number in range(1, 501):
        assert await reader.read_line() == (line[:-1], True)
        used = number * len(line)
        assert int(descriptor_of(here / "lines")["pos"]) == min(-(-used // CHUNK) * CHUNK, 500 * len(line))
    await reader.close()


async def test_a_line_in_the_chunk_is_given_at_once(here: Path) -> None:
    reader = await opened(here, b"a\nb\n")
    assert await reader.read_line() == (b"a", True)
    assert at_once(reader.read_line()) == (b"b", True)
    assert at_once(reader.read_line()) is None
    await reader.close()


async def test_no_more_than_a_few_chunks_are_held(here: Path) -> None:
    """Short lines are the worst: a chunk of them, held as objects, is many times as large."""
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


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("name", ["border-1+0", "closed-3+1", "open-2+2", "short-lines-3-1", "empty", "long-lines"])
async def test_a_read_cancelled_at_any_chunk_consumes_nothing(here: Path, name: str, moment: Moment) -> None:
    """Before and after the thread has read the chunk."""
    content = CONTENTS[name]
    lines: list[Line] = []
    reader = await opened(here, content)
    for _ in range(len(content) // CHUNK + 1):
        await cancelled_while_held(collect(reader, lines), moment)
    expected = lines_of(content)
    assert lines == expected[: len(lines)]
    assert await gives(reader, expected[len(lines) :])
    await reader.close()


async def collect(reader: LineReader, lines: list[Line]) -> None:
    while (line := await reader.read_line()) is not None:
        lines.append(line)


async def test_two_readers_of_one_file_are_independent(here: Path) -> None:
    content = CONTENTS["long-lines"]
    first = await opened(here, content)
    second = await FILES.open_line_reader(str(here / "lines"))
    assert all(await asyncio.gather(*(gives(reader, lines_of(content)) for reader in (first, second))))
    await first.close()
    await second.close()


async def test_what_is_appended_before_the_end_was_seen_is_given(here: Path) -> None:
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


async def test_a_closed_reader_refuses_and_closes_again(here: Path) -> None:
    reader = await opened(here, b"a\nb\n")
    await reader.read_line()
    for _ in range(2):
        at_once(reader.close())
        with pytest.raises(FileError) as refusal:
            at_once(reader.read_line())
        assert (refusal.value.code, refusal.value.path) == ("invalid", str(here / "lines"))


async def test_a_reader_closed_under_a_read_gives_no_bytes_of_another_file(here: Path) -> None:
    """The next file to be opened takes the number of the closed descriptor."""
    reader = await opened(here, b"a" * CHUNK)
    (here / "other").write_bytes(b"other\n")
    with HeldThreads("before") as threads:
        task = asyncio.create_task(reader.read_line())
        await threads.until_held(task)
        await reader.close()
        other = await FILES.open_line_reader(str(here / "other"))
        threads.let_go()
        with pytest.raises(FileError) as refusal:
            await task
        assert refusal.value.code == "invalid"
        assert await gives(other, [(b"other", True)])
        await other.close()


async def test_a_read_whose_chunk_came_before_the_close_gives_its_line_and_no_further(here: Path) -> None:
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
