"""The stage of a fork is gone when the fork has ended, whatever ended it (S-SQL-FORK-16)."""

from __future__ import annotations

from pathlib import Path

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import Cancel, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.fault_scenes import Gone
from forkproof.instruments.gates import POINTS
from forkproof.instruments.racing import ended
from forkproof.instruments.sql_operations import STAGE
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import BRANCH, TREE, Forks
from forkproof.suites.sessions.sweeping import share_of
from forkstore.contract.forks import ForkOptions

SCOPES: dict[str, ForkOptions] = {"branch": BRANCH, "tree": TREE}
PLACES = {"own_directory": True, "beside_the_destination": False}
FAULTS: dict[str, Fault] = {
    "torn": Short(),
    "behind": FailAfter(),
    "full": NoSpace(),
    "cancelled": Cancel("after"),
    "gone": Gone(FailAfter()),
}
AT_POINTS = {point.replace("_", "-"): point for point in POINTS}


class _StagePlace:
    """Where the store puts its stages: the directory of the case, or that of its databases."""

    def __init__(self, store: SessionMaker, own: bool) -> None:
        self.store, self.own = store, own

    async def arrange(self) -> None:
        """Opens the store with that place."""
        if not self.own:
            await self.store.reopen_repo(staging_dir=None)

    def check(self, of: str) -> None:
        """Breaks the clause unless no stage and no side file of one is there."""
        directory = self.store.staging_directory if self.own else self.store.databases.directory
        left = _names(directory) if self.own else [name for name in _names(directory) if "fork-stage" in name]
        expect_equal(left, [], of=f"what is left of stages after {of}")


def _names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []


async def _forking(store: SessionMaker, options: ForkOptions, own: bool, further: int = 0) -> tuple[Forks, _StagePlace]:
    place, attempt = _StagePlace(store, own), Forks(options, closed=False, further=further)
    await place.arrange()
    await attempt.arrange(store)
    return attempt, place


@case("S-SQL-FORK-16", needs=("staging-dir", "fault-injection", "raw-files"))
@rows("options", SCOPES)
@rows("own", PLACES)
async def a_fork_that_succeeds_leaves_no_stage(store: SessionMaker, options: ForkOptions, own: bool) -> None:
    """After a fork that succeeded no stage and no side file of one is there, and there was one.

    If this fails, look at: a stage that is removed by name without its journal or log; a stage that stays attached.
    """
    attempt, place = await _forking(store, options, own, further=600)
    store.faults.arm(NoSpace(), at=100_000, paths=STAGE)
    await attempt.call()
    written = store.faults.count
    store.faults.disarm()
    place.check("a fork that succeeded")
    expect(written, "expected: a fork writes into a stage\nseen:     no write")
    await attempt.accept("what was forked")
    place.check("a fork that was closed and deleted")


@case("S-SQL-FORK-16", needs=("staging-dir", "fault-injection", "raw-files"))
@rows("fault", FAULTS)
@rows("where", stage=STAGE, anywhere="*")
@rows("own", PLACES)
async def a_fork_that_fails_leaves_no_stage(store: SessionMaker, fault: Fault, where: str, own: bool) -> None:
    """A fork that fails, finds no room or is cancelled at any operation on its stage, or on anything else, leaves no
    stage and no side file of one; also when everything fails from then on.

    If this fails, look at: a stage that is removed only when its connection was closed without an error; a name that is
    remembered when the stage is complete; a `finally` that ends at its first failure.
    """
    attempt, place = await _forking(store, BRANCH if own else TREE, own)

    async def nothing_is_left(_: int, hit: Hit, outcome: Stepped) -> None:
        store.faults.disarm()
        place.check(f"a fork that {outcome.kind}, struck at {hit}")
        if outcome.kind == "returned":
            await attempt.accept(f"what a fork gave that returned in spite of {hit}")
        elif isinstance(fault, Gone):
            await _remove_what_stays(store)

    part = share_of(store, fault, FAULTS, by=2 if where == STAGE else 4)
    struck = await swept(attempt.call, store.faults, fault, nothing_is_left, paths=where, **part)
    expect(struck or fault.names, "expected: a fork works on a stage\nseen:     no operation")
    place.check("a fork that nothing struck")
    await attempt.accept("what a fork gave that nothing struck")


async def _remove_what_stays(store: SessionMaker) -> None:
    """A destination that could not be taken back because everything failed: that is not what this is about."""
    for metadata in await store.list():
        if metadata.id != "source":
            await store.repo.delete(metadata)


@case("S-SQL-FORK-16", needs=("staging-dir", "fault-injection", "raw-files"))
@rows("options", SCOPES)
@rows("own", PLACES)
@rows("again_after", once=None, twice=1)
async def a_fork_that_is_cancelled_leaves_no_stage(
    store: SessionMaker, options: ForkOptions, own: bool, again_after: int | None
) -> None:
    """A fork that is cancelled at any of its suspensions, and once more during its cleanup, has left no stage when the
    cancellation reaches its caller.

    If this fails, look at: the removal of the stage awaited without a shield; a thread that makes the stage after its
    caller has left.
    """
    attempt, place = await _forking(store, options, own)

    async def nothing_is_left(k: int, outcome: Stepped) -> None:
        expect_equal(outcome.kind, "cancelled", of=f"how a fork ended that was cancelled at suspension {k}")
        place.check(f"a fork that was cancelled at suspension {k}")

    suspensions = await cancelled_at_every_suspension(attempt.call, nothing_is_left, again_after=again_after)
    expect(suspensions, "expected: a fork suspends\nseen:     no suspension")
    await attempt.accept("what was forked when nobody cancelled")


@case("S-SQL-FORK-16", needs=("staging-dir", "probe", "raw-files"))
@rows("point", AT_POINTS)
async def a_fork_whose_probe_fails_leaves_no_stage(store: SessionMaker, point: str) -> None:
    """A fork whose probe raises, wherever it is asked, has left no stage when that error reaches the caller.

    If this fails, look at: probe callbacks awaited outside the part that removes the stage.
    """
    attempt, place = await _forking(store, TREE, own=True)
    error = LookupError("no water")
    store.probe.fail(point, error)
    outcome = await ended(attempt.call())
    expect(outcome.error is error, f"expected: {error!r}\nseen:     {outcome.error!r}")
    place.check(f"a fork whose probe failed at {point}")
