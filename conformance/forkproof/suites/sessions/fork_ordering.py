"""The boundary of a fork: what a fork of an open source holds, by the order of first steps (section 19.1)."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.racing import ended, raced, words
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import message_entry, usage_row, user_message
from forkstore.contract.addresses import branch_tip, entry_label, list_address, session_name, value_address
from forkstore.contract.errors import SessionClosed
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main"), "tree": TreeFork()}
WORDS = {word: word for word in map("".join, product("cf", repeat=4)) if "f" in word}
"""Every order of four commits (c) and forks (f)."""


def turn(number: int, parent: str | None) -> list[Write]:
    """A commit that shows everywhere if it shows at all: an entry, the tip, the name, a label, a usage row, and, for
    tree forks, a scalar and a list element.
    """
    id = f"turn-{number}"
    return [
        EntryInsert(message_entry(id, parent, f"turn {number}")),
        ValueSet(branch_tip("main"), id),
        ValueSet(session_name(), f"named in turn {number}"),
        ValueSet(entry_label(id), f"labelled in turn {number}"),
        ValueSet(entry_label("e1"), f"labelled again in turn {number}"),
        UsageInsert(usage_row(f"usage-of-{id}", id)),
        ValueSet(value_address("garden.plan"), number),
        ListAppend(list_address("garden.log"), number),
    ]


BEHIND: dict[str, Any] = {
    "set-value": lambda session: session.set_value(value_address("garden.plan"), "too late"),
    "set-name": lambda session: session.set_name("too late"),
    "set-label": lambda session: session.set_label("e1", "too late"),
    "create-branch": lambda session: session.create_branch("too-late", "e1"),
    "append-list": lambda session: session.append_list(list_address("garden.log"), "too late"),
    "mutate": lambda session: session.mutate(lambda scope: scope.commit(turn(1, "e4"))),
}
"""Writers of a session, to be started behind a fork."""


@case("S-FORK-ORD-01", needs=())
@rows("options", FORKS)
@rows("write", BEHIND)
async def what_starts_behind_a_fork_is_not_in_it(store: SessionMaker, options: ForkOptions, write: Any) -> None:
    """A fork asks for its boundary in the first step of its coroutine: a writer started right behind it is absent.

    If this fails, look at: a suspension before the boundary job is queued; a source that is looked up first with an
    await; a copy that reads the source later.
    """
    source = await store.linear_session()
    source.model.look_at([("garden.plan", ""), ("garden.log", "")])
    model = source.model.fork(options, source.id)
    forked, written = await raced(store.repo.fork(source.metadata, options), write(source.session))
    expect_equal(words([forked, written]), ["returned", "returned"], of="the fork, and the writer behind it")
    await store.subject(forked.value, model).check_everywhere()


@case("S-FORK-ORD-01")
@rows("options", FORKS)
async def a_commit_behind_a_fork_is_not_in_it(store: SessionMaker, options: ForkOptions) -> None:
    """A commit on the storage that is started right behind a fork is absent from it, wholly.

    If this fails, look at: a suspension before the boundary job is queued; a boundary that does not go through the
    commit queue.
    """
    source = await store.linear_session()
    model = source.model.fork(options, source.id)
    writes = turn(1, "e4")
    model.look_at([("garden.plan", ""), ("garden.log", ""), ("pi.session.name", "")])
    forked, written = await raced(
        store.repo.fork(source.metadata, options), source.session.storage.commit(list(writes))
    )
    expect_equal(words([forked, written]), ["returned", "returned"], of="the fork, and the commit behind it")
    source.follow(written.value, *writes)
    await store.check_each(store.subject(forked.value, model), source)


@case("S-FORK-ORD-01", needs=())
@rows("options", FORKS)
async def a_fork_before_the_closing_of_its_source_succeeds(store: SessionMaker, options: ForkOptions) -> None:
    """A fork that is started right before its source is closed has its boundary, and both succeed.

    If this fails, look at: a suspension before the boundary; a closing that cuts off a boundary that was asked for.
    """
    source = await store.linear_session()
    forked, closed = await raced(store.repo.fork(source.metadata, options), source.session.close())
    expect_equal(words([forked, closed]), ["returned", "returned"], of="the fork, and the closing behind it")
    await store.check_each(store.subject(forked.value, source.model.fork(options, source.id)), source)


@case("S-FORK-ORD-02")
@rows("options", FORKS)
@rows("word", WORDS)
async def a_fork_holds_exactly_the_commits_before_it(store: SessionMaker, options: ForkOptions, word: str) -> None:
    """Commits and forks that are started one after the other without waiting: each fork holds every commit before it
    wholly, no other, and a later fork holds them all. (c: commit, f: fork.)

    If this fails, look at: a boundary that overtakes queued commits; a fork that shares its source's containers; a
    commit that is copied in part.
    """
    source = await store.linear_session()
    calls: list[Any] = []
    commits: dict[int, list[Write]] = {}
    for number, step in enumerate(word):
        if step == "c":
            parent = f"turn-{max(commits)}" if commits else "e4"
            commits[number] = turn(number, parent)
            calls.append(source.session.storage.commit(list(commits[number])))
        else:
            calls.append(store.repo.fork(source.metadata, options))
    endings = await raced(*calls)
    expect_equal(words(endings), ["returned"] * len(word), of=f"how the calls {word!r} ended")
    forks: list[Subject] = []
    for number, ending in enumerate(endings):
        if number in commits:
            source.follow(ending.value, *commits[number])
        else:
            forks.append(store.subject(ending.value, source.model.fork(options, source.id)))
    forks.append(await source.fork(options))
    for number, fork in enumerate(forks, 1):
        await fork.check(f"fork {number} of {word!r} and a later one")
    await store.check_each(forks[0], source)


@case("S-FORK-ORD-02", needs=())
@rows("options", FORKS)
@rows("word", WORDS)
async def an_append_is_in_a_fork_wholly_or_not_at_all(store: SessionMaker, options: ForkOptions, word: str) -> None:
    """Messages appended and forks started one after the other without waiting: a fork holds the messages that were
    stored when it began, none that was started after it, and each with its tip or not at all. (c: append, f: fork.)

    If this fails, look at: an append in two commits; a boundary that overtakes commits that have ended; a suspension
    before the boundary.
    """
    source = await store.linear_session()
    branch = await source.session.branch("main")
    stored: list[str] = []

    async def append(number: int) -> str:
        id = await branch.append_message(user_message(f"turn {number}")) if branch else ""
        stored.append(id)
        return id

    async def fork() -> tuple[int, Session]:
        before = len(stored)
        return before, await store.repo.fork(source.metadata, options)

    endings = await raced(*(append(number) if step == "c" else fork() for number, step in enumerate(word)))
    expect_equal(words(endings), ["returned"] * len(word), of=f"how the calls {word!r} ended")
    appended = [ending.value for step, ending in zip(word, endings, strict=True) if step == "c"]
    for number, step in enumerate(word):
        if step == "f":
            before, session = endings[number].value
            at_least, at_most = before, word[:number].count("c")
            await _expect_first_appends(session, appended, at_least, at_most)
    await _expect_first_appends(await store.repo.fork(source.metadata, options), appended, len(appended), len(appended))


async def _expect_first_appends(session: Session, appended: list[str], at_least: int, at_most: int) -> None:
    seen = [entry["id"] for entry in await session.scan_entries()][4:]
    count = min(max(len(seen), at_least), at_most)
    expect_equal(seen, appended[:count], of=f"the messages in a fork, {at_least} to {at_most} of those appended")
    branch = await session.branch("main")
    tip = await branch.get_tip_id() if branch is not None else None
    expect_equal(tip, (seen or ["e4"])[-1], of="the tip beside these messages")


@case("S-FORK-ORD-03")
@rows("options", FORKS)
@rows("queued", queue_empty=0, queue_filled=25)
async def commit_fork_commit(store: SessionMaker, options: ForkOptions, queued: int) -> None:
    """When commit, fork and commit are started one after the other without waiting, the fork holds the first and not
    the second: entries, tip, name and labels; also behind a queue of other commits.

    If this fails, look at: a fork that waits until the queue is empty; one that does not wait for the queue at all; a
    name or a label that is read later than the entries.
    """
    source = await store.linear_session()
    calls = [source.session.storage.commit([ListAppend(list_address("queue"), n)]) for n in range(queued)]
    calls.append(source.session.storage.commit(turn(1, "e4")))
    forking = store.repo.fork(source.metadata, options)
    *before, forked, after = await raced(*calls, forking, source.session.storage.commit(turn(2, "turn-1")))
    ending = words([before[-1], forked, after])
    expect_equal(ending, ["returned"] * 3, of="how the commit, the fork and the commit ended")
    for number in range(queued):
        source.follow(before[number].value, ListAppend(list_address("queue"), number))
    source.follow(before[-1].value, *turn(1, "e4"))
    fork = store.subject(forked.value, source.model.fork(options, source.id))
    source.follow(after.value, *turn(2, "turn-1"))
    session, seen = forked.value, {"name": await forked.value.get_name()}
    branch = await session.branch("main")
    seen |= {"tip": await branch.get_tip_id() if branch else None, "label": await session.get_label("e1")}
    seen |= {f"turn-{n}": [await session.get_entry(f"turn-{n}") is not None] for n in (1, 2)}
    expected = {"name": "named in turn 1", "tip": "turn-1", "label": "labelled again in turn 1"}
    expect_equal(seen, {**expected, "turn-1": [True], "turn-2": [False]}, of="what the fork holds of the two commits")
    await fork.check()
    await store.check_each(fork, source)


@case("S-FORK-ORD-05")
@rows("options", FORKS)
async def a_held_scope_neither_delays_a_fork_nor_enters_it(store: SessionMaker, options: ForkOptions) -> None:
    """A mutation scope that is held on the source neither delays the fork nor enters it: the fork ends while the scope
    is held, without the commit that the scope makes meanwhile; a fork after that commit holds it, before the scope has
    ended.

    If this fails, look at: a boundary in the mutation line in place of the commit queue; a fork that takes a scope.
    """
    source = await store.linear_session()
    before = source.model.fork(options, source.id)
    writes = turn(1, "e4")
    before.look_at([("garden.plan", ""), ("garden.log", ""), ("pi.session.name", "")])
    scope = await source.session.begin_mutation()
    forking = asyncio.create_task(store.repo.fork(source.metadata, options))
    await asyncio.sleep(0)
    source.follow(await scope.commit(list(writes)), *writes)
    first = store.subject(await forking, before)
    await first.check("a fork that was started before the scope's commit")
    second = await source.fork(options)
    await second.check("a fork that was started after the scope's commit")
    await scope.end()
    await store.check_each(first, second, source)


@case("S-FORK-ORD-05")
@rows("options", FORKS)
async def a_fork_inside_a_mutation_ends(store: SessionMaker, options: ForkOptions) -> None:
    """A mutation callback can fork its own session and await the fork.

    If this fails, look at: a fork that waits in the mutation line.
    """
    source = await store.linear_session()
    fork = store.subject(
        await source.session.mutate(lambda _: store.repo.fork(source.metadata, options)),
        source.model.fork(options, source.id),
    )
    await store.check_each(fork, source)


@case("S-FORK-ORD-06")
@rows("options", FORKS)
async def a_closing_source_cannot_be_forked(store: SessionMaker, options: ForkOptions) -> None:
    """A fork that is called after the closing of its source has begun, and before it has ended, raises `SessionClosed`;
    when it has ended the source can be forked.

    If this fails, look at: a closing source treated as an open one, or as a closed one; a refusal that lasts.
    """
    source = await store.linear_session()
    scope = await source.session.begin_mutation()
    closing = asyncio.create_task(source.session.close())
    (behind,) = await raced(store.repo.fork(source.metadata, options))
    expect_equal(behind.word, "SessionClosed", of="a fork right behind the closing of its source")
    await settle()
    expect(not closing.done(), "expected: the closing waits for the scope\nseen:     it has ended")
    with refused(SessionClosed, session_id=source.id):
        await store.repo.fork(source.metadata, options)
    await scope.end()
    await closing
    forked = await ended(source.fork(options))
    expect_equal(forked.word, "returned", of="a fork after the closing has ended")
    await store.check_each(forked.value, source)
