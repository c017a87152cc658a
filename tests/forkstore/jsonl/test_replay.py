"""Replay against a checker of session files that shares nothing with it (spec sections 22 and 23)."""

from __future__ import annotations

import pytest

from forkgen import recipe
from forkgen.damage import Damaged, damage
from forkgen.jsonl import lines
from forkstore.contract.codec import decode
from forkstore.contract.errors import CorruptSession, DuplicateId, InvalidValue, UnknownParent, UnsupportedVersion
from forkstore.jsonl.headers import Header, read_header
from forkstore.jsonl.records import DEEPEST_RECORD, LineFault
from forkstore.jsonl.replay import Replay
from forkstore.state import EntryRecord, SessionState, TextRecord
from tests.forkgen.good_files import CREATED_AT, FILES, good_file
from tests.forkgen.strict_format4 import Finding, examine
from tests.forkstore.jsonl.decoding import entry_line, usage_line, value_line

GOOD = {name: good_file(name) for name in FILES} | {"with nextSeq": good_file("rich", next_seq=500)}


def replayed(data: bytes) -> SessionState:
    """The state of a file whose unterminated last line is left out. Raises what reading it raises."""
    first, *more = data.split(b"\n")
    if not more:
        raise CorruptSession("walk.jsonl", 1, "the file ends inside its first line")
    header = read_header(first, "walk.jsonl")
    assert isinstance(header, Header)
    replay = Replay("walk.jsonl", header.next_seq)
    for number, line in enumerate(more[:-1], 2):
        replay.take(line, number)
    return replay.finished()


def found(data: bytes) -> Finding:
    """What replay makes of a file, in the words of the checker."""
    try:
        state = replayed(data)
    except UnsupportedVersion as refusal:
        return Finding("unsupported", version=str(refusal.version))
    except CorruptSession as refusal:
        cause = type(refusal.__cause__).__name__
        return Finding("corrupt", refusal.line, cause if cause in ("DuplicateId", "UnknownParent") else None)
    return Finding("opens", next_seq=state.next_seq)


def shown(record: EntryRecord | TextRecord) -> str:
    stored = decode(record.text, DEEPEST_RECORD)
    stored.pop("kind")
    return repr(stored)


def differences(variant: Damaged) -> list[str]:
    """How replay and the checker differ over a file."""
    data = b"".join(variant.chunks())
    ours, theirs = found(data), examine(data)
    seen = (ours.verdict, ours.line, ours.cause, ours.version, ours.next_seq)
    stated = (theirs.verdict, theirs.line, theirs.cause, theirs.version, theirs.next_seq)
    if seen != stated:
        return [f"{variant.name}: replay {seen}, the checker {stated}"]
    return [f"{variant.name}: {fault}" for fault in state_differences(data, theirs)]


def state_differences(data: bytes, theirs: Finding) -> list[str]:
    if theirs.verdict != "opens":
        return []
    ours = replayed(data)
    scalars = {(space, key): row for space, keys in ours.scalars.items() for key, row in keys.items()}
    lists = {(space, key): rows for space, keys in ours.lists.items() for key, rows in keys.items()}
    expected = theirs.state
    pairs = {
        "entries": ([shown(entry) for entry in ours.entry_order], [*map(repr, expected.entries)]),
        "ids": ([*ours.entries], [entry["id"] for entry in expected.entries]),
        "usage": ([shown(row) for row in ours.usage_rows.values()], [*map(repr, expected.usage)]),
        "scalars": (
            {place: repr((row.seq, decode(row.text))) for place, row in scalars.items()},
            {place: repr(row) for place, row in expected.scalars.items()},
        ),
        "lists": (
            {place: repr([(row.seq, decode(row.text)) for row in rows]) for place, rows in lists.items()},
            {place: repr(rows) for place, rows in expected.lists.items()},
        ),
        "messages": (ours.message_count, sum(entry["type"] == "message" for entry in expected.entries)),
    }
    return [name for name, (one, other) in pairs.items() if one != other]


@pytest.mark.parametrize("name", GOOD)
def test_replay_and_the_checker_agree_on_every_damaged_file(name: str) -> None:
    assert [fault for variant in damage(GOOD[name]) for fault in differences(variant)] == []


