"""Mutation scopes: one commit, what it shows, and what callbacks give (section 10: S-MUT-03, 04, 07)."""

from __future__ import annotations

import asyncio
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkproof.suites.sessions.racing import endings, yardstick
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import (
    CommitAlreadyAttempted,
    DuplicateId,
    InvalidValue,
    PendingMessage,
    ScopeEnded,
    SessionStoreError,
    UnknownParent,
)
from forkstore.contract.store import CallbackScope
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")
GOOD: list[Write] = [
    EntryInsert(made.message_entry("new", "tip")),
    UsageInsert(made.usage_row("spent", "new")),
    ValueSet(VALUE, "committed"),
    ListAppend(LIST, "committed"),
]
Attempt = tuple[list[Write], type[SessionStoreError] | None]
ATTEMPTS: dict[str, Attempt] = {
    "succeeded": (GOOD, None),
    "empty": ([], None),
    "duplicate": ([EntryInsert(made.message_entry("root", None))], DuplicateId),
    "unknown-parent": ([EntryInsert(made.message_entry("new", "no-such-entry"))], UnknownParent),
    "unstorable": ([ValueSet(VALUE, float("nan"))], InvalidValue),
    "pending": (
        [EntryInsert(made.message_entry("new", "tip", message=made.assistant_message("…", stop_reason="pending")))],
        PendingMessage,
    ),
}


@case("S-MUT-03")
@rows("attempt", ATTEMPTS)
@rows("way", begin_mutation="begin_mutation", mutate="mutate")
async def a_scope_allows_one_commit_attempt(store: SessionMaker, attempt: Attempt, way: str) -> None:
    """A further commit in one scope raises `CommitAlreadyAttempted` and writes nothing, also when the first was
    refused; the scope behind it may commit.

    If this fails, look at: an attempt that counts on success only; a refusal before the count; a count for the
    session.
    """
    subject = await store.bushy_session()
    writes, refusal = attempt

    async def use(scope: CallbackScope) -> None:
        if refusal is None:
            subject.follow(await scope.commit(writes), *writes)
        else:
            with refused(refusal):
                await scope.commit(writes)
        for further in ([ValueSet(VALUE, "too late")], []):
            with refused(CommitAlreadyAttempted):
                await scope.commit(list(further))

    if way == "mutate":
        await subject.session.mutate(use)
    else:
        scope = await subject.session.begin_mutation()
        await use(scope)
        await scope.end()
    subject.model.look_at([(VALUE.namespace, VALUE.key)])
    await subject.check("the session after the further attempts")
    await subject.commit(ValueSet(VALUE, "of the next scope"))
    await subject.check_everywhere()


@case("S-MUT-03")
async def of_concurrent_commits_in_one_scope_the_first_counts(store: SessionMaker) -> None:
    """Of commits of one scope that do not wait for each other the first counts; the others raise
    `CommitAlreadyAttempted`.

    If this fails, look at: an attempt that is noted when it ends.
    """
    subject, lay = await store.create(), await yardstick(store)
    scope = await subject.session.begin_mutation()
    tasks = [asyncio.create_task(scope.commit([ListAppend(LIST, number)])) for number in range(3)]
    await asyncio.wait(tasks)
    expected = ["returned", "CommitAlreadyAttempted", "CommitAlreadyAttempted"]
    expect_equal(await endings(tasks, lay), expected, of="how the three commits ended")
    await scope.end()
    subject.follow(tasks[0].result(), ListAppend(LIST, 0))
    await subject.check_everywhere()


@case("S-MUT-04")
@rows("way", begin_mutation="begin_mutation", mutate="mutate")
async def a_commit_shows_before_its_scope_ends(store: SessionMaker, way: str) -> None:
    """A commit does not end its scope: it can still read, and reads through it and direct reads both see what was
    committed, while the next scope goes on waiting.

    If this fails, look at: a commit that is published at the end; a scope that reads what it saw at its start; a line
    that moves on with the commit.
    """
    subject = await store.bushy_session()
    behind: list[asyncio.Task[Any]] = []

    async def use(scope: CallbackScope) -> None:
        behind.append(asyncio.create_task(subject.session.append_list(LIST, "behind")))
        before = await scope.get_stats()
        await asyncio.gather(scope.get_value(VALUE), scope.read_list(LIST), scope.scan_values(VALUE))
        subject.follow(await scope.commit(GOOD), *GOOD)
        await settle()
        expect(not behind[0].done(), "expected: the next writer waits for the end\nseen:     it returned")
        await _expect_committed(subject, scope, before.message_count + 1)
        await _expect_committed(subject, subject.session, before.message_count + 1)
        await subject.check("the session before the end of the scope")

    try:
        if way == "mutate":
            await subject.session.mutate(use)
        else:
            scope = await subject.session.begin_mutation()
            try:
                await use(scope)
            finally:
                await scope.end()
    finally:
        await asyncio.gather(*behind)


