"""Reservation: who owns a session id, from which moment on, and until when (section 12)."""

from __future__ import annotations

import asyncio
from itertools import permutations
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.racing import raced, words
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker, Subject
from forkproof.oracle.model import SessionModel
from forkstore.contract.errors import SessionClosed, SessionExists, SessionInUse
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main", id="contested"), "tree": TreeFork(id="contested")}
MAKING: dict[str, Any] = {
    "create": lambda store, source: store.repo.create(id="contested", **store.create_options),
    "branch": lambda store, source: store.repo.fork(source.metadata, FORKS["branch"]),
    "tree": lambda store, source: store.repo.fork(source.metadata, FORKS["tree"]),
}
"""The calls that make the session `contested`."""


def _model(source: Subject, call: str) -> SessionModel:
    """What the session `contested` holds when that call has made it."""
    return SessionModel() if call == "create" else source.model.fork(FORKS[call], source.id)


async def _made(store: SessionMaker, how: str) -> Subject:
    """An open session `owned`, from each call that gives one."""
    if how == "forked":
        return await (await store.linear_session()).fork(TreeFork(id="owned"))
    subject = await store.linear_session(id="owned")
    if how == "opened":
        await subject.reopen()
    return subject


@case("S-OWN-01", "S-OWN-04")
@rows("second", create="create", branch="branch", tree="tree")
@rows("first", create="create", branch="branch", tree="tree")
async def a_new_id_is_reserved_in_the_first_step(store: SessionMaker, first: str, second: str) -> None:
    """`create` and `fork` reserve the id in the first step of their coroutine: whatever asks for it next is refused.

    If this fails, look at: a suspension before the reservation; a directory or a lock that is waited for first; a
    reservation at publication.
    """
    source = await store.linear_session()
    winner, loser = await raced(MAKING[first](store, source), MAKING[second](store, source))
    expect_equal(words([winner, loser]), ["returned", "SessionExists"], of=f"{first}, then {second}, for one id")
    expect_equal(getattr(loser.error, "session_id", None), "contested", of="the id that the refusal names")
    made = store.subject(winner.value, _model(source, first))
    await store.assert_only_known_sessions(source, made)
    await store.check_each(made, source)


@case("S-OWN-01", "S-OWN-05")
@rows("second", open="open", delete="delete")
async def a_session_is_reserved_in_the_first_step_of_open(store: SessionMaker, second: str) -> None:
    """`open` reserves the session in the first step of its coroutine: whatever asks for it next is refused.

    If this fails, look at: a suspension before the reservation; a reservation when the file was read.
    """
    subject = await store.linear_session()
    await subject.close()
    winner, loser = await raced(store.repo.open(subject.metadata), getattr(store.repo, second)(subject.metadata))
    expect_equal(words([winner, loser]), ["returned", "SessionInUse"], of=f"open, then {second}, of one session")
    await store.subject(winner.value, subject.model).check_everywhere()


@case("S-OWN-01", "S-OWN-08")
@rows("second", open="open", delete="delete")
async def a_session_is_reserved_in_the_first_step_of_delete(store: SessionMaker, second: str) -> None:
    """`delete` reserves the session in the first step of its coroutine: whatever asks for it next is refused, because
    it is reserved or, when the delete has already ended, because it is gone.

    If this fails, look at: a suspension before the reservation; a delete that reserves nothing.
    """
    subject = await store.linear_session()
    await subject.close()
    winner, loser = await raced(store.repo.delete(subject.metadata), getattr(store.repo, second)(subject.metadata))
    gone = loser.word if loser.word in ("SessionInUse", "SessionNotFound") else "SessionInUse"
    expect_equal(words([winner, loser]), ["returned", gone], of=f"delete, then {second}, of one session")
    await store.assert_only_known_sessions()


@case("S-OWN-02")
@rows("order", {"-".join(order): order for order in permutations(("create", "branch", "tree"))})
async def calls_are_admitted_in_the_order_of_first_steps(store: SessionMaker, order: tuple[str, ...]) -> None:
    """Of calls for one id the one whose task steps first is admitted, whatever their kinds and however the others
    follow.

    If this fails, look at: a kind of call that takes longer to its reservation than another; a queue that is not first
    in, first out.
    """
    source = await store.linear_session()
    endings = await raced(*(MAKING[call](store, source) for call in (*order, *order)))
    expect_equal(words(endings), ["returned"] + ["SessionExists"] * 5, of=f"{' - '.join(order)}, twice, for one id")
    await store.check_each(store.subject(endings[0].value, _model(source, order[0])))


@case("S-OWN-03", "S-OWN-05")
@rows("how", created="created", opened="opened", forked="forked")
async def a_session_stays_reserved_until_it_is_closed(store: SessionMaker, how: str) -> None:
    """A session made by `create`, `open` or `fork` is reserved as long as it is open, and while it is closing; when it
    is closed it can be opened and deleted.

    If this fails, look at: a reservation that ends with the call; a reservation given back when closing begins; one
    that is never given back.
    """
    owned = await _made(store, how)
    scope = await owned.session.begin_mutation()
    closing: asyncio.Task[None] | None = None
    for moment in ("open", "closing"):
        endings = await raced(
            store.repo.open(owned.metadata),
            store.repo.delete(owned.metadata),
            store.repo.create(id="owned", **store.create_options),
        )
        expected = ["SessionInUse", "SessionInUse", "SessionExists"]
        expect_equal(words(endings), expected, of=f"open, delete and create of a session that is {moment}")
        closing = closing or asyncio.create_task(owned.session.close())
        await settle()
    await scope.end()
    await closing if closing else None
    await owned.open()
    await owned.check_everywhere()
    await owned.close()
    await store.repo.delete(owned.metadata)
    expect_equal("owned" in await store.listed_ids(), False, of="whether the deleted session is listed")


