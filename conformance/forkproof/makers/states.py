"""The table of hard states: a clause that holds in any state is asked in each of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forkproof.makers.maker import SessionMaker
from forkproof.makers.subject import Subject
from forkstore.contract.forks import BranchFork, TreeFork

ABOVE_EVERY_PAGE = 1_200
"""Entries of the large state: more than a page of any default size, few enough for the many cases that use it."""


async def _forked(store: SessionMaker) -> Subject:
    source = await store.bushy_session()
    return await source.fork(BranchFork("main"))


async def _forked_from_closed(store: SessionMaker) -> Subject:
    source = await store.rich_session()
    await source.close()
    return await source.fork(TreeFork())


async def _fork_of_fork(store: SessionMaker) -> Subject:
    source = await store.rich_session()
    first = await source.fork(TreeFork())
    await first.append("main", "written in the first fork")
    second = await first.fork(BranchFork("main"))
    await second.append("main", "written in the second fork")
    return second


async def _reopened(store: SessionMaker) -> Subject:
    subject = await store.rich_session()
    await subject.reopen()
    return subject


ANY_STATE: dict[str, Callable[[SessionMaker], Awaitable[Subject]]] = {
    "empty": lambda store: store.empty_session(),
    "linear": lambda store: store.linear_session(),
    "bushy": lambda store: store.bushy_session(),
    "lanes": lambda store: store.lanes_session(),
    "labelled": lambda store: store.labelled_session(),
    "lists": lambda store: store.lists_session(),
    "rich": lambda store: store.rich_session(),
    "large": lambda store: store.large_session(ABOVE_EVERY_PAGE),
    "forked": _forked,
    "forked-from-closed": _forked_from_closed,
    "fork-of-fork": _fork_of_fork,
    "reopened": _reopened,
}
"""Makers by name; the names are part of case ids. Every state is an open session, with its source open where it has
one.
"""
