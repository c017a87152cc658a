"""One line of a legacy file: the record in it, checked by itself (spec section 26.1).

What the reader looks at must be of its type. What it only passes on (`data`, `details`, `usage`, `fromHook`, all that a
message holds) is opaque and stays as it is.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from forkstore.contract.codec import UndecodableText, decode
from forkstore.contract.records import ABSENT, Record
from forkstore.contract.text import has_lone_surrogate
from forkstore.jsonl.headers import read_date
from forkstore.jsonl.records import LineFault

DEEPEST_LINE: Final = 200
"""Depth of a line that is read, the record itself counted (S-V3-05)."""
ROOT: Final = "root"
"""The `fromId` of a branch summary that comes from no record."""

_TEXT: Final = (str,)
_FURTHER: Final[dict[str, dict[str, tuple[type, ...]]]] = {
    "message": {"message": (dict,)},
    "custom": {"customType": _TEXT},
    "custom_message": {"customType": _TEXT, "content": (str, list), "display": (bool,)},
    "branch_summary": {"fromId": _TEXT, "summary": _TEXT},
    "compaction": {"summary": _TEXT, "tokensBefore": (int, float)},
    "model_change": {"provider": _TEXT, "modelId": _TEXT},
    "thinking_level_change": {"thinkingLevel": _TEXT},
    "active_tools_change": {"activeToolNames": (list,)},
    "session_info": {},
    "label": {"targetId": _TEXT},
}
# A compaction without `firstKeptEntryId` is not among them: it is named, and not its line (S-V3-12).
_OPTIONAL_TEXT: Final = {"session_info": "name", "label": "label"}
_TYPE_NAMES: Final = {str: "a string", dict: "an object", list: "an array", bool: "a boolean"}
_NUMBER: Final = (int, float)

KINDS: Final = {kind: kind for kind in _FURTHER}
"""The ten record types; the values are one object each, so that an index holds no copies."""
ENTRY_TYPES: Final = {
    "message": "message",
    "custom_message": "message",
    "custom": "custom",
    "branch_summary": "branch_summary",
    "compaction": "compaction",
}
"""The entry type of each retained kind of record; the other kinds are discarded."""


class LegacyRecord(NamedTuple):
    """A record that is right by itself; `timestamp` is its time in Unix milliseconds, `fields` the whole of it."""

    kind: str
    id: str
    parent_id: str | None
    timestamp: int
    fields: Record


def read_record(line: bytes) -> LegacyRecord:
    """The record of a complete line, without its LF.

    Raises LineFault. Keeps S-V3-05, and S-V3-06 as far as a line can break it alone.
    """
    try:
        fields = decode(line, DEEPEST_LINE)
    except UndecodableText as error:
        raise LineFault(str(error)) from error
    if type(fields) is not dict:
        raise LineFault("a record is not an object")
    kind = fields.get("type")
    if type(kind) is not str or kind not in KINDS:
        raise LineFault(f"type is none of {', '.join(KINDS)}")
    timestamp = read_date(fields.get("timestamp"))
    if timestamp is None:
        raise LineFault("timestamp is missing or not a date with a time and `Z` or an offset")
    record_id, parent_id = fields.get("id"), fields.get("parentId", ABSENT)
    if type(record_id) is not str:
        raise LineFault("id is missing or not a string")
    if parent_id is not None and type(parent_id) is not str:
        raise LineFault("parentId is missing or neither a string nor null")
    _check_further_fields(fields, kind)
    return LegacyRecord(KINDS[kind], record_id, parent_id, timestamp, fields)


def _check_further_fields(fields: Record, kind: str) -> None:
    for name, types in _FURTHER[kind].items():
        if type(fields.get(name, ABSENT)) not in types:
            raise LineFault(f"{name} of a {kind} is missing or not {_named(types)}")
    optional = _OPTIONAL_TEXT.get(kind)
    if optional is not None and type(fields.get(optional, "")) is not str:
        raise LineFault(f"{optional} of a {kind} is not a string")
    # It becomes a structural field of format 4, which may hold none (spec section 22.3).
    if kind == "custom" and has_lone_surrogate(fields["customType"]):
        raise LineFault("customType of a custom holds a lone surrogate")


def _named(types: tuple[type, ...]) -> str:
    return "a number" if types == _NUMBER else " or ".join(_TYPE_NAMES[kind] for kind in types)


def text_of(record: LegacyRecord) -> str:
    """The text of a `session_info` or a `label`; one that is absent is empty."""
    text: str = record.fields.get(_OPTIONAL_TEXT[record.kind], "")
    return text
