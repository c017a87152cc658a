"""Damaged lines and histories: what a store must neither open nor touch (section 22.3)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from forkgen.damage import Verdict
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.makers import SessionMaker, records
from forkproof.suites.sessions.damage_verdicts import ID, UnderDamage, each
from forkproof.suites.sessions.spelled_files import header, line, scalar, stored
from forkstore.contract.errors import (
    CorruptSession,
    DuplicateId,
    SessionExists,
    UnknownParent,
)

PARTS: dict[str, tuple[str, ...]] = {
    "entries": ("entry-", "custom-"),
    "usage-rows": ("usage-",),
    "scalars": ("set-", "delete-value-"),
    "lists": ("append-", "delete-list-"),
    "lines": (),
}
"""How the names of variants begin that break one kind of record; what is left breaks lines."""


@case("S-JSONL-FMT-10")
@rows("part", {name: name for name in PARTS})
async def a_line_that_fails_a_check_is_corruption_in_that_line(store: SessionMaker, part: str) -> None:
    """A complete line that fails a check of 22.3, early, in the middle or at the end, makes `open` raise
    `CorruptSession` with the number of that line; all bytes stay, and nothing appears beside the file.

    If this fails, look at: a check that the decoder does not make; lines counted from 0, or without the header; a
    damaged last line taken for a torn tail; a tolerant reader.
    """
    file, known = UnderDamage.of(store, "rich"), tuple(chain(*PARTS.values()))
    every = file.variants("S-JSONL-FMT-10")
    if PARTS[part]:
        await each((one for one in every if one.name.startswith(PARTS[part])), file.expect_refused)
    else:
        await each((one for one in every if not one.name.startswith(known)), file.expect_refused)


_SET = b'"kind":"value","op":"set","seq":1,"namespace":"a","key":"","value":1'
_DELETE = b'"kind":"list","op":"delete","seq":1,"namespace":"a","key":""'
UNNEEDED: dict[str, bytes] = {
    "value-of-a-delete-no-json": b"{%b,%b}" % (_DELETE, b'"value":NaN'),
    "value-of-a-delete-no-utf-8": b"{%b,%b}" % (_DELETE, b'"value":"\xff"'),
    "replaced-value-no-json": b"{%b,%b}" % (b'"value":[1,]', _SET),
    "replaced-value-no-utf-8": b"{%b,%b}" % (b'"value":"\xc3"', _SET),
    "replaced-sequence-no-json": b"{%b,%b}" % (b'"seq":01', _SET),
    "replaced-kind-no-utf-8": b"{%b,%b}" % (b'"kind":"\xed\xa0\x80"', _DELETE),
    "unknown-field-no-json": b"{%b,%b}" % (_SET, b'"note":"\\x41"'),
    "unknown-field-no-utf-8": b"{%b,%b}" % (b'"note":["\xf4\x90\x80\x80"]', _DELETE),
    "unknown-name-no-utf-8": b"{%b,%b}" % (b'"\xc0\xaf":1', _SET),
    "unknown-name-raw-tab": b"{%b,%b}" % (b'"a\tb":1', _DELETE),
    "deleted-in-the-same-line": b"[{%b},{%b}]" % (_SET[:-1] + b"-Infinity", _DELETE.replace(b'"seq":1', b'"seq":2')),
}


@case("S-JSONL-FMT-10")
@rows("text", UNNEEDED)
async def what_no_reader_needs_is_checked_too(store: SessionMaker, text: bytes) -> None:
    """A line that is no UTF-8 or no JSON is corruption also where its fault lies in something that the session never
    shows: a value of a delete, a member that an equal name replaces, an unknown field, a row that is deleted at once.

    If this fails, look at: a decoder that skips what it does not keep; raw text that is kept until someone reads it.
    """
    path = await store.plant(header(store.raw.cwd, id=ID) + text + b"\n" + line(scalar(9, "b", "", 1)), id=ID)
    with ByteGuard(path, of="the file with a broken line"), refused(CorruptSession, line=2):
        await store.repo.open(store.raw.metadata(path))


@case("S-JSONL-FMT-10")
async def a_file_without_a_fault_opens(store: SessionMaker) -> None:
    """A file that is odd, and fails no check, opens: with odd header fields, line ends, numbers, escapes, unknown
    fields and types, namespaces and histories, a long line or a long header; it keeps its bytes, shows its records, and
    goes on.

    If this fails, look at: checks that no one asked for; a limit on the length of a line.
    """
    file = UnderDamage.of(store, "rich")
    await each(file.variants(verdicts=[Verdict.OPENS]), file.expect_whole_verdict)


LONG = 2_000
"""Lines of the long file: about a megabyte, sixteen reads of 64 KiB."""
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "letter": lambda text: text[:40] + b"\xff" + text[41:],
    "half": lambda text: text[: len(text) // 2],
    "nul-run": lambda text: text[:1] + bytes(4096) + text[1:],
    "nul-run-in-front": lambda text: bytes(4096) + text,
    "blank": lambda text: b"",
    "other-kind": lambda text: text.replace(b'"kind":"entry"', b'"kind":"entries"'),
}


@case("S-JSONL-FMT-10")
@rows("damage", DAMAGES)
@rows("number", second=2, middle=LONG // 2, last=LONG + 1)
async def one_damaged_line_of_a_long_file_is_named(
    store: SessionMaker, damage: Callable[[bytes], bytes], number: int
) -> None:
    """One damaged line in a file of 2,000, early or late, is named by its number, and all others stay as they are.

    If this fails, look at: a session that ends at the first bad line; lines counted per chunk; damage skipped in
    silence.
    """
    made = [header(store.raw.cwd, id=ID), *(_message(seq) for seq in range(1, LONG + 1))]
    made[number - 1] = damage(made[number - 1].rstrip(b"\n")) + b"\n"
    path = await store.plant(made, id=ID)
    with ByteGuard(path, of="the long file"), refused(CorruptSession, line=number, path=str(path.resolve())):
        await store.repo.open(store.raw.metadata(path))


def _message(seq: int) -> bytes:
    parent = f"n{seq - 1}" if seq > 1 else None
    return line(stored(records.message_entry(f"n{seq}", parent, f"message {seq}: ".ljust(400, "ü")), seq))


@case("S-JSONL-FMT-10")
async def a_session_with_a_damaged_newest_record_is_not_written(store: SessionMaker) -> None:
    """A session of the store's own, whose newest record was damaged, is refused each time that it is opened; its bytes
    stay whatever is asked of the store, and other sessions are as usable as before.

    If this fails, look at: the newest record given up in silence; a second opening that finds a repaired file; the
    next record written over the damaged one.
    """
    other, subject = await store.linear_session(id="other"), await store.rich_session(id="hurt")
    await subject.close()
    path = store.path_of(subject)
    good = path.read_bytes()
    number = good.count(b"\n")
    store.raw.replace(path, good[:-3] + b"\x00" + good[-2:])
    with ByteGuard(path, of="the damaged file"):
        for _ in range(2):
            with refused(CorruptSession, line=number):
                await subject.open()
        with refused(SessionExists):
            await store.create("hurt")
        await other.append("main", "used beside it")
        await other.check()
    store.raw.replace(path, good)
    await subject.open()
    await subject.check("the session after its file was put right")


@case("S-JSONL-FMT-11")
@rows("good", rich="rich", bare="bare")
async def a_breach_of_history_is_corruption_with_its_cause(store: SessionMaker, good: str) -> None:
    """A sequence that does not rise, an id that is used again, and a parent that is unknown, later, itself or a usage
    row make `open` raise `CorruptSession` in that line; what a commit would have raised is its cause. Further roots,
    and parents earlier in the line, are right.

    If this fails, look at: a replay that trusts its own files; ids of usage rows left out; parents looked up when the
    whole file is read; sequences compared with the line before only.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-11"), file.expect_whole_verdict)


