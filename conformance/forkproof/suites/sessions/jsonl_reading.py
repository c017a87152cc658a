"""Session files that others have written: what a reader takes, and what it makes of it (section 22)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.makers import SessionMaker, records
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_lines import lines_of
from forkproof.suites.sessions.damage_verdicts import MARK, UnderDamage, each
from forkproof.suites.sessions.spelled_files import ID, expect_forks, header, line, opened_from, scalar, stored
from forkstore.contract.addresses import branch_tip, entry_label, list_address, session_name, value_address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.writes import ListAppend, UsageInsert, ValueSet

PLAN = value_address("garden.plan")


@case("S-JSONL-FMT-02")
@rows("good", rich="rich", bare="bare")
async def an_array_of_any_length_is_a_transaction(store: SessionMaker, good: str) -> None:
    """The reader takes an array with one write for that write, and an empty array, wherever it stands, for a line
    without writes; the line stays, and the next commit stands behind it.

    If this fails, look at: an empty line refused; sequences counted by line; arrays of one refused as unusual.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-02"), file.expect_whole_verdict)


@case("S-JSONL-FMT-02")
async def lines_of_every_length_are_read_and_forked(store: SessionMaker) -> None:
    """A file of empty arrays, arrays of one, arrays of many and objects, in any order, shows all of its writes, in
    order, and forks with them.

    If this fails, look at: the last write of an array lost; a fork that knows objects only.
    """
    entries = [records.message_entry(f"e{seq}", f"e{seq - 1}" if seq > 1 else None) for seq in range(1, 7)]
    first, *more = (stored(entry, seq) for seq, entry in enumerate(entries, 1))
    tip = [scalar(seq, name, "main", "e6") for seq, name in ((10, "pi.branch.tip"), (11, "pi.lane.config"))]
    texts = [b"[]\n", line(first), b"[ ]\n", b"[%b]\n" % line(more[0]).strip(), line(*more[1:]), b"[]\n[]\n"]
    data = b"".join([header(store.raw.cwd), *texts, line(*tip, scalar(12, "pi.lane.state", "main", {})), b"[]\n"])
    source = await opened_from(store, data)
    await source.check()
    await source.close()
    await expect_forks(store, source)
    await source.open()
    await source.append("main", "behind empty arrays")
    await source.check_everywhere()


