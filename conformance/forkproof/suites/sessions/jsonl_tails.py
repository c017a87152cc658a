"""Torn tails: a file that ends in the middle of its last line (section 23)."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forkgen.damage import Damaged, Verdict
from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.damage_verdicts import MARK, UnderDamage, each
from forkproof.suites.sessions.spelled_files import element, header, line, scalar, stored
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import CorruptSession, ForeignSession
from forkstore.contract.forks import BranchFork
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

PLAN = value_address("garden.plan", "beds")
HALVES = {"even": 0, "odd": 1}
"""Long rows of damages are judged in two cases: every other one, from the first and from the second on."""
TAIL = '{"kind":"value","op":"set","seq":900,"namespace":"garden.plan","key":"","value":"frü'.encode()


def _last_writes(parent: str | None) -> list[Write]:
    """A transaction that leaves a trace everywhere, with letters of several bytes and numbers at its end."""
    return [
        EntryInsert(records.custom_entry("last", parent, data="früh 水をやる 🌱")),
        ValueSet(branch_tip("main"), "last"),
        ListAppend(list_address("garden.log"), -12.625),
    ]


@dataclass(frozen=True, eq=False)
class OwnFile:
    """A closed session of the store's own: its file, and the model before its last transaction."""

    subject: Subject
    before: SessionModel
    path: Path
    whole: bytes
    kept: int
    """Bytes in front of the last line."""
    seq: int
    """The first sequence of the last line."""

    @classmethod
    async def of(cls, subject: Subject, *writes: Write) -> OwnFile:
        """Commits the last transaction and closes the session."""
        before = copy.deepcopy(subject.model)
        result = await subject.commit(*writes)
        before.look_at(subject.model.touched)
        await subject.close()
        path = subject.store.path_of(subject)
        data = path.read_bytes()
        return cls(subject, before, path, data, data.rindex(b"\n", 0, -1) + 1, result.first_seq)

    async def open_torn(self, at: int) -> None:
        """Opens the file, cut at the byte, as a session with the model of before."""
        self.subject.store.raw.replace(self.path, self.whole[:at])
        await self.subject.open()
        self.subject.model = copy.deepcopy(self.before)


async def _forked(store: SessionMaker) -> Subject:
    return await (await store.linear_session(2, id="source")).fork(BranchFork("main"))


Made = Callable[[SessionMaker], Awaitable[Subject]]
MADE: dict[str, Made] = {"empty": lambda store: store.empty_session(), "forked": _forked}


@case("S-JSONL-TAIL-01")
@rows("good", rich="rich", letters="letters", numbers="numbers", bare="bare")
@rows("start", HALVES)
async def whatever_is_behind_the_last_lf_is_dropped(store: SessionMaker, good: str, start: int) -> None:
    """For every byte at which the last line can be cut, inside a letter, a number or an escape too, and where nothing
    but the LF is missing, `open` gives the state before that transaction; so it does for any other bytes behind the
    last LF.

    If this fails, look at: a rest that is complete JSON taken for a transaction; a cut inside a letter taken for
    corruption; half of a transaction applied.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-TAIL-01", "S-JSONL-TAIL-02")[start::2], file.expect_state)


@case("S-JSONL-TAIL-01")
async def a_store_drops_the_torn_line_of_its_own_file(store: SessionMaker) -> None:
    """The last line of a file that the store itself has written, cut at every byte, is dropped whole: entries, tip,
    ledger, statistics, scalars and lists are as they were before it.

    If this fails, look at: written lines that are complete before their last byte; transactions spread over lines.
    """
    subject = await _forked(store)
    file = await OwnFile.of(subject, *_last_writes("e2"))
    for at in range(file.kept, len(file.whole)):
        await file.open_torn(at)
        await subject.check(f"the session whose last line was cut after {at - file.kept} bytes")
        await subject.close()


@case("S-JSONL-TAIL-01")
async def a_long_torn_line_is_dropped(store: SessionMaker) -> None:
    """A torn line of several reads of 64 KiB, cut around the borders of the reads, of letters, and at both of its ends,
    is dropped whole.

    If this fails, look at: a reader that gives the end of a chunk for a line; a tail kept in memory and joined to what
    comes.
    """
    subject = await store.linear_session(2)
    file = await OwnFile.of(subject, ValueSet(PLAN, "ü水🌱" * 30_000))
    chunk = 64 * 1024
    borders = {border + step for border in range(chunk, len(file.whole), chunk) for step in range(-2, 3)}
    borders |= {border + file.kept for border in borders}
    ends = {file.kept + 1, len(file.whole) - 1, len(file.whole) - 2, len(file.whole) - 3}
    for at in sorted(at for at in borders | ends if file.kept < at < len(file.whole)):
        await file.open_torn(at)
        await subject.check(f"the session whose file was cut after {at} bytes")
        await subject.close()


@case("S-JSONL-TAIL-02")
@rows("good", letters="letters", numbers="numbers", bare="bare")
async def the_file_ends_at_its_last_lf(store: SessionMaker, good: str) -> None:
    """After `open` the file is the original up to and including its last LF, for every byte of the last line and for
    other tails; no byte in front of it has changed, and nothing stands beside it.

    If this fails, look at: a tail that is only skipped; a file that is written anew from memory; a temporary file that
    stays; one byte more or less.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-TAIL-02"), file.expect_bytes)


