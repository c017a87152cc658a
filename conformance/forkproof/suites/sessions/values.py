"""Scalars: the current value at an address (section 6)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect, expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.places import PLACES
from forkproof.makers.records import user_message
from forkstore.contract.addresses import Address, branch_tip, list_address, session_name, value_address
from forkstore.contract.forks import TreeFork
from forkstore.contract.store import Session
from forkstore.contract.writes import ListAppend, ValueDelete, ValueSet

PLAN = value_address("garden.plan", "beds")


async def _expect_row(subject: Subject, address: Address, value: Any, seq: int) -> None:
    """Both ways of reading show this value and this sequence."""
    row = await subject.session.get_value(address)
    expect_equal(row and (row.address, row.value, row.seq), (address, value, seq), of="the row of get_value")
    found = [one for one in await subject.session.scan_values(address) if one.address == address]
    expect_equal([(one.value, one.seq) for one in found], [(value, seq)], of="the row of scan_values")


@case("S-VAL-01")
async def a_set_replaces_value_and_sequence(store: SessionMaker) -> None:
    """Each set replaces the value, of whatever type, and the row's `seq` is that of the latest set; also where the
    value stays the same, and after reopening.

    If this fails, look at: values merged; a set to an equal value left out; the sequence of the first set kept.
    """
    subject = await store.linear_session()
    seq = 0
    for value in ({"a": 1}, {"b": 2}, [3], "text", "text", None, None, 0, False, 0.0):
        seq = (await subject.commit(ValueSet(PLAN, value))).seqs[0]
        await _expect_row(subject, PLAN, value, seq)
    await subject.reopen()
    await _expect_row(subject, PLAN, 0.0, seq)
    await subject.check()


@case("S-VAL-01")
async def the_last_set_of_a_commit_counts(store: SessionMaker) -> None:
    """Of several sets in one commit the last one wins, with its own sequence, and other locations keep theirs.

    If this fails, look at: a batch written without order; sequences given by address.
    """
    subject = await store.linear_session()
    other = value_address("garden.plan", "bedside")
    first = await subject.commit(ValueSet(other, "stays"))
    result = await subject.commit(*(ValueSet(PLAN, number) for number in range(5)), ListAppend(list_address("x"), 1))
    for _ in ("live", "reopened"):
        await _expect_row(subject, PLAN, 4, result.seqs[4])
        await _expect_row(subject, other, "stays", first.seqs[0])
        await subject.reopen()


@case("S-VAL-01")
@rows("address", application=PLAN, tip=branch_tip("main"), name=session_name())
async def a_set_replaces_in_every_namespace(store: SessionMaker, address: Address) -> None:
    """A set replaces the row of an application's or a built-in address by the session's own writers as by a scope's
    commit.

    If this fails, look at: rows added beside the old ones; names and tips kept elsewhere than other scalars.
    """
    subject = await store.linear_session()
    await subject.commit(ValueSet(address, "e1"))
    if address == session_name():
        result = await subject.session.set_name("e2")
    else:
        result = await subject.session.set_value(address, "e2")
    subject.follow(result, ValueSet(address, "e2"))
    await _expect_row(subject, address, "e2", result.seqs[0])
    await subject.check_everywhere()


@case("S-VAL-02")
async def a_stored_null_is_a_row(store: SessionMaker) -> None:
    """A scalar that is null is there: `get_value` and `scan_values` give its row, after reopening and in a fork too.

    If this fails, look at: null taken for absent; a null column; `if row.value`.
    """
    subject = await store.linear_session()
    seq = (await subject.commit(ValueSet(PLAN, None))).seqs[0]
    await _expect_row(subject, PLAN, None, seq)
    fork = await subject.fork(TreeFork())
    await fork.check()
    await fork.close()
    await subject.reopen()
    await _expect_row(subject, PLAN, None, seq)


@case("S-VAL-02")
@rows("value", null=None, false=False, zero=0, text="", list=[], object={}, full={"a": [1]})
async def a_deleted_scalar_is_absent(store: SessionMaker, value: Any) -> None:
    """After a delete the row is absent: `get_value` gives None and a scan leaves it out, after reopening too; its
    neighbours stay, and a new set brings it back.

    If this fails, look at: a delete that stores null; a replay that forgets deletes; a delete by prefix.
    """
    subject = await store.linear_session()
    neighbours = [ValueSet(value_address("garden.plan", key), key) for key in ("", "bed", "beds2", "beds:")]
    await subject.commit(ValueSet(PLAN, value), *neighbours)
    await subject.commit(ValueDelete(PLAN))
    expect_equal(await subject.session.get_value(PLAN), None, of="the deleted scalar")
    await subject.check_everywhere()
    await subject.commit(ValueSet(PLAN, value))
    await subject.check_everywhere()


@case("S-VAL-02")
@in_any_state
async def a_delete_of_nothing_succeeds(subject: Subject) -> None:
    """A delete where nothing is succeeds, again and again, in any state of a session.

    If this fails, look at: an error for a missing row; a delete that leaves a null behind.
    """
    absent = value_address("garden.plan", "never-used")
    subject.model.look_at([("garden.plan", "never-used")])
    await subject.commit(ValueDelete(absent))
    subject.follow(await subject.session.delete_value(absent), ValueDelete(absent))
    expect_equal(await subject.session.get_value(absent), None, of="a scalar that never was")
    await subject.check()


MEBIBYTE = 2**20
LARGE = {"scalar": "bean ", "element": "ü", "message": "🌱"}
"""Places, and the letters of the large text that stands there."""


@case("S-VAL-13")
@rows("place", {name: name for name in LARGE})
async def a_text_of_16_mebibytes_comes_back(store: SessionMaker, place: str) -> None:
    """A text of 16 MiB comes back exactly, after reopening too, whether its letters take one byte or four.

    If this fails, look at: a limit of the database, of a line or of a message; text cut without an error; buffers that
    cut inside a letter.
    """
    letters = LARGE[place]
    text = f"[{letters * (16 * MEBIBYTE // len(letters.encode()))}]"
    subject = await store.create()
    await subject.session.mutate(lambda scope: scope.commit([PLACES[place].write(text, "large")]))
    _expect_same(await PLACES[place].read(subject.session, "large"), text, "live")
    await subject.reopen()
    _expect_same(await PLACES[place].read(subject.session, "large"), text, "after reopening")


@case("S-VAL-13")
@rows("place", {name: name for name in PLACES})
async def a_text_of_escapes_comes_back(store: SessionMaker, place: str) -> None:
    """A text of 1 MiB of letters that JSON escapes comes back exactly from every place a payload can stand.

    If this fails, look at: limits counted before or after escaping; escapes cut in two.
    """
    text = '"\\\n\0 bed' * (MEBIBYTE // 8)
    subject = await store.create()
    await subject.session.mutate(lambda scope: scope.commit([PLACES[place].write(text, "large")]))
    await subject.reopen()
    _expect_same(await PLACES[place].read(subject.session, "large"), text, "after reopening")


def _expect_same(seen: Any, text: str, when: str) -> None:
    # Not by expect_equal: a difference would be as large as the text.
    length = len(seen) if isinstance(seen, str) else repr(seen)[:80]
    expect(seen == text, f"expected: the text of {len(text)} characters, {when}\nseen:     {length}, or other letters")


async def _message(session: Session, texts: list[str]) -> Any:
    branch = await session.create_branch("main", None)
    content = [{"type": "text", "text": text} for text in texts]
    return await session.get_entry(await branch.append_message({**user_message(""), "content": content}))


@case("S-VAL-13")
async def a_message_of_many_blocks_comes_back(store: SessionMaker) -> None:
    """A message of 20,000 blocks comes back with all of them, in order.

    If this fails, look at: a limit on members; blocks stored one by one without order.
    """
    subject = await store.create()
    texts = [f"block {number}" for number in range(20_000)]
    entry = await _message(subject.session, texts)
    seen = [block["text"] for block in (entry or {}).get("message", {}).get("content", [])]
    expect_equal(seen, texts, of="the texts of the blocks")
