"""Publishing that fails: what it leaves, and that the next attempt succeeds (S-JSONL-PUB-03)."""

from __future__ import annotations

from forkproof.case import case, rows
from forkproof.expect import expect, refused
from forkproof.instruments.byteguard import Tree, tree
from forkproof.instruments.fault_kinds import CHANGES, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import Attempt
from forkproof.suites.sessions.file_attempts import PUBLISHED, Upgrades
from forkproof.suites.sessions.publishing import Make
from forkstore.contract.errors import StoreIOError

PUBLISHING = CHANGES | {"make_dir", "rename_file", "publish_file", "sync_file", "sync_dir"}
FAULTS: dict[str, Fault] = {
    "torn": Short(),
    "behind": FailAfter(),
    "full": NoSpace(),
}


@case("S-JSONL-PUB-03", needs=("fault-injection", "raw-files"))
@rows("make", PUBLISHED)
@rows("fault", FAULTS)
async def a_publisher_that_fails_leaves_nothing(store: SessionMaker, make: Make, fault: Fault) -> None:
    """When any call fails by which create, fork, repair or upgrade stage, append, sync or rename, before its work, in
    the middle of it or behind it, or for want of room: the temporary file is gone, every session file is as before,
    and the next attempt succeeds.

    If this fails, look at: a temporary file that is removed only where its writing failed; a rename that was done and
    reported as failed; an upgrade whose file is new and whose session is old; a repair that has lost the good lines.
    """
    attempt = await make().arrange(store)
    before = await _made_ready(store, attempt)

    async def is_undone(_: int, hit: Hit, outcome: Stepped) -> None:
        nonlocal before
        store.faults.room()
        if outcome.kind == "returned":
            await attempt.accept(f"what a call gave that returned in spite of {hit}")
        else:
            with refused(StoreIOError):
                if outcome.error is not None:
                    raise outcome.error
            await attempt.forgive()
            before.check(f"the session files, {hit} having failed")
            if not isinstance(attempt, Upgrades):  # an upgrade is tried again in the session that is open
                await attempt.ready()
            await attempt.call()
            await attempt.accept(f"the next attempt, {hit} having failed")
        before = await _made_ready(store, attempt)

    struck = await swept(attempt.call, store.faults, fault, is_undone, names=None if fault.names else PUBLISHING)
    expect(struck > 1, f"expected: a file is written and renamed\nseen:     {struck} such file calls")
    await attempt.accept("what a call gave that nothing struck")


async def _made_ready(store: SessionMaker, attempt: Attempt) -> Tree:
    await attempt.ready()
    return tree(store.root)
