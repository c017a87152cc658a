"""What the upgrade of a legacy v3 file must write, line by line (S-V3-19), as the suites of upgrades judge it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forkproof.expect import ClauseBroken, expect, expect_equal
from forkproof.makers import Subject
from forkproof.makers.file_states import LegacySession
from forkproof.makers.records import message_entry, usage_row
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.legacy_model import LegacyModel
from forkproof.suites.sessions.legacy_judging import normalized_of
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.writes import (
    CommitResult,
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
)

Record = dict[str, Any]

_LAST = {"entry": ["seq", "timestamp"], "usage": ["seq"]}


def writes_under(tip: str | None) -> tuple[Write, ...]:
    """One of each of the six writes, and the tip of `main` moved to the new entry."""
    log = list_address("garden.log")
    return (
        EntryInsert(message_entry("first-of-format-4", tip)),
        ValueSet(branch_tip("main"), "first-of-format-4"),
        UsageInsert(usage_row("spent-after", "first-of-format-4", details={"by": "hand"})),
        ListAppend(log, {"rain": 2.5}),
        ValueDelete(value_address("garden.plan", "row:3")),
        ListDelete(list_address("garden.log", "old")),
    )


async def upgrade(session: LegacySession, subject: Subject, *writes: Write) -> CommitResult:
    """Commits the writes, the first of the session, in one mutation scope. Breaks the clause unless the file then holds
    what S-V3-19 says, in its order. The model learns the import row from the file.
    """
    next_seq = normalized_of(session.case).next_seq
    result = await subject.commit(*writes)
    numbers = list(range(next_seq + 1, next_seq + 1 + len(writes)))
    expect_equal([result.first_seq, result.seqs], [numbers[0], numbers], of="the sequences in the result")
    imported = expect_upgraded_file(session, subject, writes, result)
    model = subject.model
    if not isinstance(model, LegacyModel):
        raise TypeError("the session was not opened as a legacy one")
    model.follow_upgrade([imported])
    return result


def expect_upgraded_file(
    session: LegacySession, subject: Subject, writes: Sequence[Write], result: CommitResult
) -> Record:
    """Breaks the clause unless the file is the session in format 4, by the ids that `subject` shows; gives the usage
    row of the import as a reading shows it.
    """
    ids = [id for id, row in subject.model.entries.items() if (row.seq or 0) < normalized_of(session.case).next_seq]
    normalized = normalized_of(session.case).filled(ids)
    lines = lines_of(session.path)
    _expect_header(session, lines.header, last=normalized.next_seq + len(writes))
    *single, last = lines.values[1:]
    expected = [{"kind": "entry", **entry} for entry in normalized.entries] + list(normalized.derived)
    expect_equal(len(single), len(expected), of="the number of lines between the header and the last line")
    for seen, record in zip(single, expected, strict=True):
        _expect_record(seen, record)
    if not isinstance(last, list) or not last:
        raise ClauseBroken(f"the last line\nexpected: an array, the usage row first\nseen:     {last!r}")
    row = {"kind": "usage", "adjustment": True, "usage": normalized.usage, "details": {"source": "v3-import"}}
    _expect_record(last[0], {**row, "id": last[0].get("id"), "seq": normalized.next_seq})
    expect(
        isinstance(last[0]["id"], str) and last[0]["id"] not in ids,
        f"expected: an id of its own\nseen:     {last[0]!r}",
    )
    numbered = zip(writes, range(normalized.next_seq + 1, normalized.next_seq + 1 + len(writes)), strict=True)
    expect_equal(
        last[1:],
        [record_of(write, seq, result.timestamp) for write, seq in numbered],
        of="the caller's records in the last line",
        ordered=True,
    )
    return {name: value for name, value in last[0].items() if name != "kind"}


def _expect_header(session: LegacySession, seen: Record, last: int) -> None:
    """The header of section 22.1, in its order, with a `nextSeq` that no reader can be misled by."""
    file = session.case
    expected: Record = {"v": 4, "kind": "header", "id": file.id, "storageVersion": 1, "createdAt": file.created_at}
    expected["cwd"] = file.cwd
    if file.parent_session_id is not None:
        expected["parentSessionId"] = file.parent_session_id
    if file.legacy_parent_session_path is not None:
        expected["legacyParentSessionPath"] = file.legacy_parent_session_path
    number = seen.get("nextSeq")
    fits = type(number) is int and 1 <= number <= last + 1
    expect(fits, f"nextSeq in the header\nexpected: 1 … {last + 1}\nseen:     {number!r}")
    expect_equal(seen, {**expected, "nextSeq": number}, of="the header", ordered=True)


def _expect_record(seen: Any, expected: Record) -> None:
    """A record on a line of its own, or in the array: equal, and its fields in the order of section 22.2 as far as that
    fixes it.
    """
    kind = expected["kind"]
    of = f"the record of kind {kind} with sequence {expected['seq']}"
    if kind == "value":
        names = ("kind", "op", "seq", "namespace", "key", "value")
        expect_equal(seen, {name: expected[name] for name in names if name in expected}, of=of, ordered=True)
        return
    expect_equal(seen, expected, of=of)
    order = list(seen)
    ends = [order[:1], order[-len(_LAST[kind]) :]]
    expect_equal(ends, [["kind"], _LAST[kind]], of=f"the first and the last fields of {of}")


def record_of(write: Write, seq: int, timestamp: int) -> Record:
    """The record of a write, in the order of section 22.2."""
    if isinstance(write, EntryInsert):
        return {"kind": "entry", **write.entry, "seq": seq, "timestamp": timestamp}
    if isinstance(write, UsageInsert):
        return {"kind": "usage", **write.row, "seq": seq}
    op = "set" if isinstance(write, ValueSet) else "append" if isinstance(write, ListAppend) else "delete"
    value = {"value": write.value} if isinstance(write, ValueSet | ListAppend) else {}
    place = {"namespace": write.address.namespace, "key": write.address.key}
    return {"kind": write.address.kind, "op": op, "seq": seq, **place, **value}
