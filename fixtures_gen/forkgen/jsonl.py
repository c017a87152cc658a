"""Session files of format 4 from contract writes (spec sections 6.1, 22.1, 22.2).

`lines` gives a session line by line: the header, then one line per transaction. `write_session` publishes it under its
final name. Both stream: no more than one transaction is held.

Sequences and times are a rule, not a state of the machine. The first write has sequence `next_seq` (1 if absent), every
further write one more. Transaction i, counted from 0, has the timestamp `created_at + (i + 1) * step`: one second apart
unless asked otherwise; step 0 is a clock that stands still at `created_at`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from forkstore.contract.codec import DEEPEST_WRITTEN, encode
from forkstore.contract.errors import InvalidValue
from forkstore.contract.records import NewEntry, NewUsageRow, Record
from forkstore.contract.writes import LAST_SEQUENCE, AddressWrite, EntryInsert, PreparedWrite, Write, prepare

from .publishing import publish

STEP: Final = 1000
"""Milliseconds from one transaction to the next, unless asked otherwise."""

_MESSAGE_ENTRY: Final = frozenset({"id", "parentId", "type", "message"})
_Ready = PreparedWrite | bytes
"""A checked write; the text of its entry is enough."""


def write_session(
    path: str | os.PathLike[str],
    transactions: Iterable[Sequence[Write]],
    *,
    id: str,
    cwd: str,
    created_at: int,
    parent_session_id: str | None = None,
    next_seq: int | None = None,
    step: int = STEP,
) -> None:
    """Writes a whole session file; it appears under `path` when it is complete, replacing what was there.

    Raises what `lines` raises and OSError; then nothing has appeared.
    """
    session = lines(
        transactions,
        id=id,
        cwd=cwd,
        created_at=created_at,
        parent_session_id=parent_session_id,
        next_seq=next_seq,
        step=step,
    )
    publish(path, session)


def lines(
    transactions: Iterable[Sequence[Write]],
    *,
    id: str,
    cwd: str,
    created_at: int,
    parent_session_id: str | None = None,
    next_seq: int | None = None,
    step: int = STEP,
) -> Iterator[bytes]:
    """The lines of a session file, each with its LF: the header, then every transaction that holds a write.

    An empty transaction gives no line and takes no sequence, but it takes its turn of the clock. Ids and parents are
    not looked up, because that would need memory for each of them. Raises InvalidValue for a write that no commit
    would take by itself, and above the last sequence.

    >>> from forkstore.contract.addresses import branch_tip
    >>> from forkstore.contract.writes import ValueSet
    >>> for line in lines([[ValueSet(branch_tip("main"), None)]], id="walk-1", cwd="/srv/garden", created_at=7):
    ...     print(line.decode(), end="")
    {"v":4,"kind":"header","id":"walk-1","storageVersion":1,"createdAt":7,"cwd":"/srv/garden"}
    {"kind":"value","op":"set","seq":1,"namespace":"pi.branch.tip","key":"main","value":null}
    """
    header: Record = {"v": 4, "kind": "header", "id": id, "storageVersion": 1, "createdAt": created_at, "cwd": cwd}
    if parent_session_id is not None:
        header["parentSessionId"] = parent_session_id
    if next_seq is not None:
        header["nextSeq"] = next_seq
    yield encode(header, "header") + b"\n"
    seq, timestamp = next_seq or 1, created_at
    for transaction in transactions:
        timestamp += step
        writes = _ready(transaction)
        if seq + len(writes) - 1 > LAST_SEQUENCE:
            raise InvalidValue("writes", f"need a sequence above 2^53−1; the next one is {seq}")
        if writes:
            yield _line(writes, seq, timestamp)
            seq += len(writes)


def _ready(transaction: Sequence[Write]) -> list[_Ready]:
    """The writes, checked as a commit checks them. Raises InvalidValue."""
    if not isinstance(transaction, list | tuple):
        return [*prepare(transaction)]
    try:
        return [
            encode(write.entry, "entry", DEEPEST_WRITTEN + 1) if _is_message_entry(write) else prepare([write])[0]
            for write in transaction
        ]
    except InvalidValue:
        prepare(transaction)  # raises the same, with the place of the write among the others
        raise


def _is_message_entry(write: Write) -> bool:
    """Whether this inserts a message without any field of its own.

    Large sessions hold little else. Once its structural fields are seen to be right, only the codec has a say in it,
    which saves half of what a full check costs.
    """
    if type(write) is not EntryInsert:
        return False
    entry = write.entry
    if type(entry) is not dict or entry.keys() != _MESSAGE_ENTRY or entry["type"] != "message":
        return False
    parent_id = entry["parentId"]
    return type(entry["id"]) is str and (parent_id is None or type(parent_id) is str)


def _line(writes: list[_Ready], seq: int, timestamp: int) -> bytes:
    if len(writes) == 1:
        return _record(writes[0], seq, timestamp) + b"\n"
    return b"[%b]\n" % b",".join([_record(write, number, timestamp) for number, write in enumerate(writes, seq)])


def _record(write: _Ready, seq: int, timestamp: int) -> bytes:
    """The text of a stored record. The caller's fields keep their order: their text goes in as it is, brackets off."""
    if isinstance(write, bytes):
        return b'{"kind":"entry",%b,"seq":%d,"timestamp":%d}' % (write[1:-1], seq, timestamp)
    if isinstance(write, NewEntry):
        return _record(write.text, seq, timestamp)
    if isinstance(write, NewUsageRow):
        return b'{"kind":"usage",%b,"seq":%d}' % (write.text[1:-1], seq)
    return _address_record(write, seq)


def _address_record(write: AddressWrite, seq: int) -> bytes:
    address = write.address
    namespace, key = encode(address.namespace, "namespace"), encode(address.key, "key")
    if write.text is None:
        return b'{"kind":"%b","op":"delete","seq":%d,"namespace":%b,"key":%b}' % (
            address.kind.encode(), seq, namespace, key,
        )  # fmt: skip
    op = b"set" if address.kind == "value" else b"append"
    return b'{"kind":"%b","op":"%b","seq":%d,"namespace":%b,"key":%b,"value":%b}' % (
        address.kind.encode(), op, seq, namespace, key, write.text,
    )  # fmt: skip
