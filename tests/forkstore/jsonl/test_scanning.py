"""One reading of a session file: which bytes it gives, what it notices, and that it lets go of the file."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from zlib import crc32

import pytest

from forkproof.instruments.fault_kinds import Cancel, Fail, Hit
from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.file_spy import FileSpy
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkstore.contract.errors import CorruptSession, SessionFileChanged, SessionNotFound, StoreIOError
from forkstore.contract.files import CHUNK, FileError, Files, LineReader
from forkstore.jsonl.files import LocalFiles
from forkstore.jsonl.scanning import LineScan
from tests.forkstore.gated import settle
from tests.forkstore.jsonl.page_cache import PageCache

pytestmark = pytest.mark.asyncio
FILES: Files = LocalFiles()
MISSING = SessionNotFound("walk-1", "nowhere")
Read = list[tuple[int, bytes]]


async def read(scan: LineScan) -> Read:
    """The lines with their numbers."""
    async with scan:
        return [(scan.number, line) async for line in scan]


class Walk:
    """A file to scan: three lines and a torn tail, at first."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "walk.jsonl"
        self.path = str(self._file)
        self.write(b"head\none\n\ntorn")

    def write(self, content: bytes) -> None:
        self._file.write_bytes(content)

    def replace(self) -> None:
        """Puts an equal file in its place."""
        other = self._file.with_name("other")
        other.write_bytes(self._file.read_bytes())
        other.rename(self._file)


@pytest.fixture
def walk(tmp_path: Path) -> Walk:
    return Walk(tmp_path)


# ── what is read ──


async def test_a_scan_gives_the_complete_lines_with_their_numbers(walk: Walk) -> None:
    scan = LineScan(FILES, walk.path, MISSING)
    assert await read(scan) == [(1, b"head"), (2, b"one"), (3, b"")]
    assert (scan.size, scan.torn) == (10, True)
    assert scan.checksum == crc32(b"head\none\n\n")
    assert scan.info == await FILES.file_info(walk.path)


@pytest.mark.parametrize("content", [b"", b"head\n", b"head\n\n", b"\n"])
async def test_a_file_that_ends_with_a_line_is_not_torn(content: bytes, walk: Walk) -> None:
    walk.write(content)
    scan = LineScan(FILES, walk.path, MISSING)
    assert [line for _, line in await read(scan)] == content.split(b"\n")[:-1]
    assert (scan.size, scan.torn, scan.checksum) == (len(content), False, crc32(content))


async def test_lines_are_part_of_the_checksum(walk: Walk) -> None:
    checksums = set()
    for content in (b"ab\nc\n", b"a\nbc\n", b"abc\n\n"):
        walk.write(content)
        scan = LineScan(FILES, walk.path, MISSING)
        await read(scan)
        checksums.add(scan.checksum)
    assert len(checksums) == 3


async def test_a_scan_ends_at_its_boundary_whatever_stands_behind_it(walk: Walk) -> None:
    for behind in (b"", b"more\n", b"torn", b"\xff\x00", b"x" * (3 * CHUNK)):
        walk.write(b"head\none\n" + behind)
        scan = LineScan(FILES, walk.path, MISSING, end=9)
        assert await read(scan) == [(1, b"head"), (2, b"one")]
        assert (scan.size, scan.torn) == (9, False)


async def test_a_scan_reads_nothing_behind_its_boundary_but_the_chunk_it_lies_in(walk: Walk) -> None:
    walk.write(b"head\none\n" + b"more\n" * CHUNK)
    spy = FileSpy()
    await read(LineScan(spy.wrap(FILES), walk.path, MISSING, end=9))
    assert spy.bytes_given(walk.path) <= CHUNK
    assert spy.lines_read(walk.path) == [1, 1]


async def test_the_first_line_can_be_read_by_itself(walk: Walk) -> None:
    async with LineScan(FILES, walk.path, MISSING) as scan:
        assert await scan.first_line() == b"head"
        assert [line async for line in scan] == [b"one", b""]


@pytest.mark.parametrize("content", [b"", b"head", b'{"v":4}'])
async def test_a_file_without_a_complete_line_is_corrupt_in_line_1(content: bytes, walk: Walk) -> None:
    walk.write(content)
    with pytest.raises(CorruptSession) as refusal:
        async with LineScan(FILES, walk.path, MISSING) as scan:
            await scan.first_line()
    assert (refusal.value.path, refusal.value.line) == (walk.path, 1)


# ── what is noticed ──


@pytest.mark.parametrize("left", [b"head\non", b"head\n", b""])
async def test_a_file_that_is_shorter_than_the_boundary_has_changed(left: bytes, walk: Walk) -> None:
    walk.write(left)
    with pytest.raises(SessionFileChanged):
        await read(LineScan(FILES, walk.path, MISSING, end=9))