async def _expect_committed(subject: Subject, reads: Any, messages: int) -> None:
    """All six reads of section 2.3 show the commit of GOOD."""
    name = "the scope" if reads is not subject.session else "the session"
    value = await reads.get_value(VALUE)
    seen = {
        "get_entries": await reads.get_entries(["new"]),
        "get_value": value and value.value,
        "scan_values": [row.value for row in await reads.scan_values(VALUE)],
        "read_list": [element.value for element in await reads.read_list(LIST)],
        "scan_branch": [entry["id"] for entry in await reads.scan_branch("new", limit=2)],
        "get_stats": (await reads.get_stats()).message_count,
    }
    expected = {
        "get_entries": {"new": subject.model.entry("new")},
        "get_value": "committed",
        "scan_values": ["committed"],
        "read_list": ["committed"],
        "scan_branch": ["new", "tip"],
        "get_stats": messages,
    }
    expect_equal(seen, expected, of=f"the reads of {name} after the commit")


@case("S-MUT-07")
@rows("value", none=None, text="value", false=False, tuple=(1, "two"))
async def mutate_gives_the_value_of_its_callback(store: SessionMaker, value: Any) -> None:
    """`mutate` gives what the callback gave, as the object it is; the callback's scope has no `end`, and has ended
    afterwards, with a commit or without one.

    If this fails, look at: a value that is copied or replaced by the result of the commit; the scope of
    `begin_mutation` handed to callbacks; a line that only a commit leaves.
    """
    subject = await store.create()
    for number in range(4):
        scopes: list[CallbackScope] = []
        given = [value]

        async def callback(scope: CallbackScope, number: int = number, given: Any = given, kept: Any = scopes) -> Any:
            kept.append(scope)
            if number % 2:
                subject.follow(await scope.commit([ListAppend(LIST, number)]), ListAppend(LIST, number))
            return given

        seen = await subject.session.mutate(callback)
        expect(seen is given, f"expected: the object that the callback gave\nseen:     {seen!r}")
        expect(not hasattr(scopes[0], "end"), "expected: a scope without end in a callback\nseen:     it has one")
        with refused(ScopeEnded):
            await scopes[0].get_stats()
    await subject.check_everywhere()


@case("S-MUT-07")
async def a_commit_left_running_is_settled_before_the_next_scope(store: SessionMaker) -> None:
    """When a callback returns while a commit of its scope still runs, the next scope starts after that commit.

    If this fails, look at: a line that is left when the callback returns.
    """
    subject = await store.create()
    writes: list[Write] = [ListAppend(LIST, number) for number in range(300)]
    commits: list[asyncio.Task[Any]] = []

    async def callback(scope: CallbackScope) -> str:
        commits.append(asyncio.create_task(scope.commit(writes)))
        await asyncio.sleep(0)
        return "early"

    async def look(scope: CallbackScope) -> int:
        return len(await scope.read_list(LIST))

    mutations = [asyncio.create_task(subject.session.mutate(one)) for one in (callback, look)]
    expect_equal(await asyncio.gather(*mutations), ["early", 300], of="what the two callbacks gave")
    subject.follow(await commits[0], *writes)
    await subject.check_everywhere()


@case("S-MUT-07")
async def a_plain_function_that_raises_leaves_the_line(store: SessionMaker) -> None:
    """A callback that raises before it gives anything to await fails its own caller, and the line goes on.

    If this fails, look at: the callback called before the scope is guarded.
    """
    subject, lay, error = await store.create(), await yardstick(store), LookupError("no bed")

    def failing(_: CallbackScope) -> Any:
        raise error

    outcome = (await asyncio.gather(subject.session.mutate(failing), return_exceptions=True))[0]
    expect(outcome is error, f"expected: the callback's own error object\nseen:     {outcome!r}")
    behind = asyncio.create_task(subject.session.append_list(LIST, "the next scope"))
    expect_equal(await endings([behind], lay), ["returned"], of="how the next writer ended")
