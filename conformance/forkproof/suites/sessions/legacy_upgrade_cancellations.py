"""Upgrades that are cancelled, at every suspension and in every file call (S-V3-21)."""

from __future__ import annotations

from forkgen.legacy import LegacyFile
from forkproof.case import case, rows
from forkproof.instruments.fault_kinds import Cancel, Fault
from forkproof.instruments.stepping import cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.legacy_attempts import FILES, UpgradeAttempts

AGAIN = {"once": None, "again_at_once": 1, "again_soon": 2, "again_later": 5}
"""How many suspensions after the first cancellation a second one comes; None for no second one."""


@case("S-V3-21", needs=("raw-files", "fault-injection"))
@rows("file", FILES)
@rows("again_after", AGAIN)
async def a_cancelled_upgrade_is_done_or_absent(store: SessionMaker, file: LegacyFile, again_after: int | None) -> None:
    """An upgrade that is cancelled at any of its suspensions, once or twice, is wholly done or wholly absent when the
    cancellation reaches the caller: then bytes, state and next sequence are as before.

    If this fails, look at: a temporary file that a cancelled caller leaves; a rename that happens later; a file in
    format 4 under a session that still takes itself for v3.
    """
    attempts = await UpgradeAttempts(store, file).begin()
    await cancelled_at_every_suspension(attempts.attempt, attempts.after_cancellation, again_after=again_after)
    await attempts.expect_last()


@case("S-V3-21", needs=("raw-files", "fault-injection"))
@rows("file", FILES)
@rows("fault", before=Cancel("before"), after=Cancel("after"))
async def an_upgrade_cancelled_in_a_file_call_is_done_or_absent(
    store: SessionMaker, file: LegacyFile, fault: Fault
) -> None:
    """The same where the caller is cancelled inside any of the file calls, before or after its work was done.

    If this fails, look at: work of a thread that goes on when its caller is gone.
    """
    attempts = await UpgradeAttempts(store, file).begin()
    await swept(attempts.attempt, store.faults, fault, attempts.after_cancelled_call)
    await attempts.expect_last()
