"""Isolation: objects that a caller changes after they were stored or read (section 6)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import (
    assistant_message,
    compaction_entry,
    custom_entry,
    message_entry,
    usage,
    usage_row,
)
from forkproof.makers.states import ANY_STATE
from forkproof.makers.subject import kept_writes
from forkproof.oracle.state import copied
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

PLAN = value_address("garden.plan")
LOG = list_address("garden.log", "kept")


def _spoil(value: Any) -> None:
    """Changes a JSON value, or a result that holds some, at every place that can be changed."""
    if isinstance(value, dict):
        for member in list(value.values()):
            _spoil(member)
        value.pop(next(iter(value), None), None)
        value["spoilt"] = True
    elif isinstance(value, list):
        for member in value:
            _spoil(member)
        value.insert(0, "spoilt")
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            _spoil(getattr(value, name))


def _bed() -> Any:
    return {"beds": [{"north": ["bean", {"rows": [1, 2]}]}], "free": []}


WRITES: dict[str, Callable[[], Write]] = {
    "message": lambda: EntryInsert(message_entry("message", "e1", message=assistant_message("done"))),
    "custom-entry": lambda: EntryInsert(custom_entry("custom-entry", "e1", data=_bed())),
    "compaction": lambda: EntryInsert(compaction_entry("compaction", "e1")),
    "unnamed-field": lambda: EntryInsert(message_entry("unnamed-field", "e1", xNote=_bed())),
    "usage-row": lambda: UsageInsert(usage_row("spent", "e1", usage=usage(reasoning=3), details=_bed())),
    "scalar": lambda: ValueSet(PLAN, _bed()),
    "scalar-list": lambda: ValueSet(PLAN, [_bed(), []]),
    "element": lambda: ListAppend(LOG, _bed()),
}


def _payload(write: Write) -> Any:
    """The caller's object inside a write."""
    if isinstance(write, EntryInsert):
        return write.entry
    if isinstance(write, UsageInsert):
        return write.row
    return write.value if isinstance(write, ValueSet | ListAppend) else None


@case("S-VAL-11")
@rows("make", WRITES)
async def what_is_changed_after_the_commit_stays_as_stored(store: SessionMaker, make: Callable[[], Write]) -> None:
    """An object that the caller changes after it was stored stays as it was stored, live and after reopening.

    If this fails, look at: a memory backend that keeps the caller's object; a shallow copy; a cache of written objects.
    """
    subject = await store.linear_session()
    write = make()
    await subject.commit(write)
    _spoil(_payload(write))
    await subject.check_everywhere()


@case("S-VAL-11")
@rows("make", WRITES)
async def what_is_changed_after_the_first_step_is_stored_as_it_was(
    store: SessionMaker, make: Callable[[], Write]
) -> None:
    """An object that the caller changes while the commit runs, after its first step, is stored as it was; so is the
    list of writes.

    If this fails, look at: writes encoded when their turn in the queue comes, or in a thread; the caller's list kept
    in the queue.
    """
    subject = await store.linear_session()
    writes: list[Write] = [ValueSet(value_address("garden.plan", "first"), 1), make()]
    kept = kept_writes(writes)
    scope = await subject.session.begin_mutation()
    running = asyncio.create_task(scope.commit(writes))
    await asyncio.sleep(0)  # the first step of the commit
    _spoil(_payload(writes[1]))
    writes.clear()
    result = await running
    await scope.end()
    subject.follow(result, *kept)
    await subject.check_everywhere()


@case("S-VAL-11", needs=("raw-commit",))
async def queued_commits_are_stored_as_they_were(store: SessionMaker) -> None:
    """Of many commits that wait in the queue each is stored as it was in its own first step, though one object serves
    them all.

    If this fails, look at: a queue that holds the caller's objects.
    """
    subject = await store.linear_session()
    bed: dict[str, Any] = {"round": 0, "rows": []}
    running, kept = [], []
    for number in range(20):
        bed["round"] = number
        bed["rows"].append(number)
        writes: list[Write] = [ListAppend(LOG, bed)]
        kept.append(kept_writes(writes))
        running.append(asyncio.create_task(subject.session.storage.commit(writes)))
        await asyncio.sleep(0)  # the first step of the commit
    for task, writes_kept in zip(running, kept, strict=True):
        subject.follow(await task, *writes_kept)
    await subject.check_everywhere()


@case("S-VAL-11")
async def the_sessions_own_writers_keep_nothing_of_the_caller(store: SessionMaker) -> None:
    """What was handed to `set_value`, `append_list`, `append_message` and `append_custom_entry` can be changed
    afterwards.

    If this fails, look at: a message that gets its id or time written into the caller's object; shallow copies.
    """
    subject = await store.linear_session()
    value, element, message, data = _bed(), _bed(), assistant_message("done"), _bed()
    handed = copied([value, element, message, data])
    branch = await subject.session.create_branch("left", "e1")
    await subject.session.set_value(PLAN, value)
    await subject.session.append_list(LOG, element)
    ids = [await branch.append_message(message), await branch.append_custom_entry("weather", data)]
    expect_equal([value, element, message, data], handed, of="the caller's objects after the calls", ordered=True)
    _spoil([value, element, message, data])
    row = await subject.session.get_value(PLAN)
    entries = await subject.session.get_entries(ids)
    seen = [row and row.value, (await subject.session.read_list(LOG))[0].value]
    seen += [entries[ids[0]]["message"], entries[ids[1]]["data"]]
    expect_equal(seen, handed, of="what is read after the caller's objects were changed")


