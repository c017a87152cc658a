"""The writer of format 4: its text to the letter, its rules of sequence and time, and how it publishes."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from forkgen import RECIPES, recipe
from forkgen.jsonl import lines, write_session
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.records import Json, Record, zero_usage
from forkstore.contract.writes import (
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
    prepare,
)
from tests.forkgen.good_files import FILES, good_file, message
from tests.forkgen.sessions import expected
from tests.forkgen.strict_format4 import examine

HEADER = b'{"v":4,"kind":"header","id":"walk-1","storageVersion":1,"createdAt":1760000000123,"cwd":"/srv/garden"}\n'


def written(transactions: list[list[Write]], **options: Json) -> list[bytes]:
    named = {"id": "walk-1", "cwd": "/srv/garden", "created_at": 1760000000123, **options}
    return list(lines(transactions, **named))


def records(*transactions: list[Write], **options: Json) -> list[str]:
    return [line.decode() for line in written(list(transactions), **options)[1:]]


def test_the_header_is_that_of_the_contract() -> None:
    assert written([]) == [HEADER]
    header = written([], id="walk-2", created_at=1760000300000, parent_session_id="walk-1", next_seq=14)
    assert header == [
        (
            b'{"v":4,"kind":"header","id":"walk-2","storageVersion":1,"createdAt":1760000300000,"cwd":"/srv/garden",'
            b'"parentSessionId":"walk-1","nextSeq":14}\n'
        )
    ]


def test_the_records_are_those_of_the_contract() -> None:
    tail = {"summary": "beans watered", "retainedTail": [], "tokensBefore": 310, "fromHook": False}
    summary = {"fromId": "e3", "summary": "the rainy path", "fromHook": False}
    spent = {**zero_usage(), "input": 11, "output": 6, "totalTokens": 17}
    transactions: list[list[Write]] = [
        [message("e1", None, "water the beans"), ValueSet(branch_tip("main"), "e1")],
        [EntryInsert({"id": "e2", "parentId": "e1", "type": "custom", "customType": "weather", "data": {"rain": 2.5}})],
        [EntryInsert({"id": "e3", "parentId": "e2", "type": "compaction", **tail})],
        [EntryInsert({"id": "e4", "parentId": "e1", "type": "branch_summary", **summary})],
        [UsageInsert({"id": "u1", "usage": spent, "adjustment": False, "entryId": "e1"})],
        [ValueDelete(value_address("garden.plan", "row:3"))],
        [ListAppend(list_address("garden.log"), {"bed": "north"})],
        [ListDelete(list_address("garden.log", "old"))],
    ]
    # Section 22.2, but for the times and for the number 2.50, which a commit writes as 2.5.
    assert records(*transactions, created_at=1760000000010) == [
        (
            '[{"kind":"entry","id":"e1","parentId":null,"type":"message","message":{"role":"user","content":"water the '
            'beans","timestamp":1760000001000},"seq":1,"timestamp":1760000001010},{"kind":"value","op":"set","seq":2,'
            '"namespace":"pi.branch.tip","key":"main","value":"e1"}]\n'
        ),
        (
            '{"kind":"entry","id":"e2","parentId":"e1","type":"custom","customType":"weather","data":{"rain":2.5},"seq":3,'
            '"timestamp":1760000002010}\n'
        ),
        (
            '{"kind":"entry","id":"e3","parentId":"e2","type":"compaction","summary":"beans watered","retainedTail":[],'
            '"tokensBefore":310,"fromHook":false,"seq":4,"timestamp":1760000003010}\n'
        ),
        (
            '{"kind":"entry","id":"e4","parentId":"e1","type":"branch_summary","fromId":"e3","summary":"the rainy '
            'path","fromHook":false,"seq":5,"timestamp":1760000004010}\n'
        ),
        (
            '{"kind":"usage","id":"u1","usage":{"input":11,"output":6,"cacheRead":0,"cacheWrite":0,"totalTokens":17,'
            '"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"adjustment":false,"entryId":"e1",'
            '"seq":6}\n'
        ),
        '{"kind":"value","op":"delete","seq":7,"namespace":"garden.plan","key":"row:3"}\n',
        '{"kind":"list","op":"append","seq":8,"namespace":"garden.log","key":"","value":{"bed":"north"}}\n',
        '{"kind":"list","op":"delete","seq":9,"namespace":"garden.log","key":"old"}\n',
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ü\u2028\u2029\u007f🌱", '"ü\u2028\u2029\u007f🌱"'),
        ("\0\b\t\n\f\r\x1f", r'"\u0000\b\t\n\f\r\u001f"'),
        ('"\\/', r'"\"\\/"'),
        ([1, 1.0, -0.0, 1e16, 1e-7, 2**63 - 1], "[1,1.0,-0.0,1e+16,1e-07,9223372036854775807]"),
        ({"b": None, "a": [True, {}]}, '{"b":null,"a":[true,{}]}'),
    ],
)
def test_values_are_written_as_the_contract_says(value: Json, text: str) -> None:
    line = '{"kind":"value","op":"set","seq":1,"namespace":"n","key":"","value":%s}\n'
    assert records([ValueSet(value_address("n"), value)]) == [line % text]


def test_addresses_are_text_like_any_other() -> None:
    [line] = records([ValueDelete(value_address('n"\n', "ключ\u2028"))])
    assert line == '{"kind":"value","op":"delete","seq":1,"namespace":"n\\"\\n","key":"ключ\u2028"}\n'


def test_sequences_rise_by_one_and_times_by_the_step() -> None:
    entries: list[list[Write]] = [[message("a", None, "x"), message("b", "a", "y")], [], [message("c", "b", "z")]]
    found = examine(b"".join(written(entries, created_at=1000)))
    assert [(entry["seq"], entry["timestamp"]) for entry in found.state.entries] == [(1, 2000), (2, 2000), (3, 4000)]
    found = examine(b"".join(written(entries, created_at=1000, step=0, next_seq=50)))
    assert [(entry["seq"], entry["timestamp"]) for entry in found.state.entries] == [(50, 1000), (51, 1000), (52, 1000)]
    assert found.next_seq == 53


@pytest.mark.parametrize("name", FILES)
def test_an_independent_checker_reads_every_good_file(name: str) -> None:
    found = examine(good_file(name))
    writes = sum(map(len, FILES[name]()))
    assert (found.verdict, found.next_seq) == ("opens", writes + 1)
    assert found.complete_lines == 1 + sum(bool(transaction) for transaction in FILES[name]())


def test_the_state_is_that_of_the_writes() -> None:
    state = examine(good_file("rich")).state
    assert [entry["id"] for entry in state.entries] == ["e1", "e2", "e3", "e4"]
    assert [row["id"] for row in state.usage] == ["u1", "u2"]
    assert state.lists == {("garden.log", ""): [(14, 1), (15, 1.5)]}
    assert ("garden.plan", "row:3") not in state.scalars
    assert state.scalars["pi.branch.tip", "rain"][1] == "e4"


@pytest.mark.parametrize("name", RECIPES)
def test_a_file_of_every_recipe_says_what_the_recipe_expects(name: str) -> None:
    generated = recipe(name)(seed=3, size=5)
    found = examine(b"".join(lines(generated, id="walk-1", cwd="/srv/garden", created_at=1760000000123)))
    assert found.verdict == "opens"
    wanted, state = expected(generated.expectation), found.state
    assert [without_numbers(entry) for entry in state.entries] == wanted["entries"]
    assert [without_numbers(row) for row in state.usage] == wanted["ledger"]
    assert {place: value for place, (_, value) in state.scalars.items()} == wanted["scalars"]
    assert {place: [value for _, value in rows] for place, rows in state.lists.items()} == wanted["lists"]


def without_numbers(record: Record) -> Record:
    return {field: value for field, value in record.items() if field not in ("seq", "timestamp")}


@pytest.mark.parametrize(
    "wrong",
    [
        EntryInsert({"id": "e1", "parentId": None, "type": "note"}),
        ValueSet(value_address("n"), float("nan")),
        ValueSet(value_address("n"), "\ud800"),
        ValueSet(list_address("n"), 1),
        "a text",
    ],
)
def test_a_write_that_no_commit_takes_is_refused(wrong: Write) -> None:
    with pytest.raises(InvalidValue):
        written([[wrong]])


MESSAGE: Record = {"id": "e2", "parentId": "e1", "type": "message", "message": {"role": "user", "content": "x"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"message": {"role": "user", "content": [{"text": "\ud800"}]}},
        {"message": {"role": "user", "content": [1, float("inf")]}},
        {"message": {"role": "user", 1: "x"}},
        {"message": ()},
        {"id": 2},
        {"id": None},
        {"parentId": False},
        {"type": "note"},
        {"seq": 1},
        {"kind": "entry"},
        {"customType": "weather"},
    ],
    ids=repr,
)
def test_a_message_that_no_commit_takes_is_refused_in_the_same_words(fields: Record) -> None:
    writes: list[Write] = [message("e1", None, "x"), EntryInsert(MESSAGE | fields)]
    with pytest.raises(InvalidValue) as refused:
        prepare(writes)
    with pytest.raises(InvalidValue, match="^" + re.escape(str(refused.value)) + "$"):
        written([writes])


@pytest.mark.parametrize("deepest", [200, 201])
def test_a_message_is_as_deep_as_a_commit_takes_it(deepest: int) -> None:
    body: Record = {}
    for _ in range(deepest - 1):
        body = {"inner": body}
    writes: list[Write] = [EntryInsert(MESSAGE | {"parentId": None, "message": body})]
    if deepest == 200:
        assert examine(b"".join(written([writes]))).verdict == "opens"
    else:
        with pytest.raises(InvalidValue, match="nested too deeply"):
            written([writes])


def test_no_sequence_lies_above_the_last() -> None:
    delete = ValueDelete(value_address("n"))
    assert len(written([[delete]], next_seq=2**53 - 1)) == 2
    with pytest.raises(InvalidValue, match="2\\^53"):
        written([[delete, delete]], next_seq=2**53 - 1)


def interrupted(error: BaseException) -> Iterator[list[Write]]:
    yield [message("e1", None, "x")]
    raise error


def publish(path: Path, transactions: Iterator[list[Write]]) -> None:
    write_session(path, transactions, id="walk-1", cwd="/srv/garden", created_at=1760000000123)


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt()], ids=["error", "interrupt"])
@pytest.mark.parametrize("before", [None, b"old"], ids=["new", "existing"])
def test_an_interrupted_run_leaves_what_was_there(tmp_path: Path, error: BaseException, before: bytes | None) -> None:
    path = tmp_path / "walk.jsonl"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(type(error)):
        publish(path, interrupted(error))
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == (
        {} if before is None else {"walk.jsonl": before}
    )


def test_a_session_appears_whole_and_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "walk.jsonl"
    path.write_bytes(b"old")
    publish(path, iter(FILES["rich"]()))
    assert path.read_bytes() == good_file("rich")
    assert [file.name for file in tmp_path.iterdir()] == ["walk.jsonl"]


def test_while_a_session_is_written_its_name_is_free(tmp_path: Path) -> None:
    path = tmp_path / "walk.jsonl"
    seen: list[tuple[bool, int]] = []

    def watched() -> Iterator[list[Write]]:
        seen.append((path.exists(), len(list(tmp_path.iterdir()))))
        yield [message("e1", None, "x")]

    publish(path, watched())
    assert seen == [(False, 1)]


def test_a_place_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        publish(tmp_path / "nowhere" / "walk.jsonl", iter([]))


def test_memory_does_not_grow_with_the_session(tmp_path: Path) -> None:
    def many() -> Iterator[list[Write]]:
        for number in range(4_000):
            yield [message(f"e{number}", None, "x" * 2_000)]

    path = tmp_path / "large.jsonl"
    publish(path, iter([]))
    tracemalloc.start()
    try:
        publish(path, many())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * 1024 * 1024 < path.stat().st_size
