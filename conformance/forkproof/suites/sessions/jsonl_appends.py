"""How a commit reaches its file: one append call with the whole line, and the state only after it (section 22.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import Fail, FailAfter, Fault, Hit, Operation, Short
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject, records
from forkproof.makers.scenario import Scenario
from forkproof.suites.sessions.committing import all_six
from forkproof.suites.sessions.racing import all_end, yardstick
from forkproof.suites.sessions.spelled_files import last_line
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.files import FileErrorCode
from forkstore.contract.forks import TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

T = TypeVar("T")
PLAN, LOG = value_address("garden.plan"), list_address("garden.log")
SPIED = ("spy-files", "raw-files", "raw-commit")
FAULTED = (*SPIED, "fault-injection")


async def _expect_one_append(subject: Subject, commit: Callable[[], Awaitable[object]]) -> None:
    """The commit makes one changing file call, an append of one whole line to the session's file; what stood there
    stays.
    """
    files, path = subject.store.files, subject.store.path_of(subject)
    before = path.read_bytes()
    files.forget()
    await commit()
    changes, line = files.changes(), last_line(path)
    expect_equal([call.name for call in changes], ["append_file"], of="the calls that change a file")
    expect_equal(changes[0].path, str(path), of="the path of the call")
    expect_equal(changes[0].size, len(line), of="the bytes that the call was given")
    expect(path.read_bytes() == before + line, "expected: the file as it was, and one line\nseen:     other bytes")


WRITES: dict[str, list[Write]] = {
    "one": [ValueSet(PLAN, "früh")],
    "all-six": all_six("a"),
    "below-64-kib": [ValueSet(PLAN, "x" * (64 * 1024 - 200))],
    "above-64-kib": [ValueSet(PLAN, "ü" * 64 * 1024)],
    "four-mebibytes": [EntryInsert(records.message_entry("large", None, "水🌱" * 600_000))],
    "many": [ListAppend(LOG, number) for number in range(10_001)],
}


@case("S-JSONL-FMT-15", needs=SPIED)
@rows("writes", WRITES)
async def a_commit_is_one_append_call(store: SessionMaker, writes: list[Write]) -> None:
    """A commit, small or large, hands its whole line, the LF included, to one append call, and changes nothing else: in
    a created, a reopened and a forked session.

    If this fails, look at: a call for each write; the LF in a call of its own; large lines in pieces; a file that is
    written anew.
    """
    subject = await store.linear_session(1)
    await _expect_one_append(subject, lambda: subject.session.storage.commit(writes))
    await subject.reopen()
    await _expect_one_append(subject, lambda: subject.session.storage.commit([ValueSet(PLAN, 1)]))
    fork = store.subject(await store.repo.fork(subject.metadata, TreeFork()), subject.model)
    await _expect_one_append(fork, lambda: fork.session.storage.commit([ListAppend(LOG, "ü" * 40_000)]))


WRITERS: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "scope": lambda subject: subject.session.mutate(lambda scope: scope.commit(all_six("a"))),
    "set-value": lambda subject: subject.session.set_value(PLAN, 1),
    "append-list": lambda subject: subject.session.append_list(LOG, 1),
    "delete-list": lambda subject: subject.session.delete_list(LOG),
    "set-name": lambda subject: subject.session.set_name("früh"),
    "create-branch": lambda subject: subject.session.create_branch("side", "e1"),
    "append-message": lambda subject: subject.append_message("main", records.user_message("früh")),
}


@case("S-JSONL-FMT-15", needs=SPIED)
@rows("writer", WRITERS)
async def a_writer_of_the_session_makes_one_append_call(
    store: SessionMaker, writer: Callable[[Subject], Awaitable[object]]
) -> None:
    """Every writer of a session makes one append call, with one line.

    If this fails, look at: a tip that is appended behind its entry; a name that is kept elsewhere.
    """
    subject = await store.linear_session(1)
    await _expect_one_append(subject, lambda: writer(subject))


@case("S-JSONL-FMT-15", needs=SPIED)
@rows("seed", one=1, two=2)
async def no_earlier_byte_ever_changes(store: SessionMaker, seed: int) -> None:
    """In a long life of sessions (commits, branches, forks, closing and opening) a file only ever grows, and stays the
    same file.

    If this fails, look at: compaction on closing; a header with a time of last use; a list that is written anew by a
    delete.
    """
    scenario, known = Scenario(store, seed), dict[Path, tuple[bytes, int]]()
    for _ in range(120):
        await scenario.step()
        there = {store.path_of(one) for one in (*scenario.opened, *scenario.closed)}
        for path in there:
            data, node = path.read_bytes(), path.stat().st_ino
            before, was = known.get(path, (b"", node))
            expect(data.startswith(before), f"expected: {path.name} begins with what it held\nseen:     other bytes")
            expect_equal(node, was, of=f"the inode of {path.name}")
            known[path] = data, node
        known = {path: held for path, held in known.items() if path in there}


@dataclass(frozen=True)
class _Held(Fault):
    """Holds an operation back until it is let go."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        self.begun.set()
        await self.go.wait()
        return await operation.do()