@pytest.mark.parametrize("changed", [b"head\none two\n", b"head\n\n\n\nx\n", b"one line and no end at nine\n"])
async def test_a_line_across_the_boundary_is_a_change(changed: bytes, walk: Walk) -> None:
    walk.write(changed)
    with pytest.raises(SessionFileChanged):
        await read(LineScan(FILES, walk.path, MISSING, end=9))


async def test_a_missing_file_is_what_the_caller_says(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for gone in ("gone", "gone/deep", "file/deep"):
        missing = SessionNotFound("walk-1", gone)
        with pytest.raises(SessionNotFound) as refusal:
            await read(LineScan(FILES, str(tmp_path / gone), missing))
        assert refusal.value is missing
        assert isinstance(refusal.value.__cause__, FileError)


async def test_what_is_no_file_is_missing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(SessionNotFound):
            await read(LineScan(FILES, str(path), MISSING))


async def test_another_file_in_its_place_is_noticed(walk: Walk) -> None:
    identity = (await FILES.file_info(walk.path)).identity
    walk.replace()
    with pytest.raises(SessionFileChanged):
        await read(LineScan(FILES, walk.path, MISSING, identity=identity))


async def test_a_file_that_is_replaced_while_it_is_opened_is_noticed(walk: Walk) -> None:
    class Replacing(LocalFiles):
        async def open_line_reader(self, path: str) -> LineReader:
            walk.replace()
            return await super().open_line_reader(path)

    with pytest.raises(SessionFileChanged):
        await read(LineScan(Replacing(), walk.path, MISSING))


# ── failures, and letting go ──


@pytest.mark.parametrize("name", ["file_info", "open_line_reader", "read_line", "close"])
async def test_a_failing_call_is_a_failure_of_the_store_and_the_file_is_let_go(name: str, walk: Walk) -> None:
    faults, spy = FileFaults(), FileSpy()
    files = faults.wrap(spy.wrap(FILES))

    async def let_go(n: int, hit: Hit, outcome: Stepped) -> None:
        assert isinstance(outcome.error, StoreIOError)
        assert (outcome.error.operation, outcome.error.code) == (name, "unknown")
        assert outcome.error.__cause__ is hit.error
        assert name == "close" or spy.open_readers == []

    assert await swept(lambda: read(LineScan(files, walk.path, MISSING)), faults, Fail(), let_go, names={name}) > 0


async def test_a_failing_close_does_not_take_the_place_of_the_first_failure(walk: Walk) -> None:
    faults = FileFaults()
    faults.arm(Fail(), names={"close"})
    with pytest.raises(SessionFileChanged):
        await read(LineScan(faults.wrap(FILES), walk.path, MISSING, end=12))
    assert faults.hit is not None


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_cancelled_scan_lets_go_of_the_file(when: str, walk: Walk) -> None:
    faults, spy = FileFaults(), FileSpy()
    files = faults.wrap(spy.wrap(FILES))

    async def let_go(n: int, hit: Hit, outcome: Stepped) -> None:
        assert outcome.kind == "cancelled"
        assert spy.open_readers == [], str(hit)

    fault = Cancel("before" if when == "before" else "after")
    assert await swept(lambda: read(LineScan(files, walk.path, MISSING)), faults, fault, let_go) > 5


async def test_a_scan_that_is_cancelled_while_it_opens_lets_go_of_the_file(walk: Walk) -> None:
    """The opening cannot be called back, and ends later."""
    spy, begun = FileSpy(), asyncio.Event()

    class Late(LocalFiles):
        async def open_line_reader(self, path: str) -> LineReader:
            return await asyncio.shield(asyncio.ensure_future(self._open_later(path)))

        async def _open_later(self, path: str) -> LineReader:
            begun.set()
            await settle()
            return await spied.open_line_reader(path)

    spied = spy.wrap(FILES)
    scanning = asyncio.ensure_future(read(LineScan(Late(), walk.path, MISSING)))
    await begun.wait()
    scanning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await scanning
    await settle()
    assert spy.open_readers == []


@pytest.mark.parametrize(
    "lines", [[b"x" * 8192] * 100, [b""] * 2000, [b"x" * 2**20] * 4], ids=["long", "short", "huge"]
)
async def test_other_tasks_get_their_turns(lines: list[bytes], walk: Walk, warm_cache: PageCache) -> None:
    """Also when the page cache has the whole file, and no read suspends."""
    walk.write(b"\n".join([*lines, b""]))
    seen: list[int] = []

    async def look(scan: LineScan) -> None:
        while True:
            seen.append(scan.number)
            await asyncio.sleep(0)

    scan = LineScan(FILES, walk.path, MISSING)
    looking = asyncio.ensure_future(look(scan))
    assert len(await read(scan)) == len(lines)
    looking.cancel()
    assert not warm_cache.threads
    assert len({number for number in seen if 0 < number < len(lines)}) >= 3
