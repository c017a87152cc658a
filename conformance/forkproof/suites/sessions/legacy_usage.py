"""The statistics of a session that is still v3, which has no ledger (S-V3-15, S-V3-16)."""

from __future__ import annotations

from typing import Any

from forkgen.legacy import LegacyFile
from forkgen.legacy.outcome import entry, fresh, opens, tip
from forkgen.legacy.records import assistant_message, id_of, record, time_of, user, user_message
from forkgen.legacy.summaries import compacted, compaction
from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker
from forkproof.oracle.ledger import COSTS, REQUIRED, summed
from forkproof.suites.sessions.legacy_judging import expect_opens, opened, opening, planted
from forkproof.suites.sessions.legacy_own_files import RICH

Record = dict[str, Any]


def _result(number: int, usage: Record) -> Record:
    """A tool's answer with its spending."""
    message = {"role": "toolResult", "toolCallId": "c", "toolName": "saw", "content": [], "isError": False}
    return {**message, "usage": usage, "timestamp": time_of(number)}


def _whole(by: float) -> Record:
    """A usage object with another number in each place; the fractions add up the same in every order."""
    numbers = {name: int(by) * number for number, name in enumerate(REQUIRED, 1)}
    cost = {name: by * number / 64 for number, name in enumerate(COSTS, 1)}
    return {**numbers, "cost": cost, "cacheWrite1h": int(by), "reasoning": int(by) + 1}


def _spending(name: str, answer: Record, result: Record, compacting: Record, summary: Record) -> LegacyFile:
    """Four records that spend: an answer at the root, and a result, a compaction and a summary beside each other; the
    tip is a fifth that spends nothing, so that each of them is off the path but the answer.
    """
    answered, told = assistant_message(1, answer), _result(2, result)
    records = [
        record(1, "message", None, message=answered),
        record(2, "message", 1, message=told),
        compaction(3, 1, 1, usage=compacting),
        record(4, "branch_summary", 1, fromId=id_of(2), summary="a", usage=summary),
        user(5, 1),
    ]
    entries = [
        entry(1, 1, None, "message", message=answered),
        entry(2, 2, 1, "message", message=told),
        compacted(3, 3, 1, [answered], usage=compacting),
        entry(4, 4, 1, "branch_summary", fromId=fresh(2), summary="a", fromHook=False, usage=summary),
        entry(5, 5, 1, "message", message=user_message(5)),
    ]
    ledger = [{"usage": _filled(usage)} for usage in (answer, result, compacting, summary)]
    return opens(name, records, entries, [tip(5)], "S-V3-15 S-V3-16", summed(ledger))


def _filled(usage: Record) -> Record:
    """The usage object with 0 for every number that it lacks."""
    cost = {name: usage.get("cost", {}).get(name, 0) for name in COSTS}
    optional: Record = {name: usage[name] for name in ("cacheWrite1h", "reasoning") if name in usage}
    return {**{name: usage.get(name, 0) for name in REQUIRED}, "cost": cost, **optional}


def _without(usage: Record, place: str) -> Record:
    """The usage object without one of its numbers, or without its costs."""
    inside = place.removeprefix("cost-")
    if inside == place:
        return {name: value for name, value in usage.items() if name != place}
    return {**usage, "cost": {name: value for name, value in usage["cost"].items() if name != inside}}


PLACES = (*REQUIRED, "cost", *(f"cost-{name}" for name in COSTS), "cacheWrite1h", "reasoning")
USAGES = tuple(_whole(by) for by in (1, 8, 64, 512))
LACKING = {
    place: _spending(f"usage-without-{place}", *(_without(usage, place) for usage in USAGES)) for place in PLACES
}
SPENDERS = ("answer", "result", "compaction", "summary")
LACKING_ONCE = {
    who: _spending(
        f"no-usage-in-the-{who}",
        *({} if name == who else usage for name, usage in zip(SPENDERS, USAGES, strict=True)),
    )
    for who in SPENDERS
}
SPENT = {**opening("S-V3-15"), "four-spenders": _spending("four-spenders", *USAGES), "rich-lane": RICH}


@case("S-V3-15")
@rows("file", SPENT)
async def the_usage_of_a_v3_session_is_that_of_its_records(store: SessionMaker, file: LegacyFile) -> None:
    """While a session is still v3, the usage in its statistics is the sum over the assistant messages, tool results,
    compactions and branch summaries of the whole file, those off the path of `main` too, and over nothing else; its
    ledger is empty.

    If this fails, look at: the sum over the path; usage of user messages, custom entries or retained tails that counts;
    tool results left out; rows made for the ledger already.
    """
    await expect_opens(store, file)


@case("S-V3-15")
async def the_ledger_of_a_v3_session_is_empty(store: SessionMaker) -> None:
    """The ledger is empty in every reading, and the statistics are those of the file however they are asked for: by the
    session, by a scope and by the result of an empty commit, again after it was closed and opened.

    If this fails, look at: a usage row that is there before the upgrade; statistics of the storage and of the session
    that are counted apart; a sum that is handed out itself, so that its receiver can change it.
    """
    session = planted(store, SPENT["four-spenders"])
    for _ in range(2):
        subject = await opened(session)
        for order in ("asc", "desc"):
            expect_equal(await subject.session.scan_usage(order=order), [], of=f"the ledger, {order}")
        scope = await subject.session.begin_mutation()
        asked = [await subject.session.get_stats(), await scope.get_stats(), (await scope.commit([])).stats]
        await scope.end()
        expected = (subject.model.state().message_count, subject.model.state().usage)
        expect_equal([(one.message_count, one.usage) for one in asked], [expected] * 3, of="the statistics")
        for one in asked:
            one.usage["input"] = one.usage["cost"]["input"] = -1
        await subject.check("the session after the statistics that it gave were written to")
        await subject.close()


@case("S-V3-16")
@rows("file", {**opening("S-V3-16"), **LACKING, **LACKING_ONCE})
async def a_missing_number_counts_as_0(store: SessionMaker, file: LegacyFile) -> None:
    """A number that is missing in imported usage counts as 0, any of them, and the costs as a whole; an optional number
    that no record has is absent from the sum.

    If this fails, look at: a record without all numbers that is left out whole; a file that is refused for it; optional
    numbers that are always there.
    """
    await expect_opens(store, file)