@case("S-JSONL-FMT-15", needs=FAULTED)
async def the_state_waits_for_the_append(store: SessionMaker) -> None:
    """While the append call of a commit runs, reads show the session without it; when the call has succeeded, they show
    it whole. A commit behind it waits.

    If this fails, look at: a state that changes before the file; statistics or the tip changed first; an append that
    nobody waits for.
    """
    lay, subject = await yardstick(store), await store.linear_session(2)
    old = await subject.state()
    held = _Held()
    store.faults.arm(held, names={"append_file"}, paths=f"*{store.path_of(subject).name}")
    first = asyncio.create_task(subject.raw_commit(*all_six("a", "e1")))
    second = asyncio.create_task(subject.raw_commit(ValueSet(PLAN, "behind it")))
    begun = asyncio.create_task(held.begun.wait())
    await asyncio.wait([first, begun], return_when=asyncio.FIRST_COMPLETED)
    begun.cancel()
    expect(not first.done(), "expected: the commit waits for its append call\nseen:     it has ended before")
    reading = asyncio.create_task(subject.state())
    # A read that itself waits for the commit is right too; it is then judged by what it shows in the end.
    if await all_end([reading], lay):
        expect_equal(reading.result(), old, of="the session while the line of a commit is being appended")
    expect(not second.done(), "expected: the commit behind it waits\nseen:     it has ended before")
    held.go.set()
    await first
    await second
    await reading
    await subject.check("the session after both appends")


CODES: tuple[FileErrorCode, ...] = (
    "not_found",
    "permission_denied",
    "not_directory",
    "is_directory",
    "invalid",
    "not_supported",
    "no_space",
    "exists",
    "unknown",
)
FAULTS: dict[str, Fault] = {
    **{code: Fail(code) for code in CODES},
    "nothing-written": Short(share=0),
    "half-written": Short(share=0.5),
    "all-written": Short(share=1),
    "too-late": FailAfter("unknown"),
}


def _refusals(fault: Fault) -> tuple[str, ...]:
    """The errors that a commit may raise for the fault: a file that is not there was taken away by someone else."""
    is_gone = isinstance(fault, Fail) and fault.code in ("not_found", "not_directory", "is_directory")
    return ("StoreIOError", "SessionFileChanged") if is_gone else ("StoreIOError",)


@case("S-JSONL-FMT-15", needs=FAULTED)
@rows("fault", FAULTS)
async def a_failed_append_changes_no_state(store: SessionMaker, fault: Fault) -> None:
    """A commit whose append call fails, before, in the middle or after its work, raises `StoreIOError`, and entries,
    tip, ledger, statistics, scalars, lists and the next sequence are as before; so they stay when another commit is
    tried.

    If this fails, look at: a state that is changed first and not put back; ids that count as used; a line that is taken
    from the file again.
    """
    subject = await store.rich_session()
    seq = subject.model.next_seq
    for door in (subject.session.storage.commit, lambda writes: subject.session.mutate(lambda s: s.commit(writes))):
        store.faults.arm(fault, names={"append_file"})
        failed = await ended(door(all_six("failed", "tip")))
        expect(
            failed.word in _refusals(fault), f"expected: StoreIOError from the failed append\nseen:     {failed.word}"
        )
        expect(store.faults.hit is not None, "expected: the commit makes an append call\nseen:     none")
        await subject.check("the session after the failed commit")
        store.faults.disarm()
        again = await ended(subject.raw_commit(*all_six(f"later-{seq}", "tip")))
        if again.word in _refusals(fault):
            await subject.check("the session that refuses further commits")
            return
        expect_equal(again.word, "returned", of="the commit after the failed one")
        expect_equal(again.value.first_seq, seq, of="its first sequence")
        await subject.check("the session after the commit that succeeded")
        seq = subject.model.next_seq
