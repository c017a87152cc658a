"""What a rejected fork leaves: nothing in the store, nothing at its source, nothing in the way (section 20)."""

from __future__ import annotations

import asyncio
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.racing import ended, raced
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.rejections import REJECTIONS, Rejection
from forkproof.oracle.classifier import ForkRefused
from forkproof.oracle.model import SessionModel
from forkstore.contract.errors import InvalidArgument, SessionClosed, SessionNotFound
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main", id="fork"), "tree": TreeFork(id="fork")}
POINTS = {"boundary": "boundary_captured", "batch": "batch_copied", "publish": "before_publish"}


class _ProbeFailed(Exception):
    """An error of the caller's own, from a callback of the probe."""


async def _rejected(store: SessionMaker, source: Subject, rejection: Rejection) -> None:
    with refused(rejection.error, **rejection.told):
        await store.repo.fork(source.metadata, rejection.options)


async def _expect_id_is_free(store: SessionMaker, other: Subject, before: list[Any]) -> None:
    """The list is as before, and the id `fork` can be used at once: by `fork`, and by `create`."""
    expect_equal(await store.list(), before, of="the list after the rejection")
    forked = await ended(store.repo.fork(other.metadata, TreeFork(id="fork")))
    expect_equal(forked.word, "returned", of="a fork onto the destination id, right after the rejection")
    fork = store.subject(forked.value, other.model.fork(TreeFork(), other.id))
    await fork.check("a fork made with the id of a rejected one")
    await fork.close()
    await store.repo.delete(fork.metadata)


async def _expect_id_is_free_for_create(store: SessionMaker, touched: set[tuple[str, str]]) -> None:
    created = await ended(store.repo.create(id="fork", **store.create_options))
    expect_equal(created.word, "returned", of="a create of the destination id, right after the rejection")
    subject = store.subject(created.value, SessionModel(touched=set(touched)))
    await subject.check("a session created with the id of a rejected fork")
    await subject.close()
    await store.repo.delete(subject.metadata)


@case("S-FORK-FAIL-01")
@rows("rejection", REJECTIONS)
@rows("closed", source_open=False, source_closed=True)
async def a_rejected_fork_leaves_nothing_behind(store: SessionMaker, rejection: Rejection, closed: bool) -> None:
    """After every rejection `list` shows what it showed before, and the destination id can be used at once by `create`
    and by `fork`; nothing of the rejected fork is in what they make.

    If this fails, look at: a destination made before the source is checked; a reservation given back on success only;
    rows of a failed fork that show up under the id.
    """
    other, source = await store.linear_session(id="other"), await rejection.source(store)
    if closed:
        await source.close()
    before = await store.list()
    await _rejected(store, source, rejection)
    await _expect_id_is_free(store, other, before)
    await _rejected(store, source, rejection)
    await _expect_id_is_free_for_create(store, source.model.touched)
    expect_equal(await store.list(), before, of="the list at the end")


@case("S-FORK-FAIL-01", needs=("probe",))
@rows("options", FORKS)
@rows("point", POINTS)
@rows("closed", source_open=False, source_closed=True)
async def a_failing_callback_leaves_nothing_behind(
    store: SessionMaker, options: ForkOptions, point: str, closed: bool
) -> None:
    """A fork that an error in a callback of the probe ends raises that very error, the list is as before, and the
    destination id can be used at once.

    If this fails, look at: an error that is wrapped; cleanup that knows the store's own errors only; a destination
    published before the last callback.
    """
    other, source = await store.linear_session(id="other"), await store.bushy_session(id="source")
    if closed:
        await source.close()
    before, error = await store.list(), _ProbeFailed("on purpose")
    for free in (_expect_id_is_free(store, other, before), _expect_id_is_free_for_create(store, source.model.touched)):
        store.probe.fail(point, error)
        outcome = await ended(store.repo.fork(source.metadata, options))
        expect_equal(outcome.error is error, True, of=f"whether the fork raises the callback's error ({outcome.word})")
        await free
    expect_equal(await store.list(), before, of="the list at the end")
    await store.check_each(await source.fork(options), source)


@case("S-FORK-FAIL-01")
@rows("options", FORKS)
async def a_closing_source_leaves_nothing_behind(store: SessionMaker, options: ForkOptions) -> None:
    """After a fork that was rejected because its source is closing the list is as before, and the destination id can be
    used at once.

    If this fails, look at: the source looked at after the destination was made.
    """
    other, source = await store.linear_session(id="other"), await store.linear_session()
    before = await store.list()
    scope = await source.session.begin_mutation()
    closing = asyncio.create_task(source.session.close())
    (outcome,) = await raced(store.repo.fork(source.metadata, options))
    expect_equal(outcome.word, "SessionClosed", of="a fork of a closing source")
    await _expect_id_is_free(store, other, before)
    await settle()
    with refused(SessionClosed, session_id=source.id):
        await store.repo.fork(source.metadata, options)
    await _expect_id_is_free_for_create(store, source.model.touched)
    await scope.end()
    await closing
    await store.check_each(await source.fork(options), source)


