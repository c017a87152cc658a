"""What the fork suites share: a source that is open or closed, and the judgement over a fork and its source."""

from __future__ import annotations

from typing import Any

from forkproof.case import rows
from forkproof.expect import refused
from forkproof.makers import Subject
from forkstore.contract.errors import SessionStoreError
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

OPEN, CLOSED = "open", "closed"

from_open_and_closed = rows("source_is", open=OPEN, closed=CLOSED)
"""Runs a case once with its source open and once with it closed."""

in_both_scopes = rows("options", branch=BranchFork("main"), tree=TreeFork())
"""Runs a case once per scope; its source has a lane `main`."""


async def forked(source: Subject, options: ForkOptions, source_is: str) -> Subject:
    """The fork of a source that is put into the asked state first."""
    if source_is == CLOSED:
        await source.close()
    return await source.fork(options)


async def expect_sound(fork: Subject, source: Subject) -> None:
    """Breaks the clause unless the fork shows what the model says, live and reopened, and the source is unchanged.

    The source is closed afterwards.
    """
    await fork.check("the destination, read in full")
    await source.reopen()
    await source.check("the source after the fork")
    await source.close()
    await fork.check_everywhere()


async def expect_refused(
    source: Subject, options: ForkOptions, source_is: str, refusal: type[SessionStoreError], **attributes: Any
) -> None:
    """Breaks the clause unless the fork is refused so, leaves no session, frees the id and leaves the source alone."""
    store = source.store
    if source_is == CLOSED:
        await source.close()
    with refused(refusal, **attributes):
        await store.repo.fork(source.metadata, options)
    await store.assert_only_known_sessions(source)
    if options.id is not None:
        again = await store.create(options.id)
        await again.check("a session made with the id of the refused fork")
        await again.close()
        await store.repo.delete(again.metadata)
    if source_is == CLOSED:
        await source.open()
    await source.check("the source after the refused fork")


def forks_of(source: Subject) -> list[ForkOptions]:
    """The whole tree, and every lane of the source: at its tip, before it, and at its root."""
    options: list[ForkOptions] = [TreeFork()]
    for branch in source.model.branches():
        lane = [(namespace, branch) in source.model.scalars for namespace in ("pi.lane.config", "pi.lane.state")]
        if all(lane):
            options += [BranchFork(branch), BranchFork(branch, position="before")]
            path = source.model.path(source.model.tip(branch))
            options += [BranchFork(branch, entry_id=path[-1]["id"])] if path else []
    return options
