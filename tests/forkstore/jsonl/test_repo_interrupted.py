"""Calls of the repository that fail, are cancelled, or run while it is closed: at every moment, with nothing left."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkstore import BranchFork, JsonlSessionRepo, Session, TreeFork, value_address
from forkstore.contract.errors import CorruptSession, RepoClosed, SessionNotFound, StoreIOError
from forkstore.contract.store import SessionMetadata
from tests.forkstore.jsonl.changes import without_tail
from tests.forkstore.jsonl.moments import slow_files
from tests.forkstore.jsonl.planted import GARDEN, GOOD, LEGACY, header_line, plant
from tests.forkstore.jsonl.stores import Store, closing
from tests.forkstore.jsonl.trees import tree

pytestmark = [pytest.mark.asyncio, pytest.mark.one_python]
NOTE = value_address("app", "note")
TORN = GOOD[:-9]
Making = Callable[[JsonlSessionRepo, SessionMetadata], Awaitable[Session]]
MAKING: dict[str, tuple[bytes, Making]] = {
    "create": (GOOD, lambda repo, source: repo.create(id="new", cwd=GARDEN)),
    "create in a new directory": (GOOD, lambda repo, source: repo.create(id="new", cwd="/srv/pond")),
    "tree fork": (GOOD, lambda repo, source: repo.fork(source, TreeFork("new"))),
    "branch fork": (GOOD, lambda repo, source: repo.fork(source, BranchFork("main", id="new"))),
    "fork of a torn source": (TORN, lambda repo, source: repo.fork(source, TreeFork("new"))),
    "fork of a legacy source": (LEGACY, lambda repo, source: repo.fork(source, TreeFork("new"))),
    "open": (GOOD, lambda repo, source: repo.open(source)),
    "open of a torn file": (TORN, lambda repo, source: repo.open(source)),
    "open of a legacy file": (LEGACY, lambda repo, source: repo.open(source)),
}
FAULTS: dict[str, Fault] = {
    "fails": Fail("permission_denied"),
    "fails late": FailAfter("unknown"),
    "short": Short(0.5),
    "no space": NoSpace(),
    "cancelled": Cancel("before"),
    "cancelled late": Cancel("after"),
}


def trees_of(data: bytes, making: str) -> list[dict[str, bytes | None]]:
    """What may stand there after a call that came to nothing: what stood there before, or a completed repair."""
    contents = [data, without_tail(data)] if making == "open of a torn file" else [data]
    return [{"--srv-garden--": None, "--srv-garden--/planted.jsonl": content} for content in contents]


def start_again(root: Path, data: bytes) -> SessionMetadata:
    """Nothing stands there but the source."""
    shutil.rmtree(root, ignore_errors=True)
    return plant(root, data)


TAKE_NO_ROOM = ("open", "open of a legacy file")


@pytest.mark.parametrize(
    ("making", "fault"),
    [(making, fault) for making in MAKING for fault in FAULTS if making not in TAKE_NO_ROOM or fault != "no space"],
)
async def test_a_call_that_fails_anywhere_leaves_nothing_and_can_be_repeated(
    making: str, fault: str, tmp_path: Path
) -> None:
    """S-ERR-02, S-OWN-09, S-FORK-FAIL-02, S-FORK-FAIL-04, S-FORK-FAIL-08."""
    data, call = MAKING[making]
    async with closing(Store(tmp_path / "sessions")) as store:
        source = plant(store.root, data)
        made: list[Session] = []

        async def attempt() -> None:
            made.append(await call(store.repo, source))

        async def nothing_is_left(n: int, hit: Hit, outcome: Stepped) -> None:
            if outcome.kind == "returned":  # the failure made no difference, as that of a look into a missing directory
                await made.pop().close()
            else:
                assert tree(store.root) in trees_of(data, making), str(hit)
            assert store.spy.open_readers == [], str(hit)
            if outcome.kind == "raised":
                assert isinstance(outcome.error, StoreIOError), str(hit)
                assert outcome.error.__cause__ in [one.error for one in store.faults.hits], str(hit)
            start_again(store.root, data)

        assert await swept(attempt, store.faults, FAULTS[fault], nothing_is_left) >= 1
        await made.pop().close()


@pytest.mark.parametrize("again_after", [None, 1, 4])
@pytest.mark.parametrize("making", MAKING)
async def test_a_call_that_is_cancelled_anywhere_leaves_nothing(
    making: str, again_after: int | None, tmp_path: Path
) -> None:
    """S-FORK-FAIL-05, S-FORK-FAIL-06, with files that suspend in every call."""
    data, call = MAKING[making]
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        source = plant(store.root, data)
        made: list[Session] = []

        async def attempt() -> None:
            made.append(await call(store.repo, source))

        async def nothing_is_left(k: int, outcome: Stepped) -> None:
            assert outcome.kind == "cancelled", k
            assert tree(store.root) in trees_of(data, making), k
            assert store.spy.open_readers == [], k
            start_again(store.root, data)

        suspensions = await cancelled_at_every_suspension(attempt, nothing_is_left, again_after=again_after)
        assert suspensions > 20
        await made.pop().close()


@pytest.mark.parametrize("making", MAKING)
async def test_a_repository_that_is_closed_at_any_moment_of_a_call_refuses_it_and_nothing_is_left(
    making: str, tmp_path: Path
) -> None:
    """S-REPO-24: `close` waits for the call, which raises RepoClosed."""
    data, call = MAKING[making]
    for k in range(1, 1_000):
        store = Store(tmp_path / "sessions", slow_files())
        running = Running(call(store.repo, start_again(store.root, data)))
        await running.closed_after(k, store.repo)
        assert store.spy.open_readers == [], k
        if not running.was_closed:
            break
        assert isinstance(running.task.exception(), RepoClosed), k
        assert tree(store.root) in trees_of(data, making), k
        with pytest.raises(RepoClosed):
            await store.repo.list()
    assert k > 20


class Running:
    """A call that runs while its repository is closed."""

    def __init__(self, call: Awaitable[object]) -> None:
        self.task: asyncio.Future[Any] = asyncio.ensure_future(call)
        self.was_closed = False
        """Whether the first step of the closing came before the end of the call."""

    async def closed_after(
        self, rounds: int, repo: JsonlSessionRepo, before: Callable[[], object] = lambda: None
    ) -> None:
        """Closes the repository after so many rounds of the loop, and shows that closing waits for the call."""
        for _ in range(rounds):
            await asyncio.sleep(0)
        self.was_closed = not self.task.done()
        if self.was_closed:
            before()
        await repo.close()
        assert self.task.done()


@pytest.mark.parametrize("again_after", [None, 1, 2])
async def test_a_delete_that_is_cancelled_anywhere_leaves_the_session_wholly_there_or_wholly_gone(
    again_after: int | None, tmp_path: Path
) -> None:
    """S-REPO-19."""
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        source = plant(store.root)

        async def whole_or_gone(k: int, outcome: Stepped) -> None:
            assert outcome.kind == "cancelled", k
            stands = tree(store.root)
            if "--srv-garden--/planted.jsonl" in stands:
                await (await store.repo.open(source)).close()
            else:
                with pytest.raises(SessionNotFound):
                    await store.repo.open(source)
                plant(store.root)
            assert stands.get("--srv-garden--/planted.jsonl", GOOD) == GOOD

        suspensions = await cancelled_at_every_suspension(
            lambda: store.repo.delete(source), whole_or_gone, again_after=again_after
        )
        assert suspensions >= 6
        assert tree(store.root) == {"--srv-garden--": None}


@pytest.mark.parametrize("fault", ["fails", "fails late"])
async def test_a_delete_that_fails_anywhere_leaves_the_session_wholly_there_or_wholly_gone(
    fault: str, tmp_path: Path
) -> None:
    async with closing(Store(tmp_path / "sessions")) as store:
        source = plant(store.root)

        async def whole_or_gone(n: int, hit: Hit, outcome: Stepped) -> None:
            assert isinstance(outcome.error, StoreIOError), str(hit)
            assert outcome.error.__cause__ is hit.error, str(hit)
            assert (outcome.error.operation, outcome.error.path) == (hit.name, hit.path), str(hit)
            plant(store.root)
            await (await store.repo.open(source)).close()

        assert await swept(lambda: store.repo.delete(source), store.faults, FAULTS[fault], whole_or_gone) >= 4


async def test_a_closed_repository_waits_for_a_delete(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", slow_files())
    deleting = asyncio.ensure_future(store.repo.delete(plant(store.root)))
    await asyncio.sleep(0)
    await store.repo.close()
    assert deleting.done()
    assert deleting.exception() is None
    assert tree(store.root) == {"--srv-garden--": None}


async def test_a_failure_to_let_go_does_not_take_the_place_of_the_refusal(tmp_path: Path) -> None:
    """S-FORK-FAIL-07: the repository was closed, and then the reader of the session could not be."""
    for making in ("create", "fork of a legacy source", "open", "open of a torn file"):
        data, call = MAKING[making]
        seen: set[type[BaseException]] = set()
        for k in range(1, 1_000):
            store = Store(tmp_path / "sessions", slow_files())
            running = Running(call(store.repo, start_again(store.root, data)))
            await running.closed_after(k, store.repo, partial(store.faults.arm, _Always("unknown"), names={"close"}))
            if not running.was_closed:
                break
            error = running.task.exception()
            assert isinstance(error, RepoClosed) or (isinstance(error, StoreIOError) and error.operation == "close")
            seen.add(type(error))
            assert tree(store.root) in trees_of(data, making), (making, k)
        assert RepoClosed in seen


class _Always(Fail):
    lasting = True


async def test_many_refused_calls_leave_nothing_in_memory(tmp_path: Path) -> None:
    """Neither reservations nor open files are kept for calls that came to nothing."""
    async with closing(Store(tmp_path / "sessions")) as store:
        broken = plant(store.root, header_line() + b"broken\n")
        for number in range(50):
            with pytest.raises(CorruptSession):
                await store.repo.open(broken)
            with pytest.raises(CorruptSession):
                await store.repo.fork(broken, TreeFork(f"fork-{number}"))
        held = [name for name, value in vars(store.repo).items() if isinstance(value, dict | set | list) and value]
        assert held == []
