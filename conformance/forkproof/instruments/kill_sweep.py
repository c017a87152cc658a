"""Death at one point after the other: at every file or database operation of a scenario, or at points that a seed
draws.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence

from forkproof.difference import bounded
from forkproof.expect import ClauseBroken, expect, expect_equal, strictly_equal
from forkproof.harness import HarnessError
from forkproof.instruments.fault_kinds import When
from forkproof.instruments.kill import Killed, Play, Point, killed

AT_ONCE = 2
"""Children that run side by side. Their runs are checked when both are gone, in the order of their points."""

Check = Callable[[Killed], Awaitable[object]]
Prepare = Callable[[str], Awaitable[object]]


async def killed_at_every_operation(
    play: Play,
    check: Check,
    *,
    when: When = "before",
    names: Iterable[str] | None = None,
    paths: str = "*",
    sparse: bool = False,
    prepare: Prepare | None = None,
    first: int = 1,
    stride: int = 1,
    because: str = "",
    limit: int = 400,
) -> Killed:
    """For n = 1, 2, …: lets a child die at its n-th operation and awaits `check(run)`; gives the run that ended.

    `prepare(name)` is awaited before a child starts. A stride above 1, from the operation `first` on, leaves operations
    out, `because` says why that is enough. Raises ClauseBroken when the child still makes operations after `limit`, and
    HarnessError when all are asked for and none was seen.

    >>> async def nothing_is_lost(run: Killed) -> None:
    ...     expect_acknowledged(await stored_names(store, run.name), run, NAMES, of="the names")
    >>> await killed_at_every_operation(Play(store.harness, names_follow_each_other), nothing_is_lost, when="middle")
    """
    if stride != 1 and not because.strip():
        raise ValueError("a sweep that leaves operations out says why")
    wanted = None if names is None else tuple(sorted(names))
    points = [Point(number, when, wanted, paths, sparse=sparse) for number in range(first, limit + 1, stride)]
    for pair in _batches(points):
        for run in await _all_killed(play, pair, prepare):
            if run.ended:
                if run.operations == 0 and wanted is None and paths == "*":
                    raise HarnessError("nothing of the scenario went through seams.files or seams.connect")
                return run
            await check(run)
    raise ClauseBroken(f"expected: a scenario that ends\nseen:     an operation after {limit} others")


async def killed_at_seeded_points(
    play: Play, check: Check, *, seed: int, count: int, prepare: Prepare | None = None
) -> tuple[Killed, ...]:
    """Kills at `count` points drawn by the seed from all acknowledgements and all operations of the scenario.

    The scenario is played whole first, which is checked too; a point that a later run does not reach is checked as
    a run that ended. Raises ClauseBroken for a scenario that acknowledges nothing. Stores without the file capability
    have acknowledgements only.

    >>> runs = await killed_at_seeded_points(play, nothing_is_lost, seed=7, count=6)
    >>> runs[0].ended, len(runs)
    (True, 7)
    """
    (whole,) = await _all_killed(play, [Point()], prepare)
    await check(whole)
    expect(whole.acknowledged, "expected: a scenario that acknowledges steps\nseen:     none")
    points = [Point(acknowledgement=number + 1) for number in range(len(whole.acknowledged))]
    moments: tuple[When, ...] = ("before", "middle", "after")
    points += [Point(number + 1, when) for number in range(whole.operations or 0) for when in moments]
    chance = random.Random(seed)
    points.sort(key=lambda point: chance.random())  # the one method whose numbers no version of Python changes
    runs = [whole]
    for pair in _batches(points[:count]):
        for run in await _all_killed(play, pair, prepare):
            await check(run)
            runs.append(run)
    return tuple(runs)


def expect_acknowledged(
    seen: Sequence[object], run: Killed, steps: Sequence[object], of: str, *, in_flight: int = 1
) -> None:
    """Breaks the clause unless `seen` is what was acknowledged, and after that at most the next `in_flight` of `steps`.

    `steps` are all steps of the scenario in their order. One that was under way when the process died was not
    acknowledged, and is there wholly or not at all.

    >>> expect_acknowledged(["pond", "meadow"], run, ("pond", "meadow", "hill"), of="the names")
    """
    acknowledged = list(run.acknowledged)
    expect_equal(list(seen[: len(acknowledged)]), acknowledged, of=f"{of}, of {run}")
    further = list(seen[len(acknowledged) :])
    allowed = list(steps[len(acknowledged) :][:in_flight])
    expect(
        strictly_equal(further, allowed[: len(further)]),
        f"{of}, of {run}\nexpected: no further step, or the first of {bounded(allowed)}\nseen:     {bounded(further)}",
    )


async def _all_killed(play: Play, points: Sequence[Point], prepare: Prepare | None) -> list[Killed]:
    for point in points:
        if prepare is not None:
            await prepare(point.name)
    runs = await asyncio.gather(*(killed(play, point) for point in points), return_exceptions=True)
    # Both children are gone before the first error is raised.
    for run in runs:
        if isinstance(run, BaseException):
            raise run
    return [run for run in runs if isinstance(run, Killed)]


def _batches(points: Sequence[Point]) -> Iterable[Sequence[Point]]:
    return (points[start : start + AT_ONCE] for start in range(0, len(points), AT_ONCE))
