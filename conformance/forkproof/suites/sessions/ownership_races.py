"""Calls for one session that do not wait for each other, and what failing calls leave reserved (section 12)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from itertools import permutations
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.racing import Ended, ended, raced, words
from forkproof.makers import SessionMaker
from forkproof.oracle.model import SessionModel
from forkstore.contract.errors import EntryNotOnBranch, SessionExists, SessionInUse, SessionNotFound, UnknownBranch
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main", id="contested"), "tree": TreeFork(id="contested")}


@case("S-OWN-06", "S-OWN-01")
@rows("options", FORKS)
@rows("forks_first", create_first=False, fork_first=True)
async def create_and_fork_race_for_an_id(store: SessionMaker, options: ForkOptions, forks_first: bool) -> None:
    """When `create` and `fork` ask for one id without waiting, the one called first succeeds with all it should hold,
    and the other raises `SessionExists` and leaves nothing: in both orders.

    If this fails, look at: two registers of ids; a loser whose cleanup removes the winner's data; a winner that is
    filled from both calls.
    """
    source = await store.rich_session()
    calls = [store.repo.create(id="contested", **store.create_options), store.repo.fork(source.metadata, options)]
    winner, loser = await raced(*(reversed(calls) if forks_first else calls))
    expect_equal(words([winner, loser]), ["returned", "SessionExists"], of="the first and the second call")
    model = source.model.fork(options, source.id) if forks_first else SessionModel()
    model.look_at(source.model.touched)
    made = store.subject(winner.value, model)
    await store.assert_only_known_sessions(source, made)
    await made.append("main", "the winner writes")
    await store.check_each(made, source)


@case("S-OWN-07")
async def of_many_creates_the_first_succeeds(store: SessionMaker) -> None:
    """Of many concurrent creates of one id exactly the first succeeds; the losers neither disturb the winner nor give
    back its reservation.

    If this fails, look at: a check and a reservation with a suspension between them; cleanup of a loser that removes
    the winner's data or reservation.
    """
    endings = await raced(*(store.repo.create(id="contested", **store.create_options) for _ in range(12)))
    expect_equal(words(endings), ["returned"] + ["SessionExists"] * 11, of="twelve creates of one id")
    winner = store.subject(endings[0].value, SessionModel())
    await winner.append("main", "the winner writes")
    await store.assert_only_known_sessions(winner)
    with refused(SessionExists):
        await store.create("contested")
    with refused(SessionInUse):
        await store.repo.open(winner.metadata)
    await winner.check_everywhere()


@case("S-OWN-07")
async def of_many_opens_the_first_succeeds(store: SessionMaker) -> None:
    """Of many concurrent opens of one session exactly the first succeeds; the losers neither disturb the winner nor
    give back its reservation.

    If this fails, look at: one object handed out several times; two objects on the same data; a loser that gives back
    the winner's reservation.
    """
    subject = await store.rich_session()
    await subject.close()
    endings = await raced(*(store.repo.open(subject.metadata) for _ in range(12)))
    expect_equal(words(endings), ["returned"] + ["SessionInUse"] * 11, of="twelve opens of one session")
    subject.session = endings[0].value
    await subject.append("main", "the winner writes")
    with refused(SessionInUse):
        await store.repo.open(subject.metadata)
    await subject.check_everywhere()


@case("S-OWN-08")
@rows("call", create="create", branch="branch", tree="tree")
async def an_id_is_taken_until_its_delete_has_ended(store: SessionMaker, call: str) -> None:
    """While a delete runs, `create` and `fork` of the same id are refused; when it has ended they succeed, and nothing
    of the deleted session is in the new one.

    If this fails, look at: an id that is free before its data is gone; a reservation kept after the delete; data that
    comes back under the id.
    """
    source, doomed = await store.linear_session(), await store.rich_session("contested")
    await doomed.close()

    def making() -> Coroutine[Any, Any, Any]:
        if call == "create":
            return store.repo.create(id="contested", **store.create_options)
        return store.repo.fork(source.metadata, FORKS[call])

    deleting = asyncio.create_task(store.repo.delete(doomed.metadata))

    async def made_at_once() -> tuple[bool, Ended]:
        had_ended = deleting.done()
        return had_ended, await ended(making())

    had_ended, made = await asyncio.create_task(made_at_once())
    await deleting
    expect_equal(made.word, "returned" if had_ended else "SessionExists", of=f"{call} right behind a delete")
    if not had_ended:
        made = await ended(making())
        expect_equal(made.word, "returned", of=f"{call} after the delete has ended")
    model = SessionModel() if call == "create" else source.model.fork(FORKS[call], source.id)
    model.look_at(doomed.model.touched)
    new = store.subject(made.value, model)
    await store.assert_only_known_sessions(source, new)
    await store.check_each(new, source)


@case("S-OWN-08")
@rows("order", {"-".join(order): order for order in permutations(("delete", "open", "create"))})
async def deleting_opening_and_creating_race(store: SessionMaker, order: tuple[str, ...]) -> None:
    """Whatever the order of a delete, an open and a create of one session: either the session stays whole and its owner
    has it, or it is gone and what was made in its place is empty; never both.

    If this fails, look at: a delete that removes what was opened or created meanwhile; an open that finds half a
    session.
    """
    subject = await store.rich_session("contested")
    await subject.close()
    calls: dict[str, Any] = {
        "delete": lambda: store.repo.delete(subject.metadata),
        "open": lambda: store.repo.open(subject.metadata),
        "create": lambda: store.repo.create(id="contested", **store.create_options),
    }
    endings = dict(zip(order, await raced(*(calls[call]() for call in order)), strict=True))
    told = {call: ending.word for call, ending in endings.items()}
    if endings["open"].error is None:
        expect_equal(told["delete"], "SessionInUse", of=f"the delete beside an open that succeeded ({told})")
        expect_equal(told["create"], "SessionExists", of=f"the create beside an open that succeeded ({told})")
        await store.subject(endings["open"].value, subject.model).check_everywhere()
        return
    if order[0] == "create" and endings["delete"].error is not None:
        # A store that learns late that the id is taken holds it for the create until then.
        held = {"create": "SessionExists", "delete": "SessionInUse", "open": "SessionInUse"}
        expect_equal(told, held, of="the calls behind a create that held the id until it was refused")
        await subject.open()
        await subject.check_everywhere()
        return
    expect_equal(told["delete"], "returned", of=f"the delete beside an open that was refused ({told})")
    if endings["create"].error is not None:
        await store.assert_only_known_sessions()
        return
    new = store.subject(endings["create"].value, SessionModel())
    new.model.look_at(subject.model.touched)
    await new.check_everywhere()


FAILING: dict[str, Any] = {
    "unknown-branch": (BranchFork("no-such-branch", id="contested"), UnknownBranch),
    "entry-elsewhere": (BranchFork("main", entry_id="left-leaf", id="contested"), EntryNotOnBranch),
}


@case("S-OWN-09", needs=())
@rows("failing", FAILING)
async def a_refused_fork_has_released_its_id(store: SessionMaker, failing: Any) -> None:
    """When the refusal of a fork reaches its caller, the destination id is free: the very next call takes it.

    If this fails, look at: a reservation given back on success only; a cleanup that runs after the error was raised.
    """
    options, refusal = failing
    source = await store.bushy_session()
    for _ in range(3):
        with refused(refusal):
            await store.repo.fork(source.metadata, options)
    made = await ended(store.repo.create(id="contested", **store.create_options))
    expect_equal(made.word, "returned", of="a create with the id, right after the refusal")


@case("S-OWN-09", needs=())
@rows("call", open="open", delete="delete", branch="branch", tree="tree")
async def a_call_for_a_missing_session_has_released_it(store: SessionMaker, call: str) -> None:
    """When `SessionNotFound` reaches the caller of `open`, `delete` or `fork`, neither the session nor the destination
    is reserved.

    If this fails, look at: a reservation made before the search and kept after it.
    """
    source, doomed = await store.linear_session(), await store.linear_session(id="doomed")
    await doomed.close()
    await store.repo.delete(doomed.metadata)
    with refused(SessionNotFound):
        if call in FORKS:
            await store.repo.fork(doomed.metadata, FORKS[call])
        else:
            await getattr(store.repo, call)(doomed.metadata)
    again = await ended(store.repo.create(id="doomed", **store.create_options))
    fork = await ended(store.repo.fork(source.metadata, TreeFork(id="contested")))
    expect_equal(words([again, fork]), ["returned"] * 2, of="create and fork with the ids, right after the refusal")


@case("S-OWN-09", needs=("probe",))
@rows("options", FORKS)
@rows("point", boundary="boundary_captured", batch="batch_copied", publish="before_publish")
async def a_cancelled_fork_has_released_its_id(store: SessionMaker, options: ForkOptions, point: str) -> None:
    """When its cancellation reaches the caller of a fork, the destination id is free, for `fork` and for `create`.

    If this fails, look at: cleanup for errors but not for cancellation; a reservation kept by a task that goes on.
    """
    source = await store.linear_session()
    for _ in range(2):
        gate = store.probe.park(point)
        fork = asyncio.create_task(store.repo.fork(source.metadata, options))
        await gate.reached_by(fork)
        fork.cancel()
        with refused(asyncio.CancelledError):
            await fork
    made = await ended(store.repo.create(id="contested", **store.create_options))
    expect_equal(made.word, "returned", of="a create with the id, right after the cancellation")
    await made.value.close()
    await store.repo.delete(made.value.metadata)
    await store.check_each(await source.fork(options), source)


@case("S-OWN-13")
@rows("step", clock_stands=0, clock_goes_back=-1)
async def ids_of_one_moment_never_collide(store: SessionMaker, step: int) -> None:
    """Forks and creates without an id never collide, one after the other and at once, also while the clock stands still
    or goes back.

    If this fails, look at: an id made from the time alone; a counter per kind of call; a generator that starts anew
    with each call.
    """
    source = await store.linear_session()
    ids = [source.id]
    for _ in range(10):
        store.clock.advance(step)
        endings = await raced(
            *(store.repo.create(**store.create_options) for _ in range(3)),
            *(store.repo.fork(source.metadata, options) for options in (TreeFork(), BranchFork("main"), TreeFork())),
        )
        expect_equal(words(endings), ["returned"] * 6, of="three creates and three forks without an id, at once")
        ids += [ending.value.metadata.id for ending in endings]
    expect_equal(len(set(ids)), len(ids), of="the number of different ids")
    expect_equal(await store.listed_ids(), sorted(ids), of="the sessions that are listed")
