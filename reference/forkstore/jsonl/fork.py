"""The fork of a session file: two scans of the source, and a destination that is written as it streams (section 25).

The first scan learns the structure and holds no payload; the selection is made from it, before anything is written. The
second scan copies the records that were selected, as the text that they are. Both read the same bytes, or the fork
fails: their checksums say so (S-FORK-ORD-08). The destination keeps the sequences of its source (S-FORK-DST-10).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from forkstore.contract.errors import SessionFileChanged, SessionNotFound
from forkstore.contract.files import Files
from forkstore.contract.forks import ForkOptions
from forkstore.contract.ids import IdGenerator
from forkstore.contract.writes import LAST_SEQUENCE
from forkstore.options import Probe

from .batches import Batches
from .format import Text
from .format4_source import Format4Source
from .headers import Header, LegacyHeader, expect_identity, read_header
from .legacy_source import LegacySource
from .publishing import Publication
from .scanning import LineScan
from .storage import Boundary


@dataclass(frozen=True, slots=True)
class ForkSource:
    """The source of a fork: the real path of its file, and the id and working directory that must stand in there.

    `boundary` is that of an open source. A closed one ends at its last LF when the first scan gets there (19.1).
    """

    path: str
    id: str
    cwd: str
    boundary: Boundary | None


class Source(Protocol):
    """A source in one of its two forms, as the first scan learns it: `take` every line after the header, `finish`."""

    @property
    def next_seq(self) -> int:
        """The sequence that follows all that was taken."""
        ...

    def take(self, line: bytes, number: int) -> None:
        """The next line, without its LF; `number` is 1-based and counts the header. Raises CorruptSession."""
        ...

    def finish(self) -> None:
        """There are no more lines. Raises CorruptSession."""
        ...

    def select(self) -> Copies:
        """What the fork copies. Raises what the selection and the classifier raise."""
        ...


class Copies(Protocol):
    """The records of the destination, as the second scan comes upon them. Raises SessionFileChanged."""

    def of_line(self, line: bytes, number: int) -> tuple[list[Text], int]:
        """Those that come of the next line, and how many bytes they have at most, a LF for each included."""
        ...

    def after_lines(self) -> Iterable[bytes]:
        """Those that come when there are no more lines."""
        ...


async def copy_fork(
    files: Files,
    source: ForkSource,
    options: ForkOptions,
    publication: Publication,
    *,
    session_id: str,
    created_at: int,
    id_generator: IdGenerator,
    probe: Probe,
) -> Header:
    """Writes the destination of a fork, to the point where it can be published; gives its header.

    Raises SessionNotFound, ForeignSession, UnsupportedVersion, CorruptSession, LegacyEntryId, UnknownBranch,
    DataOnlyBranch, EntryNotOnBranch, UndeclaredNamespace, SessionFileChanged, StoreIOError and what the probe raises.
    Keeps S-FORK-STR-01, S-FORK-STR-02, S-FORK-ORD-10 to S-FORK-ORD-12, S-JSONL-FORK-01 to S-JSONL-FORK-09.
    """
    if source.boundary is not None:
        await probe.boundary_captured()
    async with _first_scan(files, source) as scan:
        learned = await _learn(scan, source, options, id_generator)
    if source.boundary is None:
        await probe.boundary_captured()
    elif learned.next_seq != source.boundary.next_seq:
        raise SessionFileChanged(source.path, "it does not hold the transactions that it held at the boundary")
    copies = learned.select()
    header = Header(
        id=session_id,
        created_at=created_at,
        cwd=source.cwd,
        parent_session_id=source.id,
        next_seq=min(learned.next_seq, LAST_SEQUENCE),
    )
    await publication.write(header.line())
    await _copy(files, source.path, scan, copies, Batches(publication, probe))
    await probe.before_publish()
    return header


def _first_scan(files: Files, source: ForkSource) -> LineScan:
    missing = SessionNotFound(source.id, source.path)
    if source.boundary is None:
        return LineScan(files, source.path, missing)
    return LineScan(files, source.path, missing, end=source.boundary.size, identity=source.boundary.identity)


async def _learn(scan: LineScan, source: ForkSource, options: ForkOptions, id_generator: IdGenerator) -> Source:
    """The first scan, with every check that opening makes."""
    header = read_header(await scan.first_line(), source.path)
    expect_identity(header, source.id, source.cwd, source.path)
    learned = _unlearned(header, source, options, id_generator)
    async for line in scan:
        learned.take(line, scan.number)
    learned.finish()
    return learned


def _unlearned(
    header: Header | LegacyHeader, source: ForkSource, options: ForkOptions, id_generator: IdGenerator
) -> Source:
    if isinstance(header, Header):
        boundary = None if source.boundary is None else source.boundary.next_seq
        return Format4Source(source.path, header, options, boundary)
    if source.boundary is not None:
        raise SessionFileChanged(source.path, "it is in legacy form, and was not at the boundary")
    return LegacySource(source.path, source.id, options, id_generator)


async def _copy(files: Files, path: str, first: LineScan, copies: Copies, batches: Batches) -> None:
    """The second scan, of the bytes of the first one.

    They may stand in another file by now: to open a closed source whose tail is torn puts one in its place (S-OWN-15).
    """
    async with LineScan(files, path, SessionFileChanged(path, "it is gone"), end=first.size) as scan:
        await scan.first_line()
        async for line in scan:
            records, size = copies.of_line(line, scan.number)
            if records:
                await batches.add(records, size)
        if scan.checksum != first.checksum:
            raise SessionFileChanged(path, "it holds other bytes than before")
        for record in copies.after_lines():
            await batches.add([record], len(record) + 1)
    await batches.flush()