@case("S-FORK-FAIL-01")
@rows("options", FORKS)
async def a_missing_source_leaves_nothing_behind(store: SessionMaker, options: ForkOptions) -> None:
    """After a fork of a session that is gone the list is as before, and the destination id can be used at once.

    If this fails, look at: a destination made before the source is found; a reservation kept.
    """
    other, gone = await store.linear_session(id="other"), await store.linear_session()
    await gone.close()
    await store.repo.delete(gone.metadata)
    before = await store.list()
    for free in (_expect_id_is_free(store, other, before), _expect_id_is_free_for_create(store, gone.model.touched)):
        with refused(SessionNotFound, session_id=gone.id):
            await store.repo.fork(gone.metadata, options)
        await free
    expect_equal(await store.list(), before, of="the list at the end")


@case("S-FORK-FAIL-03")
@rows("rejection", REJECTIONS)
@rows("closed", source_open=False, source_closed=True)
async def a_rejected_fork_has_no_effect_on_its_source(store: SessionMaker, rejection: Rejection, closed: bool) -> None:
    """A rejected fork has no effect on its source, open or closed: it holds what it held, and can be used, closed,
    opened and deleted as before.

    If this fails, look at: a source opened for the fork and not let go; a lock or a boundary job that stays in the
    queue; a source repaired or rewritten on the way.
    """
    source = await rejection.source(store)
    next_seq = (await source.commit()).first_seq
    if closed:
        await source.close()
    for _ in range(2):
        await _rejected(store, source, rejection)
    if closed:
        await source.open()
    await source.check("the source after the rejection")
    expect_equal((await source.commit()).first_seq, next_seq, of="the next sequence after the rejection")
    await source.append("main", "used as before")
    await source.check_everywhere()
    await source.close()
    await store.repo.delete(source.metadata)
    expect_equal("source" in await store.listed_ids(), False, of="whether the deleted source is listed")


@case("S-FORK-FAIL-03", needs=("probe",))
@rows("options", FORKS)
@rows("point", POINTS)
async def a_failing_callback_has_no_effect_on_the_source(store: SessionMaker, options: ForkOptions, point: str) -> None:
    """A fork that an error in a callback ends has no effect on its source: its commit queue goes on.

    If this fails, look at: an error inside the job in the commit queue; a snapshot or a lock that stays.
    """
    source = await store.bushy_session()
    store.probe.fail(point, _ProbeFailed("on purpose"))
    with refused(_ProbeFailed):
        await store.repo.fork(source.metadata, options)
    await source.append("main", "used as before")
    await source.check_everywhere()
    await store.check_each(await source.fork(options), source)


@case("S-FORK-FAIL-04", needs=())
@rows("rejection", REJECTIONS)
async def two_failures_do_not_spoil_the_third_attempt(store: SessionMaker, rejection: Rejection) -> None:
    """After two rejections in a row on one destination id, with the source open and then closed, a third attempt on it
    succeeds: from the same source where it can be forked at all, else from another.

    If this fails, look at: leftovers of the first failure that the second trips over; a reservation that counts.
    """
    source, other = await rejection.source(store), await store.linear_session(id="other")
    for options in FORKS.values():
        await _rejected(store, source, rejection)
        await source.close()
        await _rejected(store, source, rejection)
        good = source if _can_be_forked(source, options) else other
        third = await ended(good.fork(options))
        expect_equal(third.word, "returned", of="the third attempt on one destination id")
        await third.value.check("the fork that the third attempt made")
        await third.value.close()
        await store.repo.delete(third.value.metadata)
        await source.open()


def _can_be_forked(source: Subject, options: ForkOptions) -> bool:
    try:
        source.model.fork(options, source.id)
    except ForkRefused:
        return False
    return True


@case("S-FORK-FAIL-04", needs=())
async def two_refused_creates_do_not_spoil_the_third(store: SessionMaker) -> None:
    """After two refused creates of one id a fork onto it succeeds, and the other way round.

    If this fails, look at: an id reserved before the arguments are checked.
    """
    source = await store.linear_session()
    for _ in range(2):
        with refused(InvalidArgument, field="cwd"):
            await store.repo.create(id="fork", cwd="" if store.cwd is not None else "/srv/garden")
    fork = await source.fork(TreeFork(id="fork"))
    await fork.close()
    await store.repo.delete(fork.metadata)
    for name in ("no-such-branch", ""):
        await ended(store.repo.fork(source.metadata, BranchFork(name, id="fork")))
    created = await ended(store.repo.create(id="fork", **store.create_options))
    expect_equal(created.word, "returned", of="a create after two rejected forks")