@case("S-VAL-11")
async def a_commit_leaves_the_callers_objects_alone(store: SessionMaker) -> None:
    """A commit does not change the objects it is given: no sequence, no time, no default is written into them.

    If this fails, look at: an entry completed in place.
    """
    subject = await store.linear_session()
    writes = [make() for make in WRITES.values()]
    kept = kept_writes(writes)
    await subject.commit(*writes)
    expect_equal(writes, list(kept), of="the writes after their commit", ordered=True)


async def _of_branch(session: Session) -> Any:
    branch = await session.branch("main")
    return None if branch is None else [await branch.find_entries(), await branch.find_entry()]


READS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "get-entry": lambda session: session.get_entry("tip"),
    "get-entries": lambda session: session.get_entries(["root", "tip", "weather"]),
    "get-value": lambda session: session.get_value(value_address("garden.plan")),
    "scan-values": lambda session: session.scan_values(value_address("pi.lane.config")),
    "read-list": lambda session: session.read_list(LOG),
    "scan-branch": lambda session: session.scan_branch("result"),
    "scan-branch-structure": lambda session: session.scan_branch_structure("result"),
    "scan-entries": lambda session: session.scan_entries(),
    "find-entries": lambda session: session.find_entries(type="custom"),
    "find-entry": lambda session: session.find_entry(type="compaction"),
    "scan-usage": lambda session: session.scan_usage(),
    "get-stats": lambda session: session.get_stats(),
    "storage": lambda session: session.storage.scan_entries(),
    "branch": _of_branch,
}


@case("S-VAL-11")
@rows("read", READS)
async def what_was_read_can_be_changed(store: SessionMaker, read: Callable[[Session], Awaitable[Any]]) -> None:
    """What a read returned can be changed without a trace: in the store, in what was read before, and in later reads.

    If this fails, look at: live objects handed out; a cache of decoded rows; statistics that are one object.
    """
    subject = await store.rich_session()
    before = deepcopy(await read(subject.session))
    untouched, spoilt = await read(subject.session), await read(subject.session)
    _spoil(spoilt)
    expect_equal(untouched, before, of="a read made before another one was changed")
    expect_equal(await read(subject.session), before, of="a read made after another one was changed")
    await subject.check_everywhere()


@case("S-VAL-11")
async def what_a_scope_read_can_be_changed(store: SessionMaker) -> None:
    """What a mutation scope read can be changed without a trace in its own later reads and commit.

    If this fails, look at: a snapshot that the scope hands out.
    """
    subject = await store.rich_session()
    scope = await subject.session.begin_mutation()
    for read in ("get-entries", "get-value", "scan-values", "read-list", "scan-branch", "get-stats"):
        before = deepcopy(await READS[read](scope))
        _spoil(await READS[read](scope))
        expect_equal(await READS[read](scope), before, of=f"{read} in the scope")
    await scope.end()
    await subject.check_everywhere()


@case("S-VAL-11")
@rows("read", {name: READS[name] for name in ("get-entry", "get-value", "read-list", "scan-usage")})
async def what_was_read_can_be_changed_and_stored_elsewhere(
    store: SessionMaker, read: Callable[[Session], Awaitable[Any]]
) -> None:
    """What was read, changed and stored at another place is there as it was changed, and the original stays.

    If this fails, look at: rows that share one object; text kept beside the object and not made anew.
    """
    subject = await store.rich_session()
    found = await read(subject.session)
    payload = found[0] if isinstance(found, list) else found
    payload = getattr(payload, "value", payload)
    _spoil(payload)
    await subject.commit(ValueSet(value_address("garden.copy"), payload))
    _spoil(payload)
    await subject.check_everywhere()


@case("S-VAL-11")
async def the_result_of_a_commit_can_be_changed(store: SessionMaker) -> None:
    """The sequences and statistics of a commit's result can be changed without a trace in the store and in later
    results.

    If this fails, look at: the running total handed out as statistics.
    """
    subject = await store.linear_session()
    for number in range(3):
        result = await subject.spend(f"u{number}")
        _spoil(result.stats.usage)
        result.seqs.clear()
        await subject.check()
    await subject.check_everywhere()


@case("S-VAL-11")
@rows("options", branch=BranchFork("main"), tree=TreeFork())
@rows("spoilt", source=True, fork=False)
async def a_fork_shares_no_object_with_its_source(store: SessionMaker, options: ForkOptions, spoilt: bool) -> None:
    """What was read from a source can be changed without a trace in its fork, and the other way round.

    If this fails, look at: a fork that shares live objects with its source.
    """
    source = await store.rich_session()
    read_before = await source.session.scan_entries()
    fork = await source.fork(options)
    read_first = source if spoilt else fork
    _spoil(read_before)
    for namespace in ("pi.lane.config", "pi.entry.label", "garden.plan"):
        _spoil(await read_first.session.scan_values(value_address(namespace)))
    _spoil([await read_first.session.scan_entries(), await read_first.session.read_list(LOG)])
    await fork.check()
    await source.check()


@case("S-VAL-11")
@rows("state", {name: ANY_STATE[name] for name in ("empty", "lanes", "forked", "fork-of-fork", "reopened")})
async def reads_are_isolated_in_forked_and_reopened_sessions(
    store: SessionMaker, state: Callable[[SessionMaker], Awaitable[Subject]]
) -> None:
    """Changing all that can be read from a session changes nothing, in forked and reopened sessions too.

    If this fails, look at: objects shared with a source, or built once on opening.
    """
    subject = await state(store)
    for read in ("scan-entries", "scan-usage", "get-stats"):
        _spoil(await READS[read](subject.session))
    for namespace, key in sorted(subject.model.touched):
        _spoil(await subject.session.read_list(list_address(namespace, key)))
        _spoil(await subject.session.get_value(value_address(namespace, key)))
    await subject.check()
