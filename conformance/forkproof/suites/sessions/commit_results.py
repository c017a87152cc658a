"""What a commit gives back: empty commits and the results of full ones (section 5: S-TXN-13, 14)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.states import ANY_STATE
from forkproof.suites.sessions.committing import LIST, SMALL_STATES, VALUE, all_six, expect_numbered
from forkstore.contract.addresses import branch_tip
from forkstore.contract.writes import ValueSet


@case("S-TXN-13", needs=())
@rows("state", SMALL_STATES)
async def an_empty_commit_uses_no_sequence(store: SessionMaker, state: str) -> None:
    """An empty commit succeeds, tells the next sequence, the time and the statistics, and uses up no sequence; two in
    a row tell the same.

    If this fails, look at: an empty list refused; a first_seq of 0 or None; a counter that moves on each commit.
    """
    subject = await ANY_STATE[state](store)
    next_seq = (await subject.commit(ValueSet(VALUE, 1))).seqs[-1] + 1
    for number in range(2):
        result = await subject.commit()
        expect_numbered(result, next_seq, 0)
        expect_equal(type(result.timestamp), int, of=f"the type of the timestamp of empty commit {number}")
        expect_equal(result.stats, await subject.session.get_stats(), of=f"the statistics of empty commit {number}")
    expect_numbered(await subject.commit(ValueSet(VALUE, 2)), next_seq, 1)
    await subject.check_everywhere()


@case("S-TXN-13", needs=("raw-commit",))
async def an_empty_commit_of_the_storage_uses_no_sequence(store: SessionMaker) -> None:
    """On a created session an empty commit of the storage tells 1 as next sequence and changes nothing, also after
    reopening.

    If this fails, look at: a first commit that has to hold a write.
    """
    subject = await store.create()
    expect_numbered(await subject.raw_commit(), 1, 0)
    await subject.reopen()
    expect_numbered(await subject.raw_commit(), 1, 0)
    await subject.check_everywhere()


async def _stored_sequences(subject: Subject, prefix: str) -> dict[int, int]:
    """The stored sequence of each write of `all_six` that left a row, by its index."""
    entries = {entry["id"]: entry["seq"] for entry in await subject.session.scan_entries()}
    usage = {row["id"]: row["seq"] for row in await subject.session.scan_usage()}
    value = await subject.session.get_value(VALUE)
    tip = await subject.session.get_value(branch_tip("from-commit"))
    (element,) = await subject.session.read_list(LIST)
    seen: dict[int, Any] = {
        1: entries[f"{prefix}-entry"],
        2: value and value.seq,
        3: usage[f"{prefix}-usage"],
        4: element.seq,
        6: entries[f"{prefix}-custom"],
        7: tip and tip.seq,
    }
    return seen


@case("S-TXN-14", needs=())
@rows("state", SMALL_STATES)
async def a_result_tells_the_sequence_of_each_write(store: SessionMaker, state: str) -> None:
    """`seqs[i]` is the sequence that the row of write i carries, and `stats` is what `get_stats` gives right after.

    If this fails, look at: rows numbered in another order than the result; statistics read before the commit; usage
    rows left out of them.
    """
    subject = await ANY_STATE[state](store)
    result = await subject.commit(*all_six("first"))
    expect_equal(result.stats, await subject.session.get_stats(), of="the statistics of the result")
    expected = {index: result.seqs[index] for index in (1, 2, 3, 4, 6, 7)}
    expect_equal(await _stored_sequences(subject, "first"), expected, of="the stored sequences, by write")


@case("S-TXN-14", needs=())
async def the_statistics_of_a_result_stay_as_they_were(store: SessionMaker) -> None:
    """The statistics of a result are those after its own commit; later commits do not change them.

    If this fails, look at: a result that refers to the live counters.
    """
    subject = await store.bushy_session()
    results, seen = [], []
    for number in range(3):
        results.append(await subject.commit(*all_six(f"c{number}")))
        stats = await subject.session.get_stats()
        seen.append((stats.message_count, dict(stats.usage)))
    later = [(result.stats.message_count, dict(result.stats.usage)) for result in results]
    expect_equal(later, seen, of="the statistics of the three results, looked at last")
    await subject.check_everywhere()
