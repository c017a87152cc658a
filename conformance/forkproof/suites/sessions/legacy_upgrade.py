"""The commit that upgrades a legacy v3 file: what it writes, line by line, and the ids that it keeps."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from forkgen.legacy import LegacyFile
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.makers import SessionMaker
from forkproof.makers.records import user_message
from forkproof.oracle.file_lines import lines_of
from forkproof.suites.sessions.legacy_attempts import FILES
from forkproof.suites.sessions.legacy_judging import (
    about,
    expect_shown,
    in_every_room,
    normalized_of,
    opened,
    planted,
)
from forkproof.suites.sessions.legacy_own_files import RICH
from forkproof.suites.sessions.legacy_upgrading import upgrade, writes_under
from forkstore.contract.addresses import ENTRY_LABEL, branch_tip_prefix, list_address, session_name, value_address
from forkstore.contract.store import Session, ValueRow
from forkstore.contract.writes import ValueSet

PLAN, LOG = value_address("garden.plan"), list_address("garden.log")


async def _append(session: Session) -> Any:
    branch = await session.branch("main")
    return branch and await branch.append_message(user_message("after the upgrade"))


async def _append_custom(session: Session) -> Any:
    branch = await session.branch("main")
    return branch and await branch.append_custom_entry("weather")


async def _begin(session: Session) -> Any:
    scope = await session.begin_mutation()
    result = await scope.commit([ValueSet(PLAN, 1)])
    await scope.end()
    return result


FIRST_COMMITS: dict[str, tuple[int, Callable[[Session], Awaitable[Any]]]] = {
    "set-name": (1, lambda session: session.set_name("after the upgrade")),
    "clear-name": (1, lambda session: session.set_name(None)),
    "set-label": (1, lambda session: session.set_label("no-such-entry", "kept")),
    "set-value": (1, lambda session: session.set_value(PLAN, None)),
    "delete-of-nothing": (1, lambda session: session.delete_value(PLAN)),
    "append-list": (1, lambda session: session.append_list(LOG, [])),
    "delete-list-of-nothing": (1, lambda session: session.delete_list(LOG)),
    "create-branch": (1, lambda session: session.create_branch("side", None)),
    "append-message": (2, _append),
    "append-custom-entry": (2, _append_custom),
    "scope": (1, _begin),
}
"""Per way to make the first commit: the number of its writes, and the call."""


@case("S-V3-19")
@in_every_room
async def the_first_commit_writes_the_session_in_format_4(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """The first non-empty commit puts in the place of the v3 file: a header of format 4 with `nextSeq`, each normalized
    write on a line of its own, superseded and clearing labels too, and one array line with the usage row of the import
    and the caller's writes. The session shows that, closed and opened again too.

    If this fails, look at: writes in batches; labels left out that later ones replace; a torn tail carried over; the
    caller's writes on a line of their own; a usage row with an entry, or without the sum; a parent lost.
    """
    for file in files:
        with about(file):
            session = planted(store, file)
            subject = await opened(session)
            await upgrade(session, subject, *writes_under(subject.model.tip("main")))
            await subject.check("the session after the upgrade")
            next_seq = (await subject.commit()).first_seq
            expect_equal(next_seq, normalized_of(file).next_seq + 7, of="the next sequence after the upgrade")
            await subject.reopen()
            await subject.check("the session after it was closed and opened again")
            expect_equal((await subject.commit()).first_seq, next_seq, of="the next sequence, opened again")
            await subject.close()


@case("S-V3-19")
async def an_upgraded_session_is_one_of_format_4(store: SessionMaker) -> None:
    """An upgraded session is read alike by another repository object and by another process, and goes on like any
    other: further commits add a line each, of an object for one write, and change nothing in front of it.

    If this fails, look at: a second import row; a file that is written anew with every commit; state that is not what
    the file says.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    await upgrade(session, subject, *writes_under(subject.model.tip("main")))
    await store.check_in_second_process(subject)
    before, count = session.path.read_bytes(), len(lines_of(session.path).values)
    await subject.append("main", "one more")
    await subject.commit(ValueSet(session_name(), "Garten"))
    await subject.spend()
    expect(session.path.read_bytes().startswith(before), "expected: earlier lines stay\nseen:     other bytes in them")
    behind = lines_of(session.path).values[count:]
    expect_equal([type(line) for line in behind], [list, dict, dict], of="the lines of the three commits that follow")
    await subject.check_everywhere()
    await store.check_in_second_process(subject)


@case("S-V3-19")
@rows("first", FIRST_COMMITS)
async def every_kind_of_first_commit_upgrades(
    store: SessionMaker, first: tuple[int, Callable[[Session], Awaitable[Any]]]
) -> None:
    """Whatever call makes the first non-empty commit, also a delete of nothing, the file is in format 4 after it, and
    its last line is an array of the usage row and what the call wrote.

    If this fails, look at: calls that write past the upgrade; a delete of nothing taken for an empty commit.
    """
    count, call = first
    session = planted(store, RICH)
    subject = await opened(session)
    await call(subject.session)
    lines = lines_of(session.path)
    expect_equal(lines.header.get("v"), 4, of="the format after the first commit")
    normalized = normalized_of(RICH)
    expected = [*[1] * (normalized.next_seq - 1), 1 + count]
    expect_equal([len(line) for line in lines.transactions], expected, of="the number of writes in each line")
    last = lines.values[-1]
    first_record = last[0] if isinstance(last, list) else last
    expect_equal(
        first_record.get("details"), {"source": "v3-import"}, of="the details of the first record in the last line"
    )
    ledger = await subject.session.scan_usage()
    expect_equal([row.get("usage") for row in ledger], [normalized.usage], of="the usage in the ledger")


