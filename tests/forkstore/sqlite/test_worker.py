"""The thread of a connection: jobs in order, outcomes to their callers, nobody goes on before a job has ended."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest
import pytest_asyncio

from forkstore.sqlite.connect import Mode, open_connection
from forkstore.sqlite.worker import Worker
from tests.forkstore.gated import settle

pytestmark = pytest.mark.asyncio


class Broken(Exception):
    """The error of a job or of a connect function."""


def fail(connection: apsw.Connection) -> None:
    raise Broken


def number(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT 1").get)


def store_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "forkstore-sqlite"]


@pytest_asyncio.fixture
async def worker(tmp_path: Path) -> AsyncIterator[Worker]:
    worker = Worker.start(open_connection)
    await worker.open(str(tmp_path / "a.sqlite"), "create")
    yield worker
    await worker.close()


class Held:
    """A job that waits until it is let go."""

    def __init__(self) -> None:
        self.ended = False
        self._begun, self._gate = threading.Event(), threading.Event()

    def __call__(self, connection: apsw.Connection) -> None:
        self._begun.set()
        assert self._gate.wait(30)
        self.ended = True

    def let_go(self) -> None:
        assert self._begun.wait(30)
        self._gate.set()


async def test_jobs_run_in_one_other_thread_in_the_order_of_first_steps(worker: Worker) -> None:
    ran: list[tuple[int, int]] = []

    async def job(name: int) -> None:
        await worker.run(lambda _: ran.append((name, threading.get_ident())))

    calls = [job(name) for name in range(5)]
    tasks = [asyncio.ensure_future(call) for call in reversed(calls)]
    await asyncio.gather(*tasks)
    assert [name for name, _ in ran] == [4, 3, 2, 1, 0]
    assert len({thread for _, thread in ran}) == 1
    assert ran[0][1] != threading.get_ident()


async def test_what_is_submitted_is_in_the_queue_at_once(worker: Worker) -> None:
    held, ran = Held(), list[str]()
    first, second = worker.submit(held), worker.submit(lambda _: ran.append("second"))
    behind = asyncio.create_task(worker.run(lambda _: ran.append("behind")))
    await settle()
    held.let_go()
    await asyncio.gather(first, second, behind)
    assert ran == ["second", "behind"]


async def test_a_failing_job_fails_its_caller_and_no_other(worker: Worker) -> None:
    failing, good = worker.submit(fail), worker.submit(number)
    with pytest.raises(Broken):
        await failing
    assert await good == 1


async def test_a_cancelled_caller_learns_of_it_when_the_job_has_ended(worker: Worker) -> None:
    held = Held()
    task = asyncio.create_task(worker.run(held))
    await settle()
    for _ in range(2):
        task.cancel()
        await settle()
        assert not task.done()
    held.let_go()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert held.ended
    assert await worker.run(number) == 1


async def test_a_job_that_waits_in_the_queue_runs_although_its_caller_is_cancelled(worker: Worker) -> None:
    held, ran = Held(), list[int]()
    first, second = asyncio.create_task(worker.run(held)), asyncio.create_task(worker.run(lambda _: ran.append(1)))
    await settle()
    second.cancel()
    held.let_go()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert ran == [1]
    await first


async def test_a_time_limit_of_the_caller_is_kept_once_the_job_has_ended(worker: Worker) -> None:
    held = Held()

    async def impatient() -> None:
        async with asyncio.timeout(0):
            await worker.run(held)

    task = asyncio.create_task(impatient())
    await settle()
    assert not task.done()
    held.let_go()
    with pytest.raises(TimeoutError):
        await task
    assert held.ended


async def test_a_failure_that_nobody_asks_for_is_no_complaint(worker: Worker) -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    abandoned = worker.submit(fail)
    del abandoned
    assert await worker.run(number) == 1
    gc.collect()
    assert complaints == []


async def test_every_job_of_a_worker_that_could_not_open_fails_as_its_opening_did() -> None:
    def refuse(path: str, mode: Mode) -> apsw.Connection:
        raise Broken(path, mode)

    worker = Worker.start(refuse)
    opening, job = worker.submit_open("a.sqlite", "read-only"), worker.submit(number)
    with pytest.raises(Broken) as of_opening:
        await opening
    with pytest.raises(Broken) as of_job:
        await job
    assert of_opening.value.args == ("a.sqlite", "read-only")
    assert of_job.value is of_opening.value
    await worker.close()


async def test_a_worker_that_opens_nothing_runs_no_job() -> None:
    worker = Worker.start(open_connection)
    with pytest.raises(RuntimeError, match="no connection"):
        await worker.run(number)
    await worker.close()


async def test_one_worker_can_wait_for_another(worker: Worker, tmp_path: Path) -> None:
    other = Worker.start(open_connection)
    opening = other.submit_open(str(tmp_path / "a.sqlite"), "read-only")
    assert await worker.run(lambda _: other.call(number)) == 1
    with pytest.raises(Broken):
        await worker.run(lambda _: other.call(fail))
    await opening
    await other.close()
    with pytest.raises(RuntimeError, match="closed"):
        await worker.run(lambda _: other.call(number))


async def test_closing_comes_after_all_jobs_and_happens_once(tmp_path: Path) -> None:
    closed: list[tuple[str, int]] = []

    class Watched(apsw.Connection):
        def close(self, force: bool = False) -> None:
            closed.append(("closed", threading.get_ident()))
            super().close(force)

    worker = Worker.start(lambda path, _: Watched(path))
    await worker.open(str(tmp_path / "a.sqlite"), "create")
    held = Held()
    job = worker.submit(held)
    closings = [asyncio.create_task(worker.close()) for _ in range(2)]
    await settle()
    closings[0].cancel()
    with pytest.raises(RuntimeError, match="closed"):
        await worker.run(number)
    assert closed == []
    held.let_go()
    with pytest.raises(asyncio.CancelledError):
        await closings[0]
    await asyncio.gather(job, closings[1])
    await worker.close()
    assert closed == [("closed", closed[0][1])]
    assert closed[0][1] != threading.get_ident()


async def test_a_failure_to_close_is_the_outcome_of_every_close_and_leaves_nothing_open(tmp_path: Path) -> None:
    worker = Worker.start(open_connection)
    await worker.open(str(tmp_path / "a.sqlite"), "create")
    unfinished = await worker.run(lambda connection: connection.execute("SELECT 1; SELECT 2"))
    for _ in range(2):
        with pytest.raises(apsw.IncompleteExecutionError):
            await worker.close()
    assert apsw.connections() == []
    del unfinished


async def test_a_worker_keeps_neither_results_nor_errors(worker: Worker) -> None:
    class Value:
        pass

    value = await worker.run(lambda _: Value())
    kept = weakref.ref(value)
    del value
    with pytest.raises(Broken) as failure:
        await worker.run(fail)
    error = weakref.ref(failure.value)
    del failure
    await worker.run(number)
    gc.collect()
    assert (kept(), error()) == (None, None)


async def test_the_thread_of_a_worker_that_was_let_go_ends(tmp_path: Path) -> None:
    before = set(store_threads())
    worker = Worker.start(open_connection)
    await worker.open(str(tmp_path / "a.sqlite"), "create")
    (thread,) = set(store_threads()) - before
    del worker
    gc.collect()
    thread.join(30)
    assert not thread.is_alive()
    assert apsw.connections() == []