HISTORIES: dict[str, tuple[list[records.Record], int, type[Exception], dict[str, object]]] = {
    "entry-id-again": ([records.message_entry("e1", None)] * 2, 3, DuplicateId, {"id": "e1"}),
    "usage-id-again": ([records.usage_row("u1")] * 2, 3, DuplicateId, {"id": "u1"}),
    "entry-with-id-of-usage-row": (
        [records.usage_row("u1"), records.message_entry("u1", None)],
        3,
        DuplicateId,
        {"id": "u1"},
    ),
    "again-with-unknown-parent": (
        [records.message_entry("e1", None), records.message_entry("e1", "nobody")],
        3,
        DuplicateId,
        {"id": "e1"},
    ),
    "unknown-parent": (
        [records.message_entry("e1", "nobody")],
        2,
        UnknownParent,
        {"entry_id": "e1", "parent_id": "nobody"},
    ),
    "own-parent": ([records.message_entry("e1", "e1")], 2, UnknownParent, {"entry_id": "e1", "parent_id": "e1"}),
    "later-parent": (
        [records.message_entry("e1", "e2"), records.message_entry("e2", None)],
        2,
        UnknownParent,
        {"entry_id": "e1", "parent_id": "e2"},
    ),
    "circle": (
        [records.message_entry("e1", "e2"), records.message_entry("e2", "e1")],
        2,
        UnknownParent,
        {"entry_id": "e1", "parent_id": "e2"},
    ),
    "usage-row-as-parent": (
        [records.usage_row("u1"), records.message_entry("e1", "u1")],
        3,
        UnknownParent,
        {"entry_id": "e1", "parent_id": "u1"},
    ),
}


@case("S-JSONL-FMT-11")
@rows("history", HISTORIES)
async def the_cause_names_what_the_line_is_about(store: SessionMaker, history: tuple[Any, ...]) -> None:
    """The cause of a corrupt history carries the id, the entry and the parent, as the error of a commit would.

    If this fails, look at: an error raised from nothing; attributes left out; the line behind the one at fault.
    """
    new, number, cause, attributes = history
    found = [line(stored(record, seq)) for seq, record in enumerate(new, 1)]
    path = await store.plant([header(store.raw.cwd, id=ID), *found], id=ID)
    with ByteGuard(path), refused(CorruptSession, line=number) as refusal:
        await store.repo.open(store.raw.metadata(path))
    seen = refusal.error.__cause__
    expect(isinstance(seen, cause), f"expected: the cause is {cause.__name__}\nseen:     {seen!r}")
    for name, expected in attributes.items():
        expect_equal(getattr(seen, name, "not there"), expected, of=f"{cause.__name__}.{name}")
