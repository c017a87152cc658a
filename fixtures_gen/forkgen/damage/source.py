"""The good file: where its bytes come from, and the few places in it that the variants work on.

Nothing grows with the file: bytes are read again for each variant, and the survey keeps one place per question.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forkstore.contract.codec import UndecodableText, decode
from forkstore.contract.records import Record

from .variant import split_lines

Source = str | os.PathLike[str] | bytes | Iterable[bytes]
"""A path, the bytes themselves, or chunks of them. Chunks that can be read only once are kept in a temporary file."""

_CHUNK_BYTES = 64 * 1024
_LAST_SEQUENCE_WITH_ROOM = 2**53 - 2000


class NotAGoodFile(ValueError):
    """What was given is no whole session file of format 4; damage needs a file that opens."""


def reader(source: Source) -> Callable[[], Iterator[bytes]]:
    """A function that gives the lines of the source, from the start on each call. Raises OSError."""
    if isinstance(source, bytes):
        return lambda: split_lines([source])
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return lambda: split_lines(_chunks_of_path(path))
    if isinstance(source, Iterator):
        return _Spool(source)
    return lambda: split_lines(source)


def _chunks_of_path(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


class _Spool:
    """A stream that can be read only once, kept in a nameless file for as long as a variant may read it again."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the last variant is gone
        self._file.writelines(chunks)
        self._file.flush()

    def __call__(self) -> Iterator[bytes]:
        return split_lines(self._chunks())

    def _chunks(self) -> Iterator[bytes]:
        offset = 0
        while chunk := os.pread(self._file.fileno(), _CHUNK_BYTES, offset):
            yield chunk
            offset += len(chunk)

    def __del__(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class Site:
    """A record of the good file: its line, its place in the line's array (None where the line is the record), and what
    other records may refer to. The record itself may be large and is read again where it is needed.
    """

    line: int
    index: int | None
    seq: int
    id: str


@dataclass
class Survey:
    """What one reading of a good file found."""

    lines: Callable[[], Iterator[bytes]]
    header: Record = field(default_factory=dict)
    line_count: int = 0
    size: int = 0
    last_line_size: int = 0
    last_seq: int = 0
    last_seq_before: int = 0
    sites: dict[str, Site] = field(default_factory=dict)
    """The first record of each kind: `entry`, `custom`, `child` (an entry with a parent), `usage`, `set`, `append`,
    `late` (the first entry of the last line that has one)."""

    @property
    def next_seq(self) -> int:
        """The sequence that the next commit on the good file takes (S-JSONL-FMT-12)."""
        return max(self.last_seq + 1, self._least_seq)

    @property
    def next_seq_before(self) -> int:
        """The same for the file without its last line."""
        return max(self.last_seq_before + 1, self._least_seq)

    @property
    def _least_seq(self) -> int:
        least: int = self.header.get("nextSeq", 1)
        return least

    @property
    def end(self) -> int:
        """The number of the line that would follow the last one."""
        return self.line_count + 1


def survey(source: Source) -> Survey:
    """Reads the good file once. Raises NotAGoodFile and OSError."""
    found = Survey(reader(source))
    for line in found.lines():
        found.line_count += 1
        found.size += len(line)
        found.last_line_size = len(line)
        records = _records(line, found.line_count)
        if found.line_count == 1:
            found.header = _header(records)
            continue
        found.last_seq_before = found.last_seq
        for index, record in records:
            _note(found, index, record)
    if not found.line_count:
        raise NotAGoodFile("the file is empty")
    if found.next_seq > _LAST_SEQUENCE_WITH_ROOM:
        raise NotAGoodFile("there is no room for further sequences")
    return found


def _records(line: bytes, number: int) -> list[tuple[int | None, Record]]:
    try:
        value: Any = decode(line)
    except UndecodableText as error:
        raise NotAGoodFile(f"line {number} is not JSON") from error
    if not line.endswith(b"\n"):
        raise NotAGoodFile(f"line {number} does not end with LF")
    if isinstance(value, dict):
        return [(None, value)]
    if not isinstance(value, list) or not all(isinstance(record, dict) for record in value):
        raise NotAGoodFile(f"line {number} is neither an object nor an array of objects")
    return list(enumerate(value))


def _header(records: list[tuple[int | None, Record]]) -> Record:
    match records:
        case [(None, {"v": 4, "id": str(), "createdAt": int(), "cwd": str()} as header)]:
            return header
    raise NotAGoodFile("line 1 is no header of format 4")


def _note(found: Survey, index: int | None, record: Record) -> None:
    line, seq = found.line_count, record.get("seq")
    if type(seq) is not int or seq <= found.last_seq:
        raise NotAGoodFile(f"line {line} has a sequence that is none or does not rise")
    if not _is_whole(record):
        raise NotAGoodFile(f"line {line} holds a record that lacks a field")
    found.last_seq = seq
    site = Site(line, index, seq, record.get("id", ""))
    for question in _questions(record):
        found.sites.setdefault(question, site)
    late = found.sites.get("late")
    if record["kind"] == "entry" and (late is None or late.line < line):
        found.sites["late"] = site


def _is_whole(record: Record) -> bool:
    """Whether the fields are there that variants work on; whether the file opens is not ours to prove."""
    match record:
        case {"kind": "entry", "id": str(), "parentId": _, "type": str()}:
            return True
        case {"kind": "usage", "id": str(), "usage": {"cost": dict()}}:
            return True
        case {"kind": "value" | "list", "op": str(), "namespace": str(), "key": str()}:
            return True
    return False


def _questions(record: Record) -> Iterator[str]:
    match record:
        case {"kind": "entry", "type": "custom"}:
            yield "custom"
        case {"kind": "entry"}:
            yield "entry"
        case {"kind": "usage"}:
            yield "usage"
        case {"kind": "value" | "list", "op": op}:
            yield op if op != "delete" else f"delete {record['kind']}"
    if record.get("kind") == "entry" and record.get("parentId") is not None:
        yield "child"
