"""What killed processes leave of databases and stages, and whom it hinders: nobody (S-FORK-FAIL-09)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect
from forkproof.instruments.kill import Play, Point, killed
from forkproof.instruments.kill_child import KillStage
from forkproof.instruments.sql_operations import STAGE
from forkproof.makers import SessionMaker
from forkproof.suites import killed_processes
from forkproof.suites.sessions.standing import expect_made_anew
from forkstore.contract.forks import TreeFork, fork_options_to_wire

DESTINATION = "*.sqlite*"
"""Every file that belongs to a database of section 29.1, complete or not."""
LEFTOVERS: dict[str, tuple[Callable[[KillStage], Awaitable[object]], Point]] = {
    "create-begun": (killed_processes.creates, Point(1, "after", ("write",))),
    "create-half": (killed_processes.creates, Point(2, "middle", ("write",), DESTINATION)),
    "fork-staging": (killed_processes.forks, Point(3, "middle", ("write",), STAGE)),
    "fork-staged": (killed_processes.forks, Point(2, "before", ("close",))),
    "fork-publishing": (killed_processes.forks, Point(3, "middle", ("write",), DESTINATION)),
}


@case("S-FORK-FAIL-09", kinds=("sqlite",))
@rows("leftover", LEFTOVERS)
async def what_a_killed_process_left_in_databases_is_in_nobodys_way(store: SessionMaker, leftover: Any) -> None:
    """What a process left that was killed while it made a session, a database half made, a stage, a transaction half
    written, is not listed, and keeps neither a create nor a fork of that id from succeeding, nor from being opened
    afterwards.

    If this fails, look at: a database that has its final name before it is complete; a stage that is always called the
    same; a listing that takes every file for a database; an id that counts as taken because of a leftover.
    """
    scenario, point = leftover
    source = await store.linear_session(2, id="source")
    await source.close()
    arguments = {"options": fork_options_to_wire(TreeFork())}
    run = await killed(Play(store.harness, scenario, arguments), point)
    expect(run.hit is not None, f"expected: the process reaches {point.name}\nseen:     it ended")
    await expect_made_anew(store, source, run)
    await source.open()
    await source.check("the source of a fork that was killed")
