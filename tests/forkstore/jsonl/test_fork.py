"""What forks of session files hold (spec sections 14 to 17 and 25)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forkgen import RECIPES, Expectation, recipe
from forkstore.contract.addresses import (
    BRANCH_TIP,
    LANE_STATE,
    entry_label,
    value_address,
)
from forkstore.contract.errors import (
    SessionStoreError,
    UndeclaredNamespace,
)
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ValueSet, Write
from tests.forkgen.sessions import fork_options
from tests.forkgen.strict_format4 import examine
from tests.forkstore.jsonl.forking import (
    CWD,
    FORKS,
    Place,
    Watch,
    destination,
    entry,
    expected,
    held,
    lane,
    refusal_of,
    session,
    texts,
)

pytestmark = pytest.mark.asyncio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# ── what they hold ──


def told(expectation: Expectation, options: ForkOptions) -> Expectation | SessionStoreError:
    try:
        return expectation.fork(options)
    except SessionStoreError as refusal:
        return refusal


def is_rewritten(text: bytes) -> bool:
    return json.loads(text).get("namespace") in (BRANCH_TIP, LANE_STATE)


async def check(place: Place, source: bytes, options: ForkOptions, forked: Expectation | SessionStoreError) -> None:
    if isinstance(forked, SessionStoreError):
        refusal = await refusal_of(place, options)
        assert type(refusal) is type(forked)
        assert isinstance(refusal, UndeclaredNamespace) or str(refusal) == str(forked)
        return
    watch = Watch()
    content = await place.fork(options, watch=watch)
    found = destination(content)
    # The repr tells 1, 1.0 and True apart, and the order of members.
    assert repr(held(found)) == repr(expected(forked))
    assert found.next_seq == examine(source).next_seq
    assert sum(watch.counts) == content.count(b"\n") - 1
    assert {text for text in texts(content) if not is_rewritten(text)} <= {*texts(source)}
    assert place.path.read_bytes() == source


@pytest.mark.one_python
@pytest.mark.parametrize("name", [name for name in RECIPES if name != "giant"])
@pytest.mark.parametrize(("seed", "size"), [(0, 1), (1, 12), (7, 60)])
async def test_forks_of_recipes_hold_what_is_expected(name: str, seed: int, size: int, place: Place) -> None:
    generated = recipe(name)(seed, size)
    source = session(generated)
    place.write(source)
    first, nowhere, *others = fork_options(generated.expectation)
    for options in (first, nowhere, *others[:: 1 + len(others) // 12]):
        await check(place, source, options, told(generated.expectation, options))


@pytest.mark.one_python
async def test_forks_of_a_giant_hold_what_is_expected(place: Place) -> None:
    generated = recipe("giant")(0, 3)
    source = session(generated)
    place.write(source)
    for options in FORKS.values():
        await check(place, source, options, generated.expectation.fork(options))


@pytest.mark.one_python
@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("entries", [5_003])
async def test_large_sources_are_forked_whole(options: ForkOptions, entries: int, place: Place) -> None:
    generated = recipe("benchmark")(1, entries)
    source = session(generated)
    place.write(source)
    found = destination(await place.fork(options))
    assert held(found) == expected(generated.expectation.fork(options))
    assert len(found.state.entries) == entries


async def test_a_fork_of_a_fork_holds_what_is_expected(place: Place) -> None:
    generated = recipe("everything")(2, 60)
    place.write(session(generated))
    middle = list(generated.expectation.path("main"))[1]
    first = await place.fork(TreeFork())
    place.write(first)
    second = await place.fork(BranchFork("main", middle), named=("walk-2", CWD))
    assert json.loads(second.split(b"\n")[0])["parentSessionId"] == "walk-2"
    forked = generated.expectation.tree_fork().branch_fork("main", middle)
    assert held(examine(second)) == expected(forked)


# ── what is copied is copied as text ──

FIELDS: dict[str, bytes] = {
    "number": rb'"kind":"entry","id":"e1", "seq" : 1,"parentId":null,"message":{"rain":2.50}',
    "unknown-field": b'"kind":"entry","id":"e1","weather":1e2,"parentId":null,"seq":1',
    "surrogate": rb'"kind":"entry","id":"e1","parentId":null,"seq":1,"message":"\ud800"',
    "escaped": rb'"kind":"entry","id":"\u0065\u0031","parentId":null,"seq":1,"message":"\/"',
    "twice": b'"kind":"entry","id":"e0","id":"e1","parentId":null,"seq":1,"message":{}',
    "large": b'"kind":"entry","id":"e1","parentId":null,"seq":1,"message":%d' % 10**400,
    "line-ends": '"kind":"entry","id":"e1","parentId":null,"seq":1,"message":"\u2028\x85"'.encode(),
    "brackets": b'"kind":"entry","id":"e1","parentId":null,"seq":1,"message":"[{]},"',
}
ODD = {name: b'{%b,"timestamp":5,"type":"message"}' % fields for name, fields in FIELDS.items()}
ODD["unknown-type"] = b'{"kind":"entry","id":"e1","parentId":null,"seq":1,"timestamp":5,"type":"rumour"}'


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("framing", [b"%b", b" [%b] ", b"[ %b\t]\r"])
@pytest.mark.parametrize("name", ODD)
async def test_records_are_copied_as_the_text_that_they_are(
    name: str, framing: bytes, options: ForkOptions, place: Place
) -> None:
    rest = session([lane("e1")], next_seq=2)
    header, rows = rest.split(b"\n", 1)
    place.write(header + b"\n" + framing % ODD[name] + b"\n" + rows)
    found = destination(await place.fork(options))
    content = (await place.fork(options)).split(b"\n")
    assert content[1] == ODD[name]
    assert [entry["id"] for entry in found.state.entries] == ["e1"]


@pytest.mark.parametrize(
    "tip", [rb'"\ud800"', b"1e2", b"%d" % 10**400, b"[" * 210 + b"]" * 210, b'{"id":"e1"}', b"true"]
)
async def test_a_tip_that_names_no_entry_is_copied_as_it_is(tip: bytes, place: Place) -> None:
    place.write(session([[entry("e1"), *lane("@")]]).replace(b'"@"', tip))
    for options in FORKS.values():
        content = await place.fork(options)
        assert b'"key":"main","value":' + tip + b"}\n" in content
        destination(content)
    before = destination(await place.fork(BranchFork("main", position="before")))
    assert before.state.scalars[BRANCH_TIP, "main"][1] is None
    assert before.state.entries == []


async def test_rows_keep_their_sequences_and_the_next_one_is_the_boundary(place: Place) -> None:
    rows: list[list[Write]] = [[entry("e1"), *lane("e1"), ValueSet(entry_label("e1"), "a")]]
    place.write(session(rows, next_seq=40))
    for options in FORKS.values():
        content = await place.fork(options)
        assert [json.loads(line)["seq"] for line in content.split(b"\n")[1:-1]] == [40, 41, 42, 43, 44]
        assert json.loads(content.split(b"\n")[0])["nextSeq"] == 45


async def test_the_header_of_the_source_may_lie_far_above_its_rows(place: Place) -> None:
    source = session([[entry("e1")]]).replace(b'"cwd"', b'"nextSeq":9000,"cwd"', 1)
    place.write(source)
    assert destination(await place.fork(TreeFork())).next_seq == 9000


async def test_the_last_sequence_of_all_can_be_forked(place: Place) -> None:
    source = session([[entry("e1"), ValueSet(value_address("garden.plan"), 1)]])
    place.write(source.replace(b'"seq":2', b'"seq":%d' % (2**53 - 1)))
    assert destination(await place.fork(TreeFork())).next_seq == 2**53


@pytest.mark.parametrize("content", [session([]), session([]) + b"[]\n[]\n", b"\xef\xbb\xbf" + session([])])
async def test_a_source_without_data_gives_a_fork_without_data(content: bytes, place: Place) -> None:
    place.write(content)
    copy = await place.fork(TreeFork())
    assert copy.count(b"\n") == 1
    assert destination(copy).next_seq == 1
    assert json.loads(copy)["nextSeq"] == 1


async def test_only_current_rows_are_copied(place: Place) -> None:
    generated = recipe("dead_history")(4, 40)
    source = session(generated)
    place.write(source)
    for options in FORKS.values():
        content = await place.fork(options)
        destination(content)
        assert not {"usage", "delete"} & {
            json.loads(line).get(name) for line in content.split(b"\n")[:-1] for name in ("kind", "op")
        }
