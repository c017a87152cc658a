"""Reads whole legacy files through both passes, the way opening, upgrading and forking do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forkstore.contract.codec import decode
from forkstore.contract.errors import CorruptSession
from forkstore.contract.ids import Uuid7Generator
from forkstore.jsonl.format import row_text
from forkstore.jsonl.headers import Header, LegacyHeader, read_header
from forkstore.jsonl.legacy import DerivedWrite, LegacyIndex, LegacyTexts
from forkstore.jsonl.records import DEEPEST_RECORD
from forkstore.state import EntryRecord

PATH = "shed.jsonl"


@dataclass(frozen=True)
class Reading:
    """What both passes gave; `taken` has an entry or None for each record of the file."""

    header: LegacyHeader
    index: LegacyIndex
    taken: list[EntryRecord | None]
    derived: list[tuple[DerivedWrite, bytes | None]]

    @property
    def entries(self) -> list[EntryRecord]:
        return [entry for entry in self.taken if entry is not None]

    def upgraded(self) -> list[bytes]:
        """The texts of all normalized writes."""
        rows = [row_text("value", write.seq, write.namespace, write.key, text) for write, text in self.derived]
        return [*(entry.text for entry in self.entries), *rows]


def read_legacy(contents: bytes) -> Reading:
    """Both passes over the complete lines. Raises CorruptSession and UnsupportedVersion."""
    first, *lines = contents.split(b"\n")[:-1] or [b""]
    header: Header | LegacyHeader = read_header(first, PATH)
    if not isinstance(header, LegacyHeader):
        raise CorruptSession(PATH, 1, "the file is not in legacy form")
    index = indexed(lines)
    texts = index.texts()
    return Reading(header, index, take_all(texts, lines), texts.derived())


def indexed(lines: Sequence[bytes]) -> LegacyIndex:
    """The index of a file with these lines behind its header."""
    index = LegacyIndex(PATH, Uuid7Generator())
    for number, line in enumerate(lines, 2):
        index.take(line, number)
    index.finish()
    return index


def take_all(texts: LegacyTexts, lines: Sequence[bytes]) -> list[EntryRecord | None]:
    """A second pass without its derived values."""
    return [texts.take(line, number) for number, line in enumerate(lines, 2)]


def decoded(text: bytes) -> Any:
    """A record's text as the store reads it."""
    return decode(text, DEEPEST_RECORD)


def shown(value: Any) -> Any:
    """A value whose repr does not depend on the order of members, but on the kind of every number."""
    if isinstance(value, dict):
        return sorted((name, shown(member)) for name, member in value.items())
    return [shown(member) for member in value] if isinstance(value, list | tuple) else value
