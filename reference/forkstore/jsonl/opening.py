"""Opening a session file: header, replay, and the repair of a torn tail (spec sections 22, 23 and 26).

The file is read line by line (S-FORK-STR-11). Nothing is written before the whole file has been understood
(S-JSONL-TAIL-03), and a file that changes while it is read is refused.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from forkstore.commit_queue import settled
from forkstore.contract.errors import SessionFileChanged, SessionNotFound, StoreIOError
from forkstore.contract.files import FileInfo, Files, LineReader
from forkstore.contract.ids import IdGenerator
from forkstore.contract.store import SessionMetadata
from forkstore.state import SessionState, TextRecord

from .catalog import metadata_of
from .failing import file_failures
from .headers import MARK, Header, expect_identity, read_header
from .legacy import DerivedWrite, LegacyIndex
from .publishing import BATCH_BYTES, Publication
from .replay import Replay
from .scanning import LineScan
from .upgrade import LegacyForm


class Hold:
    """A reader of an open session's file that is not read from.

    While it is open the system cannot give the file's identity to another file, which it likes to do as soon as a file
    is removed; without it a file that was replaced could pass for the same (S-JSONL-FMT-16).
    """

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path
        self._reader: LineReader | None = None

    async def open(self) -> None:
        """Raises StoreIOError."""
        with file_failures("open_line_reader"):
            self._reader = await self._files.open_line_reader(self._path)

    async def close(self) -> None:
        """Lets go of the file. Raises StoreIOError."""
        if self._reader is not None:
            with file_failures("close"):
                await self._reader.close()

    async def let_go(self) -> None:
        """Lets go of the file after a failure, whose place another one does not take (S-FORK-FAIL-07)."""
        with suppress(StoreIOError):
            await self.close()


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A session file that was read in full: its metadata, its data, the file as it stands now, and what is left of its
    legacy form.
    """

    metadata: SessionMetadata
    state: SessionState
    info: FileInfo
    legacy: LegacyForm | None
    hold: Hold


async def open_file(files: Files, path: str, session_id: str, cwd: str, id_generator: IdGenerator) -> OpenedFile:
    """Reads the session in the file at its real path; cuts off a torn tail of format 4 (S-JSONL-TAIL-01, -02).

    Raises SessionNotFound, ForeignSession, UnsupportedVersion, CorruptSession, SessionFileChanged and StoreIOError.
    """
    scan = LineScan(files, path, SessionNotFound(session_id, path))
    async with scan:
        header = read_header(await scan.first_line(), path)
        expect_identity(header, session_id, cwd, path)
        if isinstance(header, Header):
            state, index = await _replayed(scan, header, path), None
        else:
            state, index = SessionState(), await _indexed(scan, path, id_generator)
    info = await _unchanged(files, scan, path)
    metadata = await metadata_of(files, header, info)
    legacy = None
    if index is not None:
        derived = await _normalize(files, scan, index, state, path)
        legacy = LegacyForm(metadata, info, derived, index.usage, id_generator)
    elif scan.torn:
        info = await _repaired(files, scan, path)
        metadata = replace(metadata, modified_at=info.modified_at)
    return OpenedFile(metadata, state, info, legacy, await hold_file(files, info))


async def hold_file(files: Files, info: FileInfo) -> Hold:
    """Keeps hold of this very file. Raises SessionFileChanged and StoreIOError."""
    hold = Hold(files, info.path)
    try:
        await settled(hold.open())
        with file_failures("file_info"):
            found = await files.file_info(info.path)
        expect_same_file(found, info)
    except BaseException:
        await settled(hold.let_go())
        raise
    return hold


def expect_same_file(found: FileInfo, expected: FileInfo) -> None:
    """Raises SessionFileChanged for another file."""
    if found.identity != expected.identity:
        raise SessionFileChanged(expected.path, "another file stands in its place")


async def check_identity(files: Files, path: str, session_id: str, cwd: str) -> None:
    """Reads the header alone. Raises SessionNotFound, ForeignSession, UnsupportedVersion, CorruptSession and
    StoreIOError.
    """
    async with LineScan(files, path, SessionNotFound(session_id, path)) as scan:
        expect_identity(read_header(await scan.first_line(), path), session_id, cwd, path)


async def _replayed(scan: LineScan, header: Header, path: str) -> SessionState:
    replay = Replay(path, header.next_seq)
    async for line in scan:
        replay.take(line, scan.number)
    return replay.finished()


async def _indexed(scan: LineScan, path: str, id_generator: IdGenerator) -> LegacyIndex:
    index = LegacyIndex(path, id_generator)
    async for line in scan:
        index.take(line, scan.number)
    index.finish()
    return index


async def _unchanged(files: Files, scan: LineScan, path: str) -> FileInfo:
    """The file after it was read. Raises SessionFileChanged when it is not what it was before, or not what was read."""
    with file_failures("file_info"):
        info = await files.file_info(path)
    in_full = scan.torn or info.size == scan.size
    if info.identity != scan.info.identity or info.size != scan.info.size or not in_full:
        raise SessionFileChanged(path, "it was written or replaced while it was opened")
    return info


async def _normalize(
    files: Files, first: LineScan, index: LegacyIndex, state: SessionState, path: str
) -> list[tuple[DerivedWrite, bytes | None]]:
    """Fills the state of a legacy session from a second reading, and gives the derived writes (spec section 26.2)."""
    texts = index.texts()
    async with _second_scan(files, first, path) as second:
        await second.first_line()
        async for line in second:
            entry = texts.take(line, second.number)
            if entry is not None:
                state.add_entry(entry)
    _expect_same(first, second, path)
    derived = texts.derived()
    for write, text in derived:
        if text is None:
            state.discard("value", write.namespace, write.key)
        else:
            state.put("value", write.namespace, write.key, TextRecord(write.seq, text))
    state.message_count, state.next_seq = index.message_count, index.next_seq
    return derived


async def _repaired(files: Files, first: LineScan, path: str) -> FileInfo:
    """Puts the complete lines, without a byte-order mark, in the place of the file (S-JSONL-TAIL-02)."""
    async with Publication(files, path) as publication:
        batch = bytearray()
        async with _second_scan(files, first, path) as second:
            async for line in second:
                batch += (line.removeprefix(MARK) if second.number == 1 else line) + b"\n"
                if len(batch) >= BATCH_BYTES:
                    await publication.write(bytes(batch))
                    batch.clear()
        _expect_same(first, second, path)
        await publication.write(bytes(batch))
        return await publication.replace(first.info)


def _second_scan(files: Files, first: LineScan, path: str) -> LineScan:
    gone = SessionFileChanged(path, "it is gone")
    return LineScan(files, path, gone, end=first.size, identity=first.info.identity)


def _expect_same(first: LineScan, second: LineScan, path: str) -> None:
    if second.checksum != first.checksum:
        raise SessionFileChanged(path, "it was rewritten while it was opened")
