"""What the fork suites share: a source that is open or closed, and the judgement over a fork and its source."""

from __future__ import annotations

from typing import Any

from forkproof.case import rows
from forkproof.expect import ClauseBroken, refused
from forkproof.makers import Subject
from forkstore.contract.errors import SessionStoreError
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

OPEN, CLOSED = "open", "closed"

from_open_and_closed = rows("source_is", open=OPEN, closed=CLOSED)
"""Runs a case once with its source open and once with it closed."""

in_both_scopes = rows("options", branch=BranchFork("main"), tree=TreeFork())
"""Runs a case once per scope; its source has a lane `main`."""


async def forked(source: Subject, options: ForkOptions, source_is: str) -> Subject:
    """The fork of a source that is put into the asked state first; a refusal breaks the clause."""
    if source_is == CLOSED:
        await source.close()
    try:
        return await source.fork(options)
    except SessionStoreError as error:
        raise ClauseBroken(f"expected: the fork by {options!r}\nseen:     {type(error).__name__}: {error}") from error


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
    """The whole tree, every lane of the source at its tip, and the longest of them before its tip and at its root."""
    model = source.model
    lanes = [
        branch
        for branch in model.branches()
        if {("pi.lane.config", branch), ("pi.lane.state", branch)} <= model.scalars.keys()
    ]
    options: list[ForkOptions] = [TreeFork(), *(BranchFork(lane) for lane in lanes)]
    longest = max(lanes, key=lambda lane: len(model.path(model.tip(lane))), default=None)
    if longest is not None:
        root = model.path(model.tip(longest))[-1]["id"]
        options += [BranchFork(longest, position="before"), BranchFork(longest, entry_id=root)]
    return options
