"""The second pass over a legacy file: the retained records as records of format 4 (spec section 26.2)."""

from __future__ import annotations

from forkstore.contract.errors import SessionFileChanged
from forkstore.contract.records import NewEntry, Record
from forkstore.jsonl.format import entry_text
from forkstore.jsonl.records import LineFault
from forkstore.state import EntryRecord

from .derived import Derivation, DerivedTexts, DerivedWrite
from .records import LegacyRecord, read_record
from .tails import RetainedTails
from .tree import LegacyEntry, RecordTree
from .writing import field_texts, json_text

_FIRST_RECORD = 2
"""The number of the line behind the header."""


class LegacyTexts:
    """Gives the texts that the index has none of, after `take` for each line that the index has taken.

    Raises SessionFileChanged for lines that are not those of the first pass, as far as it notices (S-V3-27); whoever
    reads them compares their bytes.
    """

    def __init__(self, path: str, tree: RecordTree, derivation: Derivation) -> None:
        self._path = path
        self._tree = tree
        self._tails = RetainedTails(tree)
        self._derived = DerivedTexts(derivation)
        self._last_number = _FIRST_RECORD - 1

    def take(self, line: bytes, number: int) -> EntryRecord | None:
        """The entry that the next line becomes, its text the whole record of format 4; None if it is discarded.

        `line` is without its LF; `number` is 1-based and counts the header.
        """
        self._last_number = number
        position = number - _FIRST_RECORD
        record = self._read(line, position)
        entry = self._tree.entry(position)
        if entry is None:
            self._derived.take(position, record)
            return None
        payload = self._payload(position, record)
        self._tails.hold(position, record, payload)
        return _entry_record(entry, record, payload)

    def derived(self) -> list[tuple[DerivedWrite, bytes | None]]:
        """Every derived write with the JSON text of its value, None for a delete; all lines have been taken."""
        if self._last_number != len(self._tree) + _FIRST_RECORD - 1:
            raise SessionFileChanged(self._path, "it has fewer records than before")
        return self._derived.rows()

    def _read(self, line: bytes, position: int) -> LegacyRecord:
        if position >= len(self._tree):
            raise SessionFileChanged(self._path, "it has more records than before")
        try:
            record = read_record(line)
        except LineFault as fault:
            raise SessionFileChanged(self._path, f"line {position + _FIRST_RECORD} was good before: {fault}") from fault
        if record.kind != self._tree.kinds[position]:
            raise SessionFileChanged(self._path, f"line {position + _FIRST_RECORD} holds another record than before")
        return record

    def _payload(self, position: int, record: LegacyRecord) -> dict[str, bytes]:
        """The texts of the payload fields, in the order of section 3.1."""
        fields = record.fields
        match record.kind:
            case "message":
                return field_texts(fields, "message")
            case "custom_message":
                return {"message": json_text(_custom_message(record))}
            case "custom":
                return field_texts(fields, "customType", "data")
            case "branch_summary":
                origin = self._tree.mapping(self._tree.references[position])
                own = field_texts(fields, "summary") | {"fromId": json_text(origin)}
            case _:
                tail = {"retainedTail": self._tails.tail(position)}
                own = field_texts(fields, "summary") | tail | field_texts(fields, "tokensBefore")
        return own | {"fromHook": b"false"} | field_texts(fields, "fromHook", "details", "usage")


def _custom_message(record: LegacyRecord) -> Record:
    fields = record.fields
    said: Record = {name: fields[name] for name in ("customType", "content", "details", "display") if name in fields}
    return {"role": "custom", **said, "timestamp": record.timestamp}


def _entry_record(entry: LegacyEntry, record: LegacyRecord, payload: dict[str, bytes]) -> EntryRecord:
    custom_type = record.fields["customType"] if entry.type == "custom" else None
    structure = b'"id":%b,"parentId":%b,"type":"%b"' % (
        json_text(entry.id),
        json_text(entry.parent_id),
        entry.type.encode(),
    )
    members = b"".join(b',"%b":%b' % (name.encode(), text) for name, text in payload.items())
    new_entry = NewEntry(entry.id, entry.parent_id, entry.type, custom_type, b"{%b%b}" % (structure, members))
    text = entry_text(new_entry, entry.seq, entry.timestamp)
    return EntryRecord(entry.id, entry.parent_id, entry.seq, entry.type, custom_type, entry.timestamp, text)
