"""Reservations: one holder per key, let go of whatever happens, and closed with everything that runs."""

from __future__ import annotations

import asyncio

import pytest

from forkstore.contract.errors import RepoClosed, SessionExists, SessionInUse
from forkstore.reservations import Reservations

from .gated import settle

pytestmark = pytest.mark.asyncio


class Closable:
    """An open session as far as reservations care: it closes when it is let go, and may fail."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.failure = failure
        self.closed = 0
        self.may_close = asyncio.Event()
        self.may_close.set()

    async def close(self) -> None:
        await self.may_close.wait()
        self.closed += 1
        if self.failure is not None:
            raise self.failure


def opened(reservations: Reservations[str, Closable], key: str, failure: BaseException | None = None) -> Closable:
    with reservations.reserve(key, SessionExists(key)) as reservation:
        return reservation.hand_to(Closable(failure))


async def test_a_key_has_one_holder() -> None:
    """S-OWN-04, S-OWN-05: the loser gets the refusal of its own call."""
    reservations: Reservations[str, Closable] = Reservations()
    with reservations.reserve("a", SessionExists("a")):
        refusal = SessionInUse("a")
        with pytest.raises(SessionInUse) as raised:
            reservations.reserve("a", refusal)
        assert raised.value is refusal
        with reservations.reserve("b", SessionExists("b")):
            pass


@pytest.mark.parametrize("error", [LookupError, asyncio.CancelledError])
async def test_a_call_that_fails_has_let_go(error: type[BaseException]) -> None:
    """S-OWN-09."""
    reservations: Reservations[str, Closable] = Reservations()
    with pytest.raises(error), reservations.reserve("a", SessionExists("a")):
        raise error
    session = opened(reservations, "a")
    assert reservations.open_session("a") is session


async def test_a_handed_reservation_lasts_until_it_is_released() -> None:
    """S-OWN-03."""
    reservations: Reservations[str, Closable] = Reservations()
    opened(reservations, "a")
    with pytest.raises(SessionInUse):
        reservations.reserve("a", SessionInUse("a"))
    reservations.release("a")
    assert reservations.open_session("a") is None
    opened(reservations, "a")


async def test_a_closed_repository_takes_no_calls() -> None:
    """S-REPO-21."""
    reservations: Reservations[str, Closable] = Reservations()
    reservations.check_open()
    reservations.refuse_new()
    with pytest.raises(RepoClosed):
        reservations.check_open()


async def test_closing_closes_all_sessions_at_once_and_waits_for_all() -> None:
    """S-REPO-22: a slow session does not keep the others open, and a failing one does not cut the waiting short."""
    reservations: Reservations[str, Closable] = Reservations()
    sessions = [opened(reservations, "a"), opened(reservations, "b", OSError("b")), opened(reservations, "c")]
    sessions[0].may_close.clear()
    closing = asyncio.create_task(reservations.close_all())
    await settle()
    assert [session.closed for session in sessions] == [0, 1, 1]
    assert not closing.done()
    sessions[0].may_close.set()
    with pytest.raises(OSError, match="b"):
        await closing


async def test_closing_waits_for_the_running_calls() -> None:
    """S-REPO-24, none, one or several of them."""
    reservations: Reservations[str, Closable] = Reservations()
    await reservations.close_all()
    first, second = reservations.reserve("a", SessionExists("a")), reservations.reserve("b", SessionExists("b"))
    closing = asyncio.create_task(reservations.close_all())
    await settle()
    with first:
        pass
    await settle()
    assert not closing.done()
    with second:
        pass
    await closing


async def test_a_single_failure_is_raised_as_it_is() -> None:
    """S-REPO-22."""
    reservations: Reservations[str, Closable] = Reservations()
    failure = LookupError("mine")
    opened(reservations, "a")
    opened(reservations, "b", failure)
    with pytest.raises(LookupError) as raised:
        await reservations.close_all()
    assert raised.value is failure


@pytest.mark.parametrize("failures", [[LookupError("a"), OSError("b")], [LookupError("a"), OSError("b"), OSError("c")]])
async def test_several_failures_are_one_exception_group(failures: list[Exception]) -> None:
    """S-REPO-22."""
    reservations: Reservations[str, Closable] = Reservations()
    for key, failure in zip("abc", failures, strict=False):
        opened(reservations, key, failure)
    opened(reservations, "d")
    with pytest.raises(ExceptionGroup) as raised:
        await reservations.close_all()
    assert list(raised.value.exceptions) == failures
    assert type(raised.value) is ExceptionGroup