@pytest.mark.one_python
@pytest.mark.parametrize("name", ["lists", "usage", "unicode"])
def test_they_agree_on_damaged_files_of_recipes(name: str) -> None:
    good = b"".join(lines(recipe(name)(seed=2, size=3), id="walk-1", cwd="/srv/garden", created_at=CREATED_AT))
    variants = [*damage(good)]
    torn = [variant for variant in variants if variant.name.startswith("torn-")]
    others = [variant for variant in variants if not variant.name.startswith("torn-")]
    assert [fault for variant in [*others, *torn[::97]] for fault in differences(variant)] == []


def test_structural_fields_stand_beside_the_text_of_an_entry() -> None:
    for entry in replayed(GOOD["rich"]).entry_order:
        record = decode(entry.text, DEEPEST_RECORD)
        names = ("id", "parentId", "seq", "type", "timestamp")
        assert [entry.id, entry.parent_id, entry.seq, entry.type, entry.timestamp] == [record[name] for name in names]
        assert entry.custom_type == record.get("customType")


def take(*records: bytes) -> None:
    """Replays lines behind a header."""
    replay = Replay("walk.jsonl", None)
    for number, line in enumerate(records, 2):
        replay.take(line, number)


def at(seq: int, line: bytes) -> bytes:
    return line.replace(b'"seq":1', b'"seq":%d' % seq)


@pytest.mark.parametrize(
    ("second", "cause"),
    [
        (at(2, entry_line()), DuplicateId("e1")),
        (at(2, usage_line(id='"e1"')), DuplicateId("e1")),
        (at(2, entry_line(id='"e2"', parentId='"e3"')), UnknownParent("e2", "e3")),
        (at(2, entry_line(id='"e2"', parentId='"e2"')), UnknownParent("e2", "e2")),
        (at(1, entry_line(id='"e2"')), LineFault("sequence 1 does not rise above 1")),
        (at(2, usage_line()).replace(b'"input":1,', b'"input":9223372036854775808,', 1), InvalidValue),
        (at(2, usage_line()).replace(b'"input":1,', b'"input":%b,' % (b"9" * 400), 1), InvalidValue),
        (b'{"kind":"entry"', LineFault),
    ],
)
def test_what_a_commit_would_have_raised_is_the_cause(second: bytes, cause: Exception | type[Exception]) -> None:
    """S-JSONL-FMT-11."""
    with pytest.raises(CorruptSession) as refusal:
        take(entry_line(), second)
    assert (refusal.value.path, refusal.value.line) == ("walk.jsonl", 3)
    found = refusal.value.__cause__
    if isinstance(cause, type):
        assert isinstance(found, cause)
    else:
        assert (type(found), str(found)) == (type(cause), str(cause))
    assert refusal.value.reason == str(found)


def test_an_id_is_used_up_within_a_line_too() -> None:
    with pytest.raises(CorruptSession):
        take(b"[%b,%b]" % (usage_line(), at(2, entry_line(id='"u1"'))))
    take(b"[%b,%b]" % (entry_line(), at(2, entry_line(id='"e2"', parentId='"e1"'))))


@pytest.mark.parametrize(
    ("next_seq", "records", "expected"),
    [
        (None, [], 1),
        (7, [], 7),
        (7, [at(6, value_line("1"))], 7),
        (7, [at(7, value_line("1"))], 8),
        (7, [at(70, value_line("1", op="delete"))], 71),
        (2**53 - 1, [], 2**53 - 1),
        (None, [at(2**53 - 1, value_line("1"))], 2**53),
        (None, [b"[]"], 1),
    ],
)
def test_the_next_sequence_is_above_all_that_was_used(
    next_seq: int | None, records: list[bytes], expected: int
) -> None:
    """S-JSONL-FMT-12."""
    replay = Replay("walk.jsonl", next_seq)
    for number, line in enumerate(records, 2):
        replay.take(line, number)
    assert replay.finished().next_seq == expected


def test_deleted_rows_leave_nothing_behind() -> None:
    """Memory does not grow with what was deleted."""
    replay = Replay("walk.jsonl", None)
    for seq in range(1, 401, 4):
        for offset, line in enumerate((value_line("1"), value_line("1", op="delete"))):
            replay.take(at(seq + offset, line), seq)
        replay.take(at(seq + 2, value_line("1", op="append").replace(b'"value"', b'"list"', 1)), seq)
        replay.take(at(seq + 3, value_line("1", op="delete").replace(b'"value"', b'"list"', 1)), seq)
    state = replay.finished()
    assert (state.scalars, state.lists, state.next_seq) == ({}, {}, 401)
