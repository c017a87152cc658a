"""Opening a session file: header, replay, and the repair of a torn tail (spec sections 22, 23 and 26).

The file is read line by line (S-FORK-STR-11). Nothing is written before the whole file has been understood
(S-JSONL-TAIL-03), and a file that changes while it is read is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from forkstore.contract.errors import SessionFileChanged, SessionNotFound
from forkstore.contract.files import FileInfo, Files
from forkstore.contract.ids import IdGenerator
from forkstore.contract.store import SessionMetadata
from forkstore.settling import settled
from forkstore.state import SessionState, TextRecord

from .catalog import metadata_of
from .failing import look_again
from .headers import MARK, Header, LegacyHeader, expect_identity, read_header
from .hold import Hold
from .legacy import DerivedWrite, LegacyIndex
from .publishing import BATCH_BYTES, Publication
from .replay import Replay
from .scanning import LineScan
from .upgrade import LegacyForm


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
    holds = [Hold(files)]
    try:
        async with LineScan(files, path, SessionNotFound(session_id, path)) as scan:
            await holds[0].take(scan.info)
            header = read_header(await scan.first_line(), path)
            expect_identity(header, session_id, cwd, path)
            if isinstance(header, LegacyHeader):
                opened = await _legacy(files, scan, header, id_generator, holds)
            else:
                opened = await _format_4(files, scan, header, holds)
        await settled(_let_go(holds[:-1]))
    except BaseException:
        await settled(_let_go(holds))
        raise
    return opened


async def _let_go(holds: list[Hold]) -> None:
    for hold in holds:
        await hold.let_go()


async def check_identity(files: Files, path: str, session_id: str, cwd: str) -> None:
    """Reads the header alone. Raises SessionNotFound, ForeignSession, UnsupportedVersion, CorruptSession and
    StoreIOError.
    """
    async with LineScan(files, path, SessionNotFound(session_id, path)) as scan:
        expect_identity(read_header(await scan.first_line(), path), session_id, cwd, path)


async def _format_4(files: Files, scan: LineScan, header: Header, holds: list[Hold]) -> OpenedFile:
    """Adds the hold on the repaired file, if it had to be repaired; the last one is the session's."""
    replay = Replay(scan.info.path, header.next_seq)
    async for line in scan:
        replay.take(line, scan.number)
    info = await _unchanged(files, scan)
    metadata = await metadata_of(files, header, info)
    if scan.torn:
        info, hold = await _repaired(files, scan)
        holds.append(hold)
        metadata = replace(metadata, modified_at=info.modified_at)
    return OpenedFile(metadata, replay.finished(), info, None, holds[-1])


async def _legacy(
    files: Files, scan: LineScan, header: LegacyHeader, id_generator: IdGenerator, holds: list[Hold]
) -> OpenedFile:
    index = LegacyIndex(scan.info.path, id_generator)
    async for line in scan:
        index.take(line, scan.number)
    index.finish()
    info = await _unchanged(files, scan)
    metadata = await metadata_of(files, header, info)
    state = SessionState()
    derived = await _normalize(files, scan, index, state)
    legacy = LegacyForm(metadata, info, derived, index.usage, id_generator)
    return OpenedFile(metadata, state, info, legacy, holds[-1])


async def _unchanged(files: Files, scan: LineScan) -> FileInfo:
    """The file after it was read. Raises SessionFileChanged when it is not what it was before, or not what was read."""
    info = await look_again(files, scan.info.path)
    in_full = scan.torn or info.size == scan.size
    if info.identity != scan.info.identity or info.size != scan.info.size or not in_full:
        raise SessionFileChanged(info.path, "it was written or replaced while it was opened")
    return info


async def _normalize(
    files: Files, first: LineScan, index: LegacyIndex, state: SessionState
) -> list[tuple[DerivedWrite, bytes | None]]:
    """Fills the state of a legacy session from a second reading, and gives the derived writes (spec section 26.2)."""
    texts = index.texts()
    async with _second_scan(files, first) as second:
        await second.first_line()
        async for line in second:
            entry = texts.take(line, second.number)
            if entry is not None:
                state.add_entry(entry)
    _expect_same(first, second)
    derived = texts.derived()
    for write, text in derived:
        if text is None:
            state.discard("value", write.namespace, write.key)
        else:
            state.put("value", write.namespace, write.key, TextRecord(write.seq, text))
    state.message_count, state.next_seq = index.message_count, index.next_seq
    return derived


async def _repaired(files: Files, first: LineScan) -> tuple[FileInfo, Hold]:
    """Puts the complete lines, without a byte-order mark, in the place of the file (S-JSONL-TAIL-02)."""
    async with Publication(files, first.info.path) as publication:
        batch = bytearray()
        async with _second_scan(files, first) as second:
            async for line in second:
                batch += (line.removeprefix(MARK) if second.number == 1 else line) + b"\n"
                if len(batch) >= BATCH_BYTES:
                    await publication.write(bytes(batch))
                    batch.clear()
        _expect_same(first, second)
        await publication.write(bytes(batch))
        return await publication.replace(first.info)


def _second_scan(files: Files, first: LineScan) -> LineScan:
    path = first.info.path
    return LineScan(files, path, SessionFileChanged(path, "it is gone"), end=first.size, identity=first.info.identity)


def _expect_same(first: LineScan, second: LineScan) -> None:
    if second.checksum != first.checksum:
        raise SessionFileChanged(first.info.path, "it was rewritten while it was opened")