@case("S-JSONL-FMT-03")
@rows("good", rich="rich", bare="bare")
async def only_lf_ends_a_line(store: SessionMaker, good: str) -> None:
    """CR and blanks around a line are white space, so a CRLF file opens; separators of other standards stand in texts
    like any letter, and break a line where they stand outside of one; a file whose lines end with CR has no line.

    If this fails, look at: text modes with universal line ends; `splitlines`; a `strip` that takes more than JSON's
    white space.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-03"), file.expect_whole_verdict)


SEPARATORS = {
    "line-separator": "\u2028",
    "paragraph-separator": "\u2029",
    "next-line": "\x85",
    "vertical-tab": "\v",
    "form-feed": "\f",
    "file-separator": "\x1c",
    "group-separator": "\x1d",
    "record-separator": "\x1e",
    "carriage-return": "\r",
    "crlf": "\r\n",
    "line-feed": "\n",
}


@case("S-JSONL-FMT-03")
@rows("separator", SEPARATORS)
async def separators_in_text_stay_in_one_record(store: SessionMaker, separator: str) -> None:
    """Texts, ids, keys and names with a separator in them, at the end too, stay in one record on one line: live,
    reopened, read by another repository object, and in forks of both scopes.

    If this fails, look at: `splitlines` on text; a line reader of text files; sequences given out twice because a line
    was lost.
    """
    odd = f"a{separator}{separator}b{separator}"
    subject = await store.create(id=f"id{separator}")
    await subject.configure("main")
    await subject.append("main", odd, id=odd)
    await subject.append("main", entry=records.custom_entry(f"{odd}2", None, custom_type=odd, data={odd: [odd]}))
    await subject.commit(
        ValueSet(value_address(odd, odd), odd),
        ListAppend(list_address(odd, odd), odd),
        ValueSet(session_name(), odd),
        ValueSet(entry_label(odd), odd),
        ValueSet(branch_tip(odd), odd),
        UsageInsert(records.usage_row(f"{odd}3", odd, details=odd)),
    )
    expect_equal(len(lines_of(store.path_of(subject)).transactions), 4, of="the lines of four commits")
    await subject.check_everywhere()
    await expect_forks(store, subject)


@case("S-JSONL-FMT-03")
async def a_crlf_file_goes_on_with_lf(store: SessionMaker) -> None:
    """A CRLF file keeps its bytes, forks like any other, and takes commits whose lines end with LF.

    If this fails, look at: line ends guessed from the first line; a fork that copies CR into its lines.
    """
    data = small_file(id=ID, cwd=store.raw.cwd).replace(b"\n", b"\r\n")
    subject = await opened_from(store, data)
    await expect_forks(store, subject)
    await subject.append("main", "früh")
    written = store.path_of(subject).read_bytes()
    expect_equal(written[: len(data)], data, of="the bytes in front of the new line")
    expect_equal(written[len(data) :].count(b"\r"), 0, of="the CRs in the line of the commit")
    await subject.check_everywhere()


SEQUENCES: dict[str, tuple[int | None, list[list[int]], int]] = {
    "neither": (None, [], 1),
    "last": (None, [[1], [2, 3], [4]], 5),
    "first-gap": (None, [[1000]], 1001),
    "gaps": (None, [[3], [7, 90], [91], [5000]], 5001),
    "header": (7, [], 7),
    "header-1": (1, [], 1),
    "header-ahead": (7, [[1, 2], [3]], 7),
    "header-just-ahead": (7, [[5], [6]], 7),
    "header-reached": (7, [[7]], 8),
    "header-passed": (7, [[8], [9, 20]], 21),
    "header-far-ahead": (2**52, [[1]], 2**52),
    "empty-arrays": (None, [[], [4], [], []], 5),
    "one-left": (None, [[2**53 - 2]], 2**53 - 1),
    "one-left-by-header": (2**53 - 1, [[1]], 2**53 - 1),
}
"""`nextSeq` of the header, the sequences of the lines, and the next sequence."""


@case("S-JSONL-FMT-12")
@rows("sequences", SEQUENCES)
async def the_next_sequence_is_above_all_that_were_used(
    store: SessionMaker, sequences: tuple[int | None, list[list[int]], int]
) -> None:
    """Gaps are accepted, within a line too, and the next sequence is the highest of last sequence + 1, header `nextSeq`
    and 1; reopened, the session goes on behind its own commit.

    If this fails, look at: `nextSeq` of the header not read, or taken where it is lower; sequences counted by record;
    gaps refused.
    """
    ahead, used, expected = sequences
    more: dict[str, Any] = {} if ahead is None else {"nextSeq": ahead}
    texts = [line(*(scalar(seq, "garden.plan", str(seq), seq) for seq in one)) if one else b"[]\n" for one in used]
    subject = await opened_from(store, b"".join([header(store.raw.cwd, **more), *texts]))
    await subject.check()
    expect_equal((await subject.commit()).first_seq, expected, of="the next sequence, as an empty commit tells it")
    expect_equal((await subject.commit(ValueSet(PLAN, 1))).seqs, [expected], of="the sequence of the next commit")
    await subject.reopen()
    await subject.check("the session after a commit, opened again")
    if expected == 2**53 - 1:
        with refused(InvalidValue):
            await subject.commit(ValueSet(PLAN, 2))
    else:
        expect_equal((await subject.commit(ValueSet(PLAN, 2))).seqs, [expected + 1], of="the sequence after that")


@case("S-JSONL-FMT-12")
@rows("good", rich="rich", bare="bare")
async def gaps_and_a_header_ahead_are_right(store: SessionMaker, good: str) -> None:
    """A file with gaps, or with a `nextSeq` that is far ahead of its records or behind them, opens; its next commit
    takes the sequence that follows.

    If this fails, look at: consecutive sequences asked for; the last possible sequence refused.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-12"), file.expect_whole_verdict)


@case("S-JSONL-FMT-13")
@rows("good", rich="rich", bare="bare")
async def one_mark_at_the_start_is_accepted(store: SessionMaker, good: str) -> None:
    """One byte-order mark at the start of a file is accepted and stays; a second one, or one at another line, is
    corruption in that line; in texts U+FEFF is a letter like any other.

    If this fails, look at: a decoder that drops every mark; a mark that makes the header unreadable; a file rewritten
    to lose it.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-13"), file.expect_whole_verdict)


@case("S-JSONL-FMT-13")
async def a_marked_file_is_used_like_any_other(store: SessionMaker) -> None:
    """A file with a mark at its start is listed, opened, committed to, opened again and forked; no byte in front of a
    commit changes.

    If this fails, look at: a listing that takes the mark for a broken header; sizes that leave out the mark.
    """
    data = MARK + small_file(id=ID, cwd=store.raw.cwd)
    subject = await opened_from(store, data)
    with ByteGuard(subject.metadata.path or "", of="the marked file"):
        await subject.check()
        expect_equal(await store.listed_ids(), [ID], of="the ids that are listed")
        await subject.reopen()
    await expect_forks(store, subject)
    await subject.append("main", "behind a mark")
    written = store.path_of(subject).read_bytes()
    expect_equal(written[: len(data)], data, of="the bytes in front of the commit")
    expect_equal(written[len(data) :].count(MARK), 0, of="the marks in the line of the commit")
    await subject.check_everywhere()
