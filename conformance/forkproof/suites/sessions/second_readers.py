"""What others see of a store's files: a second process, a second writer, and who comes after a killed process
(S-FORK-DST-12, S-FORK-EQ-03, S-FORK-FAIL-09, S-JSONL-FMT-15, S-JSONL-FMT-16).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.clocks import START
from forkproof.instruments.kill import Play, Point, killed
from forkproof.instruments.kill_child import KillStage
from forkproof.instruments.racing import Ended, ended
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import message_entry
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.file_names import file_name
from forkproof.suites.sessions.forking import forked, from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.turnstiles import Turnstile
from forkstore.contract.addresses import entry_label, list_address, session_name, value_address
from forkstore.contract.errors import SessionFileChanged
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, ValueSet

LARGE, HUGE = 300_000, 4_000_000
"""Characters of a large record: far more than any buffer or pipe takes at once; and of one that takes time to write."""


@case("S-FORK-DST-12")
@in_both_scopes
@from_open_and_closed
async def a_second_process_reads_the_whole_fork(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """When `fork` returns, a second process that opens the destination reads all of it, while it is open here.

    If this fails, look at: a last batch, or all of it, that is written later; rows that live in the memory of the
    process that forked.
    """
    fork = await forked(await store.rich_session(id="source"), options, source_is)
    await store.check_in_second_process(fork)
    await fork.check("the fork, which was read by another process")


@case("S-FORK-DST-12")
async def a_second_process_reads_a_large_fork(store: SessionMaker) -> None:
    """When the fork of a source of several batches returns, a second process reads every entry of it, and the first
    commit behind it too.

    If this fails, look at: a batch that is still on its way; a destination that is opened before it is whole.
    """
    source = await store.large_session(2_300, id="source")
    fork = await source.fork(BranchFork("main"))
    await fork.append("main", "the first commit of the fork")
    await store.check_in_second_process(fork)


STEPS: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "entries": lambda s: s.append("main", "水をやる 🌱\u2028\x00"),
    "rows": lambda s: s.commit(
        ValueSet(session_name(), "Garten"), ValueSet(entry_label("first"), "früh"), ValueSet(value_address("a"), None)
    ),
    "lists": lambda s: s.commit(
        *(ListAppend(list_address("log"), n) for n in (1, 1.5)),
        ListDelete(list_address("log")),
        ListAppend(list_address("log"), 2),
    ),
    "spending": lambda s: s.spend("usage-1", "first", details={"why": None}),
    "tip-moved-back": lambda s: s.set_tip("main", "first"),
}


@case("S-FORK-EQ-03", needs=("raw-files",))
@rows("step", STEPS)
async def a_second_process_agrees_after_every_step(
    store: SessionMaker, step: Callable[[Subject], Awaitable[object]]
) -> None:
    """After a step the open session, a second process and the reopened session show the same logical state, for the
    session and for a fork of it.

    If this fails, look at: what is acknowledged and not yet in the file; a view in memory that is right where the file
    is not.
    """
    subject = await store.create("source")
    await subject.configure("main")
    await subject.append("main", id="first")
    await step(subject)
    await subject.check("the open session")
    fork = await subject.fork(TreeFork())
    await store.check_in_second_process(subject, fork)
    await store.check_each(fork, subject)


@case("S-FORK-EQ-03", needs=("raw-files",))
@in_both_scopes
async def a_reopened_source_is_forked_as_before(store: SessionMaker, options: ForkOptions) -> None:
    """A source that was closed, opened again and written is forked to the same state that a second process reads.

    If this fails, look at: a boundary that is kept from the first time; sequences that begin anew on opening.
    """
    source = await store.labelled_session(id="source")
    await source.reopen()
    await source.append("main", "after opening it again")
    fork = await source.fork(options)
    await fork.check("the fork of a source that was opened again")
    await store.check_in_second_process(fork)


def _left_over(name: str) -> dict[str, bytes]:
    """Temporary files of a publication of that file, as a killed process leaves them: by name."""
    whole = small_file(id="left-over")
    contents = {
        "0123456789abcdef": b"",
        "ffffffffffffffff": whole[:40],
        "00000000000000aa": whole,
        "a" * 16: whole[:-9],
    }
    return {f"{name}.{random}.tmp": data for random, data in contents.items()}


@case("S-FORK-FAIL-09", needs=("raw-files", "clock"), kinds=("jsonl",))
async def left_over_files_are_not_in_the_way(store: SessionMaker) -> None:
    """Temporary files of killed creates, forks and repairs are not listed, and do not keep the same sessions from being
    created, forked, opened, repaired and deleted.

    If this fails, look at: a list that looks for `.jsonl` anywhere in a name; a temporary name that is not random; an
    id that is taken by whatever begins with it.
    """
    torn = await store.torn_tail_session(id="torn")
    names = [file_name(START, id) for id in ("created", "forked", "branch")] + [store.path_of(torn).name]
    for name in names:
        for leftover, data in _left_over(name).items():
            await store.plant(data, name=leftover)
    expect_equal(await store.listed_ids(), ["torn"], of="the sessions that are listed beside files that were left over")
    forks = [await torn.fork(TreeFork(id="forked")), await torn.fork(BranchFork("main", id="branch"))]
    await torn.open()
    created = await store.create("created")
    await store.check_each(torn, created, *forks)
    await store.assert_only_known_sessions(torn, created, *forks)
    for subject in (torn, created, *forks):
        await store.repo.delete(subject.metadata)
    expect_equal(await store.listed_ids(), [], of="the sessions that are listed when all were deleted")


async def _writes_a_large_entry(stage: KillStage) -> None:
    """What the second process does: opens the session, commits one large entry, and closes."""
    session = await stage.repo.open(SessionMetadata(**stage.arguments["metadata"]))
    result = await session.storage.commit([EntryInsert(message_entry("theirs", None, "x" * LARGE))])
    stage.acknowledged(result.first_seq)
    await session.close()


@case("S-JSONL-FMT-16", needs=("raw-files", "fault-injection", "raw-commit"))
async def a_file_that_another_process_wrote_takes_no_commit(store: SessionMaker) -> None:
    """A commit on a session to whose file a second process has added a large record raises `SessionFileChanged`, then
    and ever after; the other's record stays whole, and is there when the session is opened again.

    If this fails, look at: a size that is not compared; a sequence that is given twice; a repair that cuts the other's
    line off.
    """
    subject = await store.linear_session(id="walk")
    path = store.path_of(subject)
    before = path.read_bytes()
    run = await killed(Play(store.harness, _writes_a_large_entry, {"metadata": asdict(subject.metadata)}), Point())
    expect_equal(len(run.acknowledged), 1, of="commits that the second process made")
    with ByteGuard(path, root=store.root, of="the file that both have written"):
        for _ in range(2):
            with refused(SessionFileChanged, path=str(path)):
                await subject.session.set_name("ours")
        await subject.check("the open session whose file has grown")
        await subject.close()
    expect(path.read_bytes().startswith(before), "expected: every earlier byte as it was\nseen:     other bytes")
    theirs = lines_of(path).records[-1]
    expect_equal((theirs["id"], theirs["seq"]), ("theirs", run.acknowledged[0]), of="the last record of the file")
    await subject.open()
    entry = await subject.session.get_entry("theirs") or {}
    expect_equal(entry.get("seq"), run.acknowledged[0], of="the sequence of the other's entry after opening")


@case("S-JSONL-FMT-15", needs=("raw-files", "raw-commit", "fault-injection"))
async def lines_of_two_writers_do_not_mix(store: SessionMaker) -> None:
    """Two store objects that write a large record each to one file at the same moment: whatever was acknowledged stands
    there on a line of its own, whole; what was refused does not; and no earlier byte has changed.

    If this fails, look at: a line that is written in pieces; a place to write that was looked up before; a file that is
    written anew for every commit.
    """
    other = await store.open_second_repo()
    for number in range(4):
        subject = await store.linear_session(id=f"walk-{number}")
        twin = await other.open(subject.metadata)
        path, entries = store.path_of(subject), [message_entry(id, "e4", id[0] * HUGE) for id in ("ours", "theirs")]
        before = path.read_bytes()
        storages = (subject.session.storage, twin.storage)
        endings = await _at_the_same_moment(
            store, [one.commit([EntryInsert(e)]) for one, e in zip(storages, entries, strict=True)]
        )
        expect(path.read_bytes().startswith(before), "expected: every earlier byte as it was\nseen:     other bytes")
        seen = sorted(record["id"] for record in lines_of(path).records[-2:] if record.get("id") in ("ours", "theirs"))
        acknowledged = [e["id"] for e, ending in zip(entries, endings, strict=True) if ending.error is None]
        expect_equal(seen, sorted(acknowledged), of="the large records in the file, of those that were acknowledged")
        refusals = {ending.word for ending in endings} - {"returned", "SessionFileChanged"}
        expect_equal(refusals, set(), of="other ways in which the commits ended")
        await twin.close()
        await subject.close()


async def _at_the_same_moment(store: SessionMaker, commits: list[Awaitable[object]]) -> list[Ended]:
    """The endings of commits of which each is held before it writes, until all are, or have ended."""
    turnstile = Turnstile()
    store.faults.arm(turnstile, names={"append_file", "write_file"})
    tasks = [asyncio.ensure_future(ended(commit)) for commit in commits]
    try:
        for task in tasks:
            await turnstile.arrival_or_end(task)
    finally:
        store.faults.disarm()
        turnstile.push(100)
    return [await task for task in tasks]