Form = Callable[[bytes], bytes]
ODD_FORMS: dict[str, Form] = {
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "spaces": lambda data: data.replace(b'":', b'" :\t').replace(b"\n", b"  \n"),
    "mark": lambda data: MARK + data,
    "empty-arrays": lambda data: data.replace(b"\n", b"\n[]\n"),
    "unknown-field": lambda data: data.replace(b'{"v":4', b'{"note":null,"v":4'),
    "escapes": lambda data: data.replace("ü".encode(), b"\\u00FC"),
}


@case("S-JSONL-TAIL-02")
@rows("form", ODD_FORMS)
async def what_is_kept_of_a_torn_file_keeps_its_form(store: SessionMaker, form: Form) -> None:
    """The lines in front of a torn tail keep every byte, also where the store would have written them otherwise; only a
    byte-order mark at the start goes. A second opening changes nothing.

    If this fails, look at: a repair that decodes and encodes; a repair that writes the header anew.
    """
    good = header(store.raw.cwd) + line(stored(records.message_entry("e1", None, "früh"), 1))
    good = form(good + line(scalar(2, "garden.plan", "beds", 2.5), element(3, "garden.log", "", "ü")))
    path = await store.plant(good + TAIL, id="spelled")
    session = await store.repo.open(await store.planted_metadata(path))
    expect_equal(path.read_bytes(), good.removeprefix(MARK), of="the file after open")
    await session.close()
    with ByteGuard(path, of="the repaired file"):
        session = await store.repo.open(await store.planted_metadata(path))
        row = await session.get_value(PLAN)
        expect_equal(row and (row.value, row.seq), (2.5, 2), of="the last transaction in front of the tail")
        await session.close()


@case("S-JSONL-TAIL-02")
@rows("lines", hundred=100, thousands=3_000)
async def a_long_file_is_kept_but_for_its_tail(store: SessionMaker, lines: int) -> None:
    """A torn file of many lines, and of several reads of 64 KiB, keeps all of them.

    If this fails, look at: a repair that copies one read only, or the lines that it holds.
    """
    made = [line(scalar(seq, "garden.plan", str(seq), "ü" * 100)) for seq in range(1, lines + 1)]
    good = b"".join([header(store.raw.cwd), *made])
    path = await store.plant(good + TAIL, id="spelled")
    session = await store.repo.open(store.raw.metadata(path))
    expect_equal(len(await session.scan_values(value_address("garden.plan"))), lines, of="the scalars of the file")
    expect_equal(path.read_bytes() == good, True, of="whether the file is the original up to its last LF")
    await session.close()


@case("S-JSONL-TAIL-03")
@rows("start", HALVES)
async def a_tail_stays_where_the_file_is_refused(store: SessionMaker, start: int) -> None:
    """A file that is refused, for its version, its header or any line, early or last, keeps all bytes when it ends in a
    torn tail too: nothing is cut before the whole replay has succeeded.

    If this fails, look at: a tail cut while the file is read; a repair before the header is judged.
    """
    file = UnderDamage.of(store, "rich")

    async def with_a_tail(variant: Damaged) -> None:
        await file.expect_refused(variant, TAIL)

    # A record that is broken at its place and one like it at the end fail the same check: the first will do.
    found = file.variants(verdicts=[Verdict.CORRUPT, Verdict.UNSUPPORTED])
    refusals = [one for one in found if not one.name.endswith("-at-end")]
    await each((one for one in refusals[start::2] if b"".join(one.chunks()).endswith(b"\n")), with_a_tail)
    await each(file.variants("S-JSONL-TAIL-03"), file.expect_refused)


