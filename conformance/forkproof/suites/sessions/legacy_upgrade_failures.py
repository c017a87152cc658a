"""Upgrades that fail, and what the result of one that succeeds hides (S-V3-21)."""

from __future__ import annotations

from forkgen.legacy import LegacyFile
from forkgen.legacy.records import id_of
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.fault_kinds import Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.file_picture import picture
from forkproof.instruments.racing import raced, words
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.makers.records import message_entry, usage_row
from forkproof.suites.sessions.legacy_attempts import FILES, UpgradeAttempts
from forkproof.suites.sessions.legacy_judging import expect_shown, normalized_of, opened, planted
from forkproof.suites.sessions.legacy_own_files import RICH
from forkproof.suites.sessions.legacy_upgrading import expect_upgraded_file, upgrade, writes_under
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, SessionStoreError, StoreIOError, UnknownParent
from forkstore.contract.writes import EntryInsert, UsageInsert, ValueSet, Write

PLAN = value_address("garden.plan")
FAULTS: dict[str, Fault] = {
    "unknown": Fail("unknown"),
    "permission-denied": Fail("permission_denied"),
    "no-space": Fail("no_space"),
    "short": Short(),
    "written-and-failed": Short(share=1.0),
    "disk-full": NoSpace(),
    "done-and-failed": FailAfter("unknown"),
}


@case("S-V3-21", needs=("raw-files",))
@rows("count", {"1": 1, "2": 2, "300": 300})
async def the_result_hides_the_usage_row(store: SessionMaker, count: int) -> None:
    """The result of an upgrading commit has one sequence for each write of the caller, consecutive, the first of them
    behind the usage row of the import, and the statistics that the session then shows.

    If this fails, look at: a result with the sequence of the usage row in front; a `first_seq` that belongs to it;
    statistics without the imported usage, or with it twice.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    result = await upgrade(session, subject, *(ValueSet(value_address("garden.plan", str(n)), n) for n in range(count)))
    shown = await subject.session.get_stats()
    expect_equal(result.stats, shown, of="the statistics in the result")
    expect_equal(shown.usage, normalized_of(RICH).usage, of="the usage after the upgrade")
    expect_equal(shown.message_count, normalized_of(RICH).message_count, of="the number of messages after the upgrade")
    await subject.check("the session after the upgrade")


def _refusals(shown: str) -> dict[str, tuple[type[SessionStoreError], Write]]:
    """First commits that are refused, given the id of an entry that the session shows."""
    return {
        "entry-id-that-is-shown": (DuplicateId, EntryInsert(message_entry(shown, None))),
        "usage-id-that-is-shown": (DuplicateId, UsageInsert(usage_row(shown))),
        "old-id-as-parent": (UnknownParent, EntryInsert(message_entry("new", id_of(3)))),
        "value-that-cannot-be-stored": (InvalidValue, ValueSet(PLAN, float("nan"))),
        "usage-without-numbers": (InvalidValue, UsageInsert({"id": "u", "usage": {}, "adjustment": False})),
    }


@case("S-V3-21", needs=("raw-files",))
@rows("refusal", {name: name for name in _refusals("")})
async def a_refused_first_commit_is_no_upgrade(store: SessionMaker, refusal: str) -> None:
    """A first commit that is refused leaves the v3 file, the state and the next sequence as they were; the next one
    upgrades with the sequences that the refused one would have had.

    If this fails, look at: the file upgraded before the writes are checked; ids that are only compared with entries of
    format 4; a sequence used up by the usage row of the refused attempt.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    error, write = _refusals(next(iter(subject.model.entries)))[refusal]
    with ByteGuard(session.path, root=store.root, of="the v3 file after a refused commit"):
        with refused(error):
            await subject.commit(ValueSet(PLAN, 1), write)
        await expect_shown(session, subject)
    await upgrade(session, subject, *writes_under(subject.model.tip("main")))
    await subject.check("the session after the upgrade")