@case("S-OWN-04", needs=("clock",))
@rows("call", {name: name for name in MAKING})
async def a_refused_call_leaves_the_metadata(store: SessionMaker, call: str) -> None:
    """The metadata of the session whose id was asked for stay as they were, though time has gone on.

    If this fails, look at: a header written before the check; an upsert.
    """
    source, taken = await store.linear_session(), await store.create("contested")
    await taken.close()
    before = [metadata for metadata in await store.list() if metadata.id == "contested"]
    store.clock.advance(1_000)
    with refused(SessionExists, session_id="contested"):
        await MAKING[call](store, source)
    after = [metadata for metadata in await store.list() if metadata.id == "contested"]
    expect_equal(after, before, of="the metadata of the session that was there")


@case("S-OWN-04")
@rows("call", {name: name for name in MAKING})
@rows("state", opened="opened", closed="closed", closing="closing")
async def an_id_in_use_is_refused(store: SessionMaker, call: str, state: str) -> None:
    """`create` and `fork` onto the id of a session that is open, closed or closing raise `SessionExists` and leave that
    session unchanged.

    If this fails, look at: a check against the open sessions only; a file that is replaced; a failed call whose cleanup
    removes what was there.
    """
    source, taken = await store.linear_session(), await store.rich_session("contested")
    closing: asyncio.Task[None] | None = None
    if state == "closed":
        await taken.close()
    scope = await taken.session.begin_mutation() if state == "closing" else None
    if scope is not None:
        closing = asyncio.create_task(taken.session.close())
        await settle()
    for _ in range(2):
        with refused(SessionExists, session_id="contested"):
            await MAKING[call](store, source)
    if scope is not None and closing is not None:
        await scope.end()
        await closing
    await store.assert_only_known_sessions(source, taken)
    if state == "opened":
        await taken.check("the existing session, still open")
    await store.check_each(taken, source)


@case("S-OWN-05")
@rows("how", created="created", opened="opened", forked="forked")
@rows("call", open="open", delete="delete")
async def an_open_session_is_in_use(store: SessionMaker, how: str, call: str) -> None:
    """`open` and `delete` of a session that is open raise `SessionInUse`, and its owner goes on undisturbed.

    If this fails, look at: a second object on the same data; a delete under an open session; a refused call that gives
    back the owner's reservation.
    """
    owned = await _made(store, how)
    for _ in range(2):
        with refused(SessionInUse, session_id="owned"):
            await getattr(store.repo, call)(owned.metadata)
    await owned.append("main", "undisturbed")
    await owned.check_everywhere()


@case("S-OWN-12")
@rows("options", branch=BranchFork("main", id="source"), tree=TreeFork(id="source"))
@rows("closed", source_open=False, source_closed=True)
async def a_fork_onto_its_source_is_refused(store: SessionMaker, options: ForkOptions, closed: bool) -> None:
    """A fork whose destination id is the id of its source raises `SessionExists`, and the source is unchanged and as
    usable as before.

    If this fails, look at: a destination that is opened for writing before the source is read; a check against the open
    sessions only.
    """
    source = await store.rich_session("source")
    if closed:
        await source.close()
    with refused(SessionExists, session_id="source"):
        await store.repo.fork(source.metadata, options)
    await store.assert_only_known_sessions(source)
    if closed:
        await source.open()
    await source.append("main", "as usable as before")
    await source.check_everywhere()


@case("S-OWN-15")
@rows("options", FORKS)
@rows("point", boundary="boundary_captured", batch="batch_copied", publish="before_publish")
async def a_running_fork_leaves_its_source_free(store: SessionMaker, options: ForkOptions, point: str) -> None:
    """While a fork runs, its source can be opened, used and closed; the fork holds what was there at its boundary.

    If this fails, look at: a source reserved for the fork; a fork that opens its source as a session; a source that is
    read again after the boundary.
    """
    source = await store.linear_session()
    await source.close()
    model = source.model.fork(options, source.id)
    gate = store.probe.park(point)
    fork = asyncio.create_task(store.repo.fork(source.metadata, options))
    await gate.reached_by(fork)
    (opened,) = await raced(store.repo.open(source.metadata))
    expect_equal(opened.word, "returned", of="opening the source while the fork runs")
    source.session = opened.value
    await source.append("main", "written while the fork runs")
    await source.check()
    await source.close()
    gate.release()
    forked = store.subject(await fork, model)
    await store.check_each(forked, source)


@case("S-OWN-15")
@rows("options", FORKS)
@rows("point", boundary="boundary_captured", batch="batch_copied", publish="before_publish")
async def an_open_source_can_be_closed_under_a_fork(store: SessionMaker, options: ForkOptions, point: str) -> None:
    """While a fork of an open source runs, the source can be used, closed and opened again; the fork is not disturbed.

    If this fails, look at: a closing that waits for the fork; a fork that reads through the source's handle after the
    boundary.
    """
    source = await store.linear_session()
    model = source.model.fork(options, source.id)
    gate = store.probe.park(point)
    fork = asyncio.create_task(store.repo.fork(source.metadata, options))
    await gate.reached_by(fork)
    used = source.session
    await source.append("main", "written while the fork runs")
    await source.reopen()
    with refused(SessionClosed, session_id=source.id):
        await used.get_stats()
    gate.release()
    forked = store.subject(await fork, model)
    await store.check_each(forked, source)