@case("S-JSONL-TAIL-03")
@rows("foreign", id={"id": "other"}, cwd={"cwd": "/elsewhere"})
async def a_tail_stays_where_the_session_is_another(store: SessionMaker, foreign: dict[str, str]) -> None:
    """A torn file whose id or cwd differs from the metadata is refused, and keeps all bytes.

    If this fails, look at: a repair before the identity is looked at.
    """
    told = {"id": "spelled", "cwd": store.raw.cwd, **foreign}
    data = header(told["cwd"], id=told["id"]) + line(scalar(1, "garden.plan", "", 1)) + TAIL
    path = await store.plant(data, id="spelled")
    with ByteGuard(path, of="the torn file of another session"), refused(ForeignSession):
        await store.repo.open(replace(store.raw.metadata(path), id="spelled", cwd=store.raw.cwd))


@case("S-JSONL-TAIL-04")
@rows("good", rich="rich", letters="letters", bare="bare")
@rows("start", HALVES)
async def the_next_commit_takes_the_place_of_the_torn_one(store: SessionMaker, good: str, start: int) -> None:
    """For every byte at which the last line can be cut, the next commit takes the first sequence of the dropped
    transaction, and stands on a line of its own behind what was kept.

    If this fails, look at: a line glued to the torn one; a sequence that counts the dropped writes; bytes of the old
    tail behind a shorter new line.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-TAIL-01", "S-JSONL-TAIL-02")[start::2], file.expect_next_commit)


@case("S-JSONL-TAIL-04")
@rows("made", MADE)
async def a_torn_session_goes_on(store: SessionMaker, made: Made) -> None:
    """A session of the store's own, torn at every sixteenth byte, takes the same ids again, and more commits behind it;
    another repository object reads them all.

    If this fails, look at: ids of the dropped transaction that count as used; a file left open at an old place.
    """
    subject = await made(store)
    writes = _last_writes(subject.model.tip("main"))
    file = await OwnFile.of(subject, *writes)
    for at in range(file.kept + 1, len(file.whole), 16):
        await file.open_torn(at)
        again = await subject.commit(*writes)
        expect_equal(again.first_seq, file.seq, of="the sequence of the commit that is made again")
        await subject.append("main", "and on")
        if at % 64 < 16:
            await subject.check_everywhere()
        await subject.close()


@case("S-JSONL-TAIL-05")
@rows(
    "more",
    plain={},
    parents={"parentSessionId": "süd 🌱", "legacyParentSessionPath": "/alt/früh.jsonl", "nextSeq": 12345},
)
@rows("id", plain="spelled", letters="früh 水 🌱")
async def a_file_that_ends_in_its_header_is_corrupt(store: SessionMaker, more: dict[str, Any], id: str) -> None:
    """A file that ends inside its header, at whatever byte, or right behind it without LF, is corruption in line 1, and
    stays as it is: it is no new session, and no torn tail.

    If this fails, look at: a header that is complete JSON taken without its LF; an empty file taken for a new session;
    a repair that leaves an empty file.
    """
    whole = header(store.raw.cwd, id=id, **more)
    for at in range(len(whole)):
        path = await store.plant(whole[:at], id=id)
        with ByteGuard(path, of=f"a header that ends after {at} bytes"), refused(CorruptSession, line=1):
            await store.repo.open(store.raw.metadata(path))


@case("S-JSONL-TAIL-05")
@rows("good", bare="bare", rich="rich")
async def damage_that_takes_the_lf_of_the_header_is_corruption(store: SessionMaker, good: str) -> None:
    """A file without any LF, whatever is in it, is corruption in line 1.

    If this fails, look at: CR taken for the end of a line; a file without lines taken for an empty session.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-TAIL-05"), file.expect_refused)


@case("S-JSONL-TAIL-06")
async def a_broken_last_line_with_lf_is_corruption(store: SessionMaker) -> None:
    """A last line that fails a check and ends with LF is corruption in that line, not a torn tail: nothing is dropped,
    and no byte changes.

    If this fails, look at: a tolerant treatment of the last line; a tail found by what it holds and not by its LF.
    """
    file = UnderDamage.of(store, "letters")
    await each(file.variants("S-JSONL-TAIL-06"), file.expect_refused)


@case("S-JSONL-TAIL-06")
async def a_cut_line_with_lf_is_corruption(store: SessionMaker) -> None:
    """The last line of a file that the store itself has written, cut at every byte and ended with LF, is corruption in
    that line.

    If this fails, look at: the last line given up in silence; half a line that still is JSON; blank lines skipped.
    """
    subject = await store.linear_session(2)
    file = await OwnFile.of(subject, *_last_writes("e2"))
    number = file.whole.count(b"\n")
    for at in range(file.kept, len(file.whole) - 1):
        store.raw.replace(file.path, file.whole[:at] + b"\n")
        cut = f"the file whose last line was cut after {at - file.kept} bytes and ended"
        with ByteGuard(file.path, of=cut), refused(CorruptSession, line=number):
            await subject.open()
