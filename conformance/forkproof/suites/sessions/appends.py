"""Public writers: one scope, one commit each; appends (section 9: S-SESS-06 to 09)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker
from forkproof.makers import records as made
from forkproof.makers.states import ANY_STATE
from forkproof.suites.sessions.appending import append_message, branch_of, follow_append, mark
from forkproof.suites.sessions.committing import SMALL_STATES
from forkstore.contract.addresses import branch_tip, entry_label, list_address, session_name, value_address
from forkstore.contract.records import ABSENT
from forkstore.contract.store import Session
from forkstore.contract.writes import (
    CommitResult,
    ListAppend,
    ListDelete,
    ValueDelete,
    ValueSet,
    Write,
)

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")
Writer = tuple[Callable[[Session], Awaitable[CommitResult]], Write]

WRITERS: dict[str, Writer] = {
    "set_value": (lambda session: session.set_value(VALUE, {"n": 1}), ValueSet(VALUE, {"n": 1})),
    "set_value-reserved": (
        lambda session: session.set_value(branch_tip("right"), "root"),
        ValueSet(branch_tip("right"), "root"),
    ),
    "delete_value": (lambda session: session.delete_value(VALUE), ValueDelete(VALUE)),
    "append_list": (lambda session: session.append_list(LIST, [2]), ListAppend(LIST, [2])),
    "delete_list": (lambda session: session.delete_list(LIST), ListDelete(LIST)),
    "set_name": (lambda session: session.set_name("Garten"), ValueSet(session_name(), "Garten")),
    "set_label": (lambda session: session.set_label("tip", "here"), ValueSet(entry_label("tip"), "here")),
}


@case("S-SESS-06")
@rows("writer", WRITERS)
@rows("present", present=True, absent=False)
async def a_public_writer_makes_one_commit_of_one_write(store: SessionMaker, writer: Writer, present: bool) -> None:
    """`set_value`, `delete_value`, `append_list` and `delete_list`, and the writers built on them, each make one commit
    with one write, whether something was there before or not.

    If this fails, look at: a write left out because it changes nothing; a read-modify-write in two commits; rows that
    come along.
    """
    subject = await store.bushy_session()
    if present:
        await subject.commit(ValueSet(VALUE, 0), ListAppend(LIST, 0), ListAppend(LIST, 1))
    next_seq = await mark(subject)
    call, write = writer
    result = subject.follow(await call(subject.session), write)
    expect_equal((result.first_seq, result.seqs), (next_seq, [next_seq]), of="the sequences of the result")
    expect_equal(result.stats, await subject.session.get_stats(), of="the statistics of the result")
    expect_equal(await mark(subject), next_seq + 2, of="the sequence after the write and one more")
    await subject.check_everywhere()


@case("S-SESS-06", needs=("clock",))
@rows("writer", WRITERS)
async def a_public_writer_reads_the_clock_once(store: SessionMaker, writer: Writer) -> None:
    """A public writer reads the clock once, as one commit does, and its result carries that reading.

    If this fails, look at: a second commit; a result with a time of its own.
    """
    subject = await store.bushy_session()
    store.clock.advance(5)
    readings = store.clock.readings
    result = await writer[0](subject.session)
    expect_equal(store.clock.readings - readings, 1, of="the readings of the clock")
    expect_equal(result.timestamp, store.clock.at, of="the timestamp of the result")


@case("S-SESS-06")
@rows("writer", WRITERS)
async def a_public_writer_takes_an_exclusive_scope(store: SessionMaker, writer: Writer) -> None:
    """A public writer waits while a scope is held, has written nothing until then, and has written when it returns.

    If this fails, look at: writers that go past the mutation line; a write made before the scope is granted.
    """
    subject = await store.bushy_session()
    await subject.commit(ValueSet(VALUE, 0), ListAppend(LIST, 0))
    call, write = writer

    async def calling() -> CommitResult:
        return await call(subject.session)

    scope = await subject.session.begin_mutation()
    task = asyncio.create_task(calling())
    await settle()
    waits = not task.done()
    expect(waits, "expected: the writer waits for the scope that is held\nseen:     it returned")
    await subject.check("the session while the writer waits")
    await scope.end()
    subject.follow(await task, write)
    await subject.check_everywhere()


@case("S-SESS-07")
@rows("text", plain="Garten 🌿", empty="", blank=" ", nul="a\x00b", null_text="null")
async def a_name_or_label_is_set_and_deleted(store: SessionMaker, text: str) -> None:
    """`set_name` and `set_label` store the text as it is, the empty one too; with None they delete the row, also when
    there is none. The target of a label need not exist.

    If this fails, look at: empty text taken for None; a null stored in place of a delete; a label refused for an
    unknown entry; text trimmed.
    """
    subject = await store.bushy_session()
    session = subject.session
    for id in ("tip", "no-such-entry", "usage-1", ""):
        address = entry_label(id)
        subject.follow(await session.set_label(id, text), ValueSet(address, text))
        expect_equal(await session.get_label(id), text, of=f"the label of {id!r}")
    subject.follow(await session.set_name(text), ValueSet(session_name(), text))
    expect_equal(await session.get_name(), text, of="the name")
    await subject.check_everywhere()
    session = subject.session
    for _ in range(2):
        subject.follow(await session.set_name(None), ValueDelete(session_name()))
        subject.follow(await session.set_label("tip", None), ValueDelete(entry_label("tip")))
        for address in (session_name(), entry_label("tip")):
            expect_equal(await session.get_value(address), None, of=f"the row at {address}")
    expect_equal(await session.get_label("usage-1"), text, of="the label of another entry")
    await subject.check_everywhere()


@case("S-SESS-08")
@rows("name", lane="main", null_tip="null", tip_at_root="at-root", data_only="right")
@rows("data", none=ABSENT, null=None, object={"mm": 2.5, "beds": ["north"]}, false=False)
async def an_append_inserts_below_the_tip_and_moves_it(store: SessionMaker, name: str, data: Any) -> None:
    """An append makes one commit that inserts the entry below the current tip and sets the tip to it, and returns its
    id; the entry holds what was given and nothing else.

    If this fails, look at: two commits; a parent taken from the latest entry; a null tip refused; absent data stored as
    null.
    """
    subject = await store.bushy_session()
    await subject.commit(ValueSet(branch_tip("null"), None), ValueSet(branch_tip("at-root"), "root"))
    next_seq = await mark(subject)
    first = await append_message(subject, name, made.user_message("and the peas?"))
    branch = await branch_of(subject, name)
    given = () if data is ABSENT else (data,)
    second = await branch.append_custom_entry("weather", *given)
    extra = {} if data is ABSENT else {"data": data}
    await follow_append(subject, name, second, type="custom", customType="weather", **extra)
    expect_equal(await branch.get_tip_id(), second, of="the tip after two appends")
    expect(first != second, "expected: an id of its own for each entry\nseen:     one id twice")
    expect_equal(await mark(subject), next_seq + 5, of="the sequence after two appends and one write")
    await subject.check_everywhere()


@case("S-SESS-08", needs=("clock",))
async def an_append_is_one_commit(store: SessionMaker) -> None:
    """An append reads the clock once, and the entry carries that reading.

    If this fails, look at: entry and tip in two commits; the message's own timestamp taken.
    """
    subject = await store.bushy_session()
    store.clock.advance(5)
    readings = store.clock.readings
    entry_id = await append_message(subject, "main", made.user_message("and the peas?"))
    expect_equal(store.clock.readings - readings, 1, of="the readings of the clock")
    expect_equal(subject.model.entry(entry_id)["timestamp"], store.clock.at, of="the timestamp of the entry")


@case("S-SESS-08")
@rows("start", tip="tip", null=None)
async def concurrent_appends_make_one_chain(store: SessionMaker, start: str | None) -> None:
    """Appends to one branch that do not wait for each other, through several branch objects, make one chain in the
    order of their first steps.

    If this fails, look at: a tip read before the scope is granted; a tip kept in the branch object; two heads.
    """
    subject = await store.bushy_session()
    await subject.set_tip("main", start)
    branches = [await branch_of(subject, "main") for _ in range(3)]
    texts = [f"message {number}" for number in range(9)]
    tasks = [
        asyncio.create_task(branches[number % 3].append_message(made.user_message(text)))
        for number, text in enumerate(texts)
    ]
    ids = await asyncio.gather(*tasks)
    path = await subject.session.scan_branch(ids[-1], order="oldest_first", stop_at_id=None)
    seen = [(entry["id"], entry["message"]["content"][0]["text"]) for entry in path[-9:]]
    expect_equal(seen, list(zip(ids, texts, strict=True)), of="the chain of the nine entries")
    expect_equal(path[-9]["parentId"], start, of="the parent of the first of them")
    expect_equal([await branch.get_tip_id() for branch in branches], [ids[-1]] * 3, of="the tip, by branch object")


@case("S-SESS-08")
async def an_append_follows_a_tip_that_was_moved(store: SessionMaker) -> None:
    """A branch object that was made earlier appends below the tip as it is now, moved on or back by others.

    If this fails, look at: a tip remembered from the last append of this object.
    """
    subject = await store.bushy_session()
    old = await branch_of(subject, "main")
    await subject.append("main", "by another writer")
    for tip in (None, "root", "left-leaf", "answer"):
        if tip == "answer":
            await subject.append("main", id="answer")
        else:
            await subject.set_tip("main", tip)
        entry_id = await old.append_custom_entry("note")
        await follow_append(subject, "main", entry_id, type="custom", customType="note")
    await subject.check_everywhere()


@case("S-SESS-09")
@rows("state", SMALL_STATES)
async def an_append_touches_only_its_own_branch(store: SessionMaker, state: str) -> None:
    """An append to any branch moves the tip of that branch only; every other branch, one with the same tip or an equal
    path too, and every stored entry stays as it was, live and after reopening.

    If this fails, look at: branches told by their tip; one current branch for the session; a name matched without
    case or by prefix; an entry that is rewritten.
    """
    subject = await ANY_STATE[state](store)
    stored = subject.model.entries
    names = [name for name in subject.model.branches() if subject.model.tip(name) in {None, *stored}]
    for name in [*names, *names[::-1]]:
        await append_message(subject, name, made.user_message(f"for {name}"))
    if not names:
        await subject.session.create_branch("first", None)
        expect_equal(await subject.session.branch("second"), None, of="a branch that nobody made")
        return
    await subject.check_everywhere()
