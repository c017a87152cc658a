"""Files for a line reader, and what it must give of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forkstore.contract.files import CHUNK, Files, LineReader
from forkstore.jsonl.files import LocalFiles
from tests.forkstore.held import at_once

FILES: Files = LocalFiles()
Line = tuple[bytes, bool]


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


async def collect(reader: LineReader, lines: list[Line]) -> None:
    while (line := await reader.read_line()) is not None:
        lines.append(line)