@case("S-V3-21", needs=("raw-files", "fault-injection"))
@rows("file", FILES)
@rows("fault", FAULTS)
async def a_failed_upgrade_leaves_all_as_it_was(store: SessionMaker, file: LegacyFile, fault: Fault) -> None:
    """An upgrade that fails at any of its file operations, in whatever way, raises StoreIOError and leaves the bytes of
    the v3 file, its neighbours, the state and the next sequence as they were; the attempt that nothing comes between
    then has the sequences that the first one would have had.

    If this fails, look at: state that changes before the rename; a usage row that stays after a failed attempt; a
    temporary file that stays; a form that is left before the file is; statistics that lose the imported usage; a
    rename that was done and is reported as failed, which nobody can take back: look whether it was done.
    """
    attempts = await UpgradeAttempts(store, file).begin()
    await swept(attempts.attempt, store.faults, fault, attempts.after_fault)
    expect(attempts.failures > 1, "expected: file operations that can fail\nseen:     hardly any")
    await attempts.expect_last()


@case("S-V3-21", needs=("raw-files", "fault-injection"))
async def a_failing_cleanup_does_not_harm_the_v3_file(store: SessionMaker) -> None:
    """Where the operation behind the failing one fails too, such as the removal of a temporary file, the upgrade raises
    StoreIOError all the same, the v3 file and the state stay, and a retry succeeds.

    If this fails, look at: cleanup that replaces the error by another class; state that depends on it.
    """
    attempts = await UpgradeAttempts(store, RICH).begin()
    before = picture(attempts.session.path)

    async def check(n: int, hit: Hit, outcome: Stepped) -> None:
        if outcome.kind == "returned":
            await attempts.after_fault(n, hit, outcome)
            return
        expect(isinstance(outcome.error, StoreIOError), f"expected: StoreIOError\nseen:     {outcome.error!r}")
        changed = list(before.differences(picture(attempts.session.path)))
        expect_equal(changed, [], of=f"what became of the v3 file after {hit}")
        for path in attempts.session.path.parent.iterdir():
            if path != attempts.session.path:
                path.unlink()
        await attempts.expect_as_before(f"a failure at {hit} and another right behind it")

    await swept(attempts.attempt, store.faults, Fail("unknown"), check, again_after=1)
    await attempts.expect_last()


@case("S-V3-21", needs=("raw-files", "fault-injection"))
async def the_commit_behind_a_failed_upgrade_upgrades(store: SessionMaker) -> None:
    """Of two commits that are started together on a v3 session, and whose first fails, the second upgrades the file,
    with the sequences that the first would have had; there is one usage row of the import.

    If this fails, look at: a form that is left when the upgrade begins; a usage row for each attempt.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    store.faults.arm(Fail("no_space"), names={"write_file"})
    first, second = await raced(subject.session.set_value(PLAN, 1), subject.session.set_value(PLAN, 2))
    store.faults.disarm()
    expect_equal(words([first, second]), ["StoreIOError", "returned"], of="how the two commits ended")
    imported = expect_upgraded_file(session, subject, [ValueSet(PLAN, 2)], second.value)
    subject.follow(second.value, ValueSet(PLAN, 2))
    expect_equal(second.value.seqs, [normalized_of(RICH).next_seq + 1], of="the sequences of the second commit")
    expect_equal(await subject.session.scan_usage(), [imported], of="the ledger")


@case("S-V3-21", needs=("raw-files", "fault-injection"))
async def a_session_whose_upgrade_failed_is_closed_as_v3(store: SessionMaker) -> None:
    """A session whose upgrade has failed can be closed, which leaves the v3 file, and opened again, which shows what it
    showed.

    If this fails, look at: an upgrade that is made up for on closing.
    """
    session = planted(store, RICH)
    with ByteGuard(session.path, root=store.root, of="the v3 file after a failed upgrade and a close"):
        subject = await opened(session)
        store.faults.arm(Fail("no_space"), names={"write_file"})
        with refused(StoreIOError):
            await subject.session.set_name("lost")
        store.faults.disarm()
        await subject.close()
        again = await opened(session)
        await expect_shown(session, again)
        await again.close()
