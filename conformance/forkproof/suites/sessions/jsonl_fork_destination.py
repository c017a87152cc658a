"""The file of a fork: what stands in it, in which form, and where (S-JSONL-FORK-08 to -10, S-FORK-DST-05, -10)."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.clocks import START
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import idle_lane_state
from forkproof.oracle.file_lines import SessionLines, lines_of
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.file_names import session_path
from forkproof.oracle.state import Record
from forkproof.suites.sessions.forking import forked, from_open_and_closed, in_both_scopes
from forkstore.contract.addresses import entry_label, list_address, session_name, value_address
from forkstore.contract.forks import ForkOptions, TreeFork
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet

MakeSubject = Callable[[SessionMaker], Awaitable[Subject]]


async def _with_history(store: SessionMaker) -> Subject:
    """Few current rows, and a long history: each was set and deleted many times, alone and with others."""
    source = await store.labelled_session()
    plan, log, gone = value_address("garden.plan"), list_address("garden.log"), list_address("garden.gone")
    for number in range(30):
        await source.commit(ValueSet(plan, number), ListAppend(log, number), ListAppend(gone, number))
        await source.commit(ValueSet(session_name(), f"name {number}"), ValueSet(entry_label("root"), f"{number}"))
        await source.configure("main", thinking="high" if number % 2 else "off")
        await source.spend(f"spent-{number}")
        await source.commit(ValueDelete(plan), ListDelete(log), ValueSet(plan, [number]), ListAppend(log, [number]))
    await source.commit(ListDelete(gone), ValueDelete(entry_label("tip")), ListDelete(gone))
    return source


SHAPES: dict[str, MakeSubject] = {
    "rich": lambda store: store.rich_session(),
    "lists": lambda store: _lane(store.lists_session()),
    "lanes": lambda store: store.lanes_session(),
    "history": _with_history,
}


async def _lane(making: Awaitable[Subject]) -> Subject:
    subject = await making
    await subject.configure("main")
    await subject.set_tip("main", None)
    return subject


async def _destination(source: Subject, options: ForkOptions, source_is: str) -> tuple[Subject, SessionLines]:
    fork = await forked(source, options, source_is)
    return fork, lines_of(source.store.path_of(fork))


@case("S-JSONL-FORK-08")
@rows("make", SHAPES)
@in_both_scopes
@from_open_and_closed
async def the_file_of_a_fork_holds_current_rows_only(
    store: SessionMaker, make: MakeSubject, options: ForkOptions, source_is: str
) -> None:
    """The destination file holds a header and the current selected rows, each once: no delete, no superseded set, no
    dead element, no usage, and nothing that the selection leaves out.

    If this fails, look at: lines that are copied whole; a history that replay would clear up; rewritten rows that stand
    beside the copied ones.
    """
    fork, lines = await _destination(await make(store), options, source_is)
    seen = [_what(record) for record in lines.records]
    expect_equal(sorted(seen), sorted(_expected(fork)), of="the records of the destination file, by kind and place")
    replayed = model_of_records(lines.records, parent_session_id=lines.header.get("parentSessionId"))
    expect_equal(replayed.state(), fork.model.state(), of="what the destination file says")


def _what(record: Record) -> str:
    """A record in a few words: `entry e1`, `value set pi.branch.tip main`, `list append garden.log `."""
    if record["kind"] in ("entry", "usage"):
        return f"{record['kind']} {record['id']}"
    return f"{record['kind']} {record['op']} {record['namespace']} {record['key']}"


def _expected(fork: Subject) -> list[str]:
    entries = [f"entry {id}" for id in fork.model.entries]
    scalars = [f"value set {namespace} {key}" for namespace, key in fork.model.scalars]
    elements = [f"list append {' '.join(place)}" for place, rows in fork.model.lists.items() for _ in rows]
    return [*entries, *scalars, *elements]


@case("S-JSONL-FORK-09")
@rows("make", SHAPES)
@in_both_scopes
@from_open_and_closed
async def the_file_of_a_fork_has_one_write_a_line(
    store: SessionMaker, make: MakeSubject, options: ForkOptions, source_is: str
) -> None:
    """The destination has one write per line, an object and no array, in rising sequence: rewritten tips and idle
    states included.

    If this fails, look at: transactions that are copied as arrays; lane states written at the end with their old
    sequence; sequences that are given anew in another order.
    """
    _, lines = await _destination(await make(store), options, source_is)
    arrays = [number for number, value in enumerate(lines.values, 1) if not isinstance(value, dict)]
    expect_equal(arrays, [], of="the lines of the destination that are no object")
    sequences = [record["seq"] for record in lines.records]
    expect_equal(sequences, sorted(set(sequences)), of="the sequences of the destination, line by line")


@case("S-JSONL-FORK-10")
@in_both_scopes
@from_open_and_closed
async def a_fork_lies_where_its_source_works(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """The destination lies in the session directory of the source's cwd, under the name of its own time and id.

    If this fails, look at: the cwd of the process or of another session; a destination beside the file of the source.
    """
    subject = await store.create("source", cwd="/srv/orchard/east")
    await subject.configure("main")
    await subject.append("main")
    fork = await forked(subject, options, source_is)
    _expect_place(fork, "/srv/orchard/east")


@case("S-JSONL-FORK-10")
@in_both_scopes
async def a_fork_of_a_file_elsewhere_lies_in_the_repository(store: SessionMaker, options: ForkOptions) -> None:
    """A source that lies outside of the repository, in another store or in no store, is forked into the repository, in
    the directory of the source's cwd; nothing appears where the source lies.

    If this fails, look at: a source that is refused for its place; a destination made beside it.
    """
    subject = await store.create("source", cwd="/srv/orchard/west")
    await subject.configure("main")
    await subject.append("main")
    await subject.close()
    with tempfile.TemporaryDirectory(prefix="forkproof-source-") as place:
        copy = shutil.move(store.path_of(subject), place)
        moved = store.subject(subject.session, subject.model)
        moved.metadata = replace(subject.metadata, path=copy)
        for source_id in ("first", "second"):
            fork = await moved.fork(replace(options, id=source_id))
            _expect_place(fork, "/srv/orchard/west")
            await fork.check("the fork of a file that lies elsewhere")


def _expect_place(fork: Subject, cwd: str) -> None:
    metadata = fork.metadata
    expect_equal(metadata.cwd, cwd, of="the cwd of the fork")
    expected = session_path(fork.store.root.resolve(), cwd, metadata.created_at, metadata.id)
    expect_equal(metadata.path, str(expected), of="the path of the fork")
    expect_equal(lines_of(expected).header["cwd"], cwd, of="the cwd in the header of the fork")


NUMBERS = (
    *("2.50", "1e2", "1E+2", "-0", "-0.0", "0.10e-1", "1.0", "100000000000000000000.0", "5e-324", "1e-400"),
    *("9007199254740993", "18446744073709551616", "1.7976931348623157e308", "0.1000000000000000055511151231257827"),
)
TEXT = r'"\u00e9\ud83c\udf31\/\u0041 é/A"'
PAYLOAD = f'{{"readings":[{",".join(NUMBERS)}],"text":{TEXT},"again":1,"spaced" : [ 1 ,\t2 ],"again":2.50}}'
"""Every form that a decoder would forget: of numbers, escapes, doubled names, blanks and order."""

COPIED = {
    "data": f'"type":"custom","customType":"weather","data":{PAYLOAD}',
    "unknown-field": f'"type":"message","message":{{"role":"user","content":{TEXT},"x":2.50}},"further":{PAYLOAD}',
    "unknown-type": f'"type":"harvest","baskets":{PAYLOAD}',
}
"""Entries by name, without what is the same in all of them."""


def _texts(cwd: str) -> bytes:
    """A lane over the entries of COPIED, with a configuration, a name, a label, a scalar and an element. One entry has
    a line of its own, the others share one with a row that no fork takes.
    """
    header = {"v": 4, "kind": "header", "id": "small", "storageVersion": 1, "createdAt": START, "cwd": cwd}
    entries, parent = [], "null"
    for seq, (id, fields) in enumerate(COPIED.items(), 1):
        entries.append(f'{{"kind":"entry","id":"{id}","parentId":{parent},{fields},"seq":{seq},"timestamp":{START}}}')
        parent = f'"{id}"'
    work = _row("value", "set", len(entries) + 1, "pi.op.state", "op-1", "{}")
    lines = [json.dumps(header, ensure_ascii=False), entries[0], f"[{' ,'.join([*entries[1:], work])}]"]
    rows_of = (
        ("pi.branch.tip", "main", parent),
        ("pi.lane.config", "main", PAYLOAD),
        ("pi.lane.state", "main", json.dumps(idle_lane_state())),
        ("pi.session.name", "", TEXT),
        ("pi.entry.label", "data", TEXT),
        ("garden.plan", "", PAYLOAD),
    )
    for seq, (namespace, key, value) in enumerate(rows_of, 10):
        lines.append(_row("value", "set", seq, namespace, key, value))
    lines.append(_row("list", "append", 20, "garden.log", "", PAYLOAD))
    return "".join(f"{line}\n" for line in lines).encode()


def _row(kind: str, op: str, seq: int, namespace: str, key: str, value: str) -> str:
    return f'{{"kind":"{kind}","op":"{op}","seq":{seq},"namespace":"{namespace}","key":"{key}","value":{value}}}'


@case("S-FORK-DST-05", kinds=("jsonl",))
@in_both_scopes
@from_open_and_closed
async def a_fork_copies_the_text_of_its_source(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """Payloads and values are copied as the JSON text that stands in the source, through a fork of a fork too: the form
    of every number, escapes, doubled names, blanks and the order of members.

    If this fails, look at: a payload that is decoded and encoded again; a configuration, name or label that takes
    another way than entries.
    """
    path = await store.plant(_texts(store.raw.cwd), id="small")
    metadata = store.raw.metadata(path)
    source = None if source_is == "closed" else await store.repo.open(metadata)
    if source is not None:
        await source.set_label("unknown-field", "written by the store, before the fork")
    fork = await store.repo.fork(metadata, options)
    second = await store.repo.fork(fork.metadata, options)
    expected = {"in values": 3 if isinstance(options, TreeFork) else 1, "name and label": 2, **dict.fromkeys(COPIED, 1)}
    for of, made in (("a fork", fork), ("a fork of the fork", second)):
        data = b"\n".join(lines_of(str(made.metadata.path)).texts).decode()
        seen = {name: data.count(fields) for name, fields in COPIED.items()}
        seen |= {"in values": data.count(f'"value":{PAYLOAD}'), "name and label": data.count(f'"value":{TEXT}')}
        expect_equal(seen, expected, of=f"how often the texts of the source stand in the file of {of}")


@case("S-FORK-DST-10", kinds=("jsonl",))
@rows("make", SHAPES)
@in_both_scopes
@from_open_and_closed
async def the_sequences_of_a_fork_serve_it(
    store: SessionMaker, make: MakeSubject, options: ForkOptions, source_is: str
) -> None:
    """Whatever sequences a store gives its fork: in the file they rise, with entries and elements in their order; the
    `nextSeq` of the header, where there is one, lies above them, and the first commit above both.

    If this fails, look at: sequences given anew that do not rise; a `nextSeq` that is too low.
    """
    fork, lines = await _destination(await make(store), options, source_is)
    sequences = [record["seq"] for record in lines.records]
    expect_equal(sequences, sorted(set(sequences)), of="the sequences in the file of the fork")
    last = max(sequences, default=0)
    next_seq = lines.header.get("nextSeq", last + 1)
    expect(next_seq > last, f"expected: a nextSeq above the last sequence {last}\nseen:     {next_seq}")
    ids = [record["id"] for record in lines.records if record["kind"] == "entry"]
    expect_equal(ids, list(fork.model.entries), of="the entries in the file of the fork")
    result = await fork.commit(ValueSet(value_address("garden.plan"), "the first commit"))
    first = result.first_seq
    expect(first >= next_seq, f"expected: a first commit from {next_seq} on\nseen:     {first}")
    await fork.check_everywhere()
