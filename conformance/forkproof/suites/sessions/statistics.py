"""The statistics: messages counted, usage summed (sections 3.3, 3.5)."""

from __future__ import annotations

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import (
    Record,
    branch_summary_entry,
    compaction_entry,
    custom_entry,
    message_entry,
    usage_row,
)
from forkproof.oracle.ledger import COSTS, REQUIRED, summed, zero_usage
from forkstore.contract.errors import DuplicateId, InvalidValue
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, UsageInsert


@case("S-ENT-09", needs=())
async def only_messages_count(store: SessionMaker) -> None:
    """`message_count` counts the entries of type `message`, whatever their role and wherever they stand, and no other
    type.

    If this fails, look at: a count of all entries; compactions counted by their retained tail; messages of tools left
    out; a count of what tips reach.
    """
    subject = await store.linear_session(7)
    expected = 6
    for entry in (compaction_entry("c", "e7"), branch_summary_entry("b", "e1"), custom_entry("x", None, "message")):
        await subject.insert(entry)
    expect_equal((await subject.session.get_stats()).message_count, expected, of="the message count")
    result = await subject.insert(message_entry("m1", None), custom_entry("y", "m1"), message_entry("m2", "m1"))
    expect_equal(result.stats.message_count, expected + 2, of="the message count in the result of a commit")
    await subject.check_everywhere()


@case("S-ENT-09", needs=())
async def refused_messages_do_not_count(store: SessionMaker) -> None:
    """The messages of a refused commit do not count, neither at once nor in the next commit.

    If this fails, look at: a counter that is raised before the checks.
    """
    subject = await store.linear_session()
    with refused(DuplicateId):
        await subject.insert(message_entry("m1", None), message_entry("m2", None), message_entry("e1", None))
    await subject.check()
    await subject.insert(message_entry("m1", None))
    await subject.check_everywhere()


@case("S-ENT-09", needs=())
@in_any_state
async def the_message_count_follows_in_any_state(subject: Subject) -> None:
    """In any state, forks and reopened sessions included, one more message counts one and a custom entry none.

    If this fails, look at: a counter that a fork or an opening starts anew.
    """
    before = (await subject.session.get_stats()).message_count
    stored = await subject.session.scan_entries(type="message")
    expect_equal(before, len(stored), of="the message count against the stored messages")
    await subject.insert(message_entry("m1", None), custom_entry("x1", "m1"))
    after = (await subject.session.get_stats()).message_count
    expect_equal(after, before + 1, of="the message count after one more message")


def _of(amount: float, **optional: float) -> Record:
    """A usage object with `amount` everywhere."""
    numbers: Record = dict.fromkeys(REQUIRED, amount)
    return {**numbers, "cost": dict.fromkeys(COSTS, amount), **optional}


LEDGERS: dict[str, list[Record]] = {
    "integers": [_of(1), _of(20), _of(300)],
    "fractions": [_of(0.1), _of(0.2), _of(0.3), _of(0.7)],
    "order-matters": [_of(1e16), _of(1.0), _of(1.0), _of(-1e16)],
    "order-matters-reversed": [_of(-1e16), _of(1e16), _of(1.0), _of(1.0)],
    "integers-beyond-floats": [_of(2**53), _of(1), _of(2**60 + 1)],
    "mixed": [_of(1), _of(0.5), _of(2)],
    "negative": [_of(10), _of(-4), _of(-7)],
    "zeros": [_of(0), _of(0.0)],
    "optional-first": [_of(1, reasoning=5), _of(1)],
    "optional-last": [_of(1), _of(1, cacheWrite1h=5)],
    "optional-zero": [_of(1), _of(1, reasoning=0), _of(1)],
    "optional-both": [_of(1, reasoning=1), _of(1, cacheWrite1h=2), _of(1, reasoning=3, cacheWrite1h=0.5)],
}