@case("S-V3-19", needs=("raw-files", "spy-files"))
@rows("file", FILES)
async def the_publisher_upgrades(store: SessionMaker, file: LegacyFile) -> None:
    """The upgrade writes a temporary file beside the v3 file, named as section 24 says, and one rename puts it in its
    place: no other call changes the v3 file, and no other file is left.

    If this fails, look at: the file cut and written again; lines appended to the old file; a temporary file elsewhere.
    """
    with about(file):
        session = planted(store, file)
        subject = await opened(session)
        store.files.forget()
        await upgrade(session, subject, ValueSet(session_name(), "upgraded"))
        changes = store.files.changes(session.path)
        expect_equal([call.name for call in changes], ["rename_file"], of="the changes of the v3 file")
        drafts = {call.path for call in store.files.changes()}
        named = [
            path for path in drafts if re.fullmatch(re.escape(changes[0].target or "") + r"\.[0-9a-f]{16}\.tmp", path)
        ]
        expect_equal(
            sorted(drafts), sorted(named), of="the files that the upgrade wrote, by the names of temporary files"
        )
        expect_equal(list(session.path.parent.iterdir()), [session.path], of="the files beside it afterwards")
        await subject.check("the session after the upgrade")
        await subject.reopen()
        await subject.check("the session, opened again")


@case("S-V3-19", "S-ENT-15", needs=("raw-files", "clock"))
async def the_upgrade_reads_the_clock_once(store: SessionMaker) -> None:
    """The upgrading commit reads the clock once, like any commit; its own entries carry that time, and all others the
    times of their records.

    If this fails, look at: a reading for the usage row of its own; normalized entries with the time of the upgrade.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    store.clock.set(1_790_000_000_000)
    readings = store.clock.readings
    result = await upgrade(session, subject, *writes_under(subject.model.tip("main")))
    seen = (store.clock.readings - readings, result.timestamp)
    expect_equal(seen, (1, 1_790_000_000_000), of="readings of the clock, and the time of the commit")


@case("S-V3-20")
@in_every_room
async def the_ids_that_were_shown_are_written(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """The ids that an open v3 session shows are those that its upgrade writes, in every place, and that it shows
    afterwards, opened again too; ids that an earlier opening showed are not.

    If this fails, look at: the file read anew for the upgrade; ids made when they are written; entries that are
    numbered anew; tips, labels and summaries that keep other ids than the entries.
    """
    for file in files:
        with about(file):
            session = planted(store, file)
            earlier = await opened(session)
            await earlier.close()
            subject = await opened(session)
            shown, rows_shown = await subject.session.scan_entries(), await _rows_with_ids(subject.session)
            await subject.commit(ValueSet(PLAN, "upgraded"))
            records = lines_of(session.path).records
            written = [{**one} for one in records if one["kind"] == "entry"]
            expect_equal([one["id"] for one in written], [one["id"] for one in shown], of="the ids in the file")
            expect_equal(await subject.session.scan_entries(), shown, of="the entries after the upgrade")
            texts = session.path.read_text(encoding="utf-8")
            old = [id for id in earlier.model.entries if id in texts]
            expect_equal(old, [], of="the ids of the earlier opening that stand in the file")
            await subject.reopen()
            expect_equal(await subject.session.scan_entries(), shown, of="the entries, opened again")
            expect_equal(await _rows_with_ids(subject.session), rows_shown, of="tips and labels, opened again")
            await subject.close()


async def _rows_with_ids(session: Session) -> list[ValueRow]:
    """The tip of `main` and the labels."""
    prefixes = (branch_tip_prefix(), value_address(ENTRY_LABEL))
    return [row for prefix in prefixes for row in await session.scan_values(prefix)]


@case("S-V3-20")
async def ids_from_before_can_be_used_after_the_upgrade(store: SessionMaker) -> None:
    """What a caller has learned from the session while it was v3 stays good: ids as parents, as tips, as targets of
    labels and as starts of scans.

    If this fails, look at: an index of ids that the upgrade replaces.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    await expect_shown(session, subject)
    first, *_, last = list(subject.model.entries)
    await upgrade(session, subject, ValueSet(PLAN, 1))
    await subject.append("main", "under the tip from before")
    await subject.set_tip("side", first)
    await subject.append("side", "under the first entry from before")
    await subject.session.set_label(last, "from before")
    expect_equal(await subject.session.get_label(last), "from before", of="the label of an entry from before")
    path = [entry["id"] for entry in await subject.session.scan_branch(last)]
    expect_equal(path, [entry["id"] for entry in subject.model.path(last)], of="the path from an entry from before")
