"""Records of legacy v3 files as the cases write them: numbered, one second apart.

Record n has the id `0b10c` and n in three hexadecimal digits, and the time 1760000000000 + 1000 n.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

from forkstore.contract.records import Record

CREATED_AT: Final = 1_760_000_000_000


def id_of(number: int) -> str:
    """The id of record `number`."""
    return f"0b10c{number:03x}"


def time_of(number: int) -> int:
    """The time of record `number` in Unix milliseconds."""
    return CREATED_AT + 1000 * number


def date(milliseconds: int) -> str:
    """A time as v3 writes it.

    >>> date(1760000000123)
    '2025-10-09T08:53:20.123Z'
    """
    seconds, rest = divmod(milliseconds, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03}Z"


def header(**fields: Any) -> Record:
    """A v3 header; fields replace or add."""
    own = {"type": "session", "version": 3, "id": "shed-7", "timestamp": date(CREATED_AT), "cwd": "/srv/garden"}
    return own | fields


def record(number: int, kind: str, parent: int | None, **fields: Any) -> Record:
    """Record `number` with the number of its parent."""
    parent_id = None if parent is None else id_of(parent)
    return {"type": kind, "id": id_of(number), "parentId": parent_id, "timestamp": date(time_of(number)), **fields}


def user(number: int, parent: int | None, text: str = "prune the pear") -> Record:
    """Record `number`: a question."""
    return record(number, "message", parent, message=user_message(number, text))


def user_message(number: int, text: str = "prune the pear") -> Record:
    """The message of `user`."""
    return {"role": "user", "content": text, "timestamp": time_of(number)}


def assistant_message(number: int, usage: Record) -> Record:
    """An answer with its spending."""
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": "pruned — früh"}],
        "api": "messages",
        "provider": "orchard",
        "model": "o-2",
        "usage": usage,
        "stopReason": "stop",
        "timestamp": time_of(number),
    }


def model(number: int, parent: int | None, name: str = "o-2") -> Record:
    """Record `number`: a change of the model."""
    return record(number, "model_change", parent, provider="orchard", modelId=name)


def thinking(number: int, parent: int | None, level: str = "medium") -> Record:
    """Record `number`: a change of the thinking level."""
    return record(number, "thinking_level_change", parent, thinkingLevel=level)


def tools(number: int, parent: int | None, *names: str) -> Record:
    """Record `number`: a change of the active tools."""
    return record(number, "active_tools_change", parent, activeToolNames=list(names))


def label(number: int, parent: int | None, target: int, **fields: str) -> Record:
    """Record `number`: a label; without `label=` it clears."""
    return record(number, "label", parent, targetId=id_of(target), **fields)


def text_of(*records: Record) -> bytes:
    """The lines of the records."""
    return b"".join(
        json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for record in records
    )