@case("S-ENT-10", needs=())
@rows("ledger", LEDGERS)
@rows("together", one_commit=True, a_commit_each=False)
async def the_usage_is_the_sum_of_the_ledger(store: SessionMaker, ledger: list[Record], together: bool) -> None:
    """The statistics hold the field-by-field sum over the ledger in commit order, in the result of the commit, live
    and after reopening; an optional number appears only if a row has it.

    If this fails, look at: sums in floats; a sum in another order after reopening; optional numbers that are always
    there, or lost when a later row lacks them; adjustments left out.
    """
    subject = await store.linear_session()
    rows = [usage_row(f"u{n}", usage=numbers, adjustment=bool(n % 2)) for n, numbers in enumerate(ledger)]
    for start in range(0, len(rows), len(rows) if together else 1):
        batch = rows[start : start + len(rows)] if together else rows[start : start + 1]
        result = await subject.commit(*(UsageInsert(row) for row in batch))
        expected = summed(rows[: start + len(batch)])
        expect_equal(result.stats.usage, expected, of="the usage in the result of the commit")
    expect_equal((await subject.session.get_stats()).usage, summed(rows), of="the usage, live")
    await subject.reopen()
    expect_equal((await subject.session.get_stats()).usage, summed(rows), of="the usage after reopening")


@case("S-ENT-10", needs=())
async def the_order_of_ids_is_not_the_order_of_the_sum(store: SessionMaker) -> None:
    """The sum follows the order of the commits, not that of the ids or of other writes between them.

    If this fails, look at: a sum over rows that are read by id.
    """
    subject = await store.create()
    for id, amount in (("z", 1.0), ("m", 1e16), ("a", -1e16)):
        await subject.commit(
            EntryInsert(custom_entry(f"entry-{id}", None)), UsageInsert(usage_row(id, usage=_of(amount)))
        )
    await subject.check_everywhere()


@case("S-ENT-10", needs=())
async def a_refused_usage_row_is_not_summed(store: SessionMaker) -> None:
    """The usage rows of a refused commit are not in the sum.

    If this fails, look at: a total that is raised before the checks.
    """
    subject = await store.linear_session()
    await subject.spend("u1")
    with refused(DuplicateId):
        await subject.commit(UsageInsert(usage_row("u2")), UsageInsert(usage_row("u1")))
    await subject.check()
    await subject.spend("u2")
    await subject.check_everywhere()


async def _expect_zero(subject: Subject, of: str) -> None:
    expect_equal((await subject.session.get_stats()).usage, zero_usage(), of=of, ordered=True)


@case("S-ENT-11")
async def an_empty_ledger_sums_to_the_zero_object(store: SessionMaker) -> None:
    """Without usage rows the usage is the zero object, its members in the contract's order, whatever else is stored.

    If this fails, look at: None or an empty object; optional numbers; numbers that are 0.0; a usage object inside a
    message or a compaction counted as spending.
    """
    subject = await store.create()
    await _expect_zero(subject, "the usage of a new session")
    await subject.append("main", entry=compaction_entry("c", None))
    with refused(InvalidValue):
        await subject.spend("u1", usage={"input": 1})
    await _expect_zero(subject, "the usage of a session with entries only")
    await subject.reopen()
    await _expect_zero(subject, "the usage of the reopened session")


@case("S-ENT-11")
@rows("options", branch=BranchFork("main"), tree=TreeFork())
@rows("closes", open_source=False, closed_source=True)
async def a_fork_starts_with_the_zero_object(store: SessionMaker, options: BranchFork | TreeFork, closes: bool) -> None:
    """A fork of a session that has spent something starts with an empty ledger and the zero object.

    If this fails, look at: statistics copied with the session.
    """
    source = await store.rich_session()
    if closes:
        await source.close()
    fork = await source.fork(options)
    expect_equal(await fork.session.scan_usage(), [], of="the ledger of the fork")
    await _expect_zero(fork, "the usage of the fork")
    await fork.reopen()
    await _expect_zero(fork, "the usage of the reopened fork")
