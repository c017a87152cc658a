"""Files that others have changed under an open session: never written, never cut (S-JSONL-FMT-16)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkproof.instruments.fault_kinds import CHANGES, Fail, Fault, Hit, Short
from forkproof.instruments.stepping import stepped
from forkstore import Session
from forkstore.contract.errors import (
    SessionFileChanged,
    StoreIOError,
)
from forkstore.contract.files import FileError
from forkstore.jsonl.files import LocalFiles
from tests.forkstore.jsonl.changes import ACTS, cut, grow, replace, write_anew
from tests.forkstore.jsonl.committing import NEXT, added, commit, note, opened, reopened
from tests.forkstore.jsonl.moments import Twice
from tests.forkstore.jsonl.planted import path_of, plant
from tests.forkstore.jsonl.stores import Store, closing

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


@pytest.mark.parametrize("act", [grow, cut, replace, write_anew])
async def test_a_file_that_others_changed_is_never_cut(act: Any, store: Store) -> None:
    """Not by the commit that fails while they do it, not by a later one, and not by `close`."""
    session = await opened(store)
    path = path_of(session.metadata)

    class Changes(Fault):
        lasting = True

        async def strike(self, operation: Any, hit: Hit) -> Any:
            if hit.first:
                act(path)
                path.write_bytes(path.read_bytes() + b"theirs " * 100)
            raise hit.failure("unknown")

    store.faults.arm(Changes(), names={"append_file"})
    with pytest.raises(StoreIOError):
        await commit(session, "refused")
    store.faults.disarm()
    theirs = path.read_bytes()
    with pytest.raises(SessionFileChanged):
        await commit(session, "refused")
    await session.close()
    assert path.read_bytes() == theirs
    assert theirs.endswith(b"theirs ")


@pytest.mark.parametrize("act", ACTS)
async def test_a_file_that_others_changed_while_a_left_over_stands_is_never_cut(act: str, store: Store) -> None:
    session = await opened(store)
    store.faults.arm(Twice(Short(0.5)), names=CHANGES)
    with pytest.raises(StoreIOError):
        await commit(session, "refused" * 100)
    store.faults.disarm()
    path = path_of(session.metadata)
    ACTS[act](path)
    if path.exists():
        path.write_bytes(path.read_bytes() + b"theirs " * 200)
    theirs = path.read_bytes() if path.exists() else None
    for _ in range(2):
        with pytest.raises(SessionFileChanged):
            await commit(session, "refused")
    await session.close()
    assert (path.read_bytes() if path.exists() else None) == theirs


async def test_a_file_that_is_gone_is_a_change_with_its_cause(store: Store) -> None:
    """S-JSONL-FMT-16, S-ERR-02."""
    session = await opened(store)
    path_of(session.metadata).unlink()
    with pytest.raises(SessionFileChanged) as change:
        await commit(session, 1)
    assert isinstance(change.value.__cause__, FileError)


async def test_a_look_that_fails_is_no_change(store: Store) -> None:
    session = await opened(store)
    store.faults.arm(Fail("permission_denied"), names={"file_info"})
    with pytest.raises(StoreIOError) as failure:
        await commit(session, "refused")
    assert failure.value.operation == "file_info"
    assert (await commit(session, 1)).first_seq == NEXT


async def test_two_handles_of_two_repositories_do_not_mix_their_lines(tmp_path: Path) -> None:
    """Ownership is not promised; the one that comes second notices."""
    async with closing(Store(tmp_path / "sessions")) as one, closing(Store(tmp_path / "sessions")) as other:
        first, second = await opened(one), await other.repo.open(plant(tmp_path / "sessions"))
        assert isinstance(first, Session)
        await commit(first, "first")
        with pytest.raises(SessionFileChanged):
            await commit(second, "second")
        assert await note(await reopened(one, first)) == "first"


async def test_a_capability_may_be_slower_than_the_one_it_is_made_from(tmp_path: Path) -> None:
    """`inline_bytes` is a promise about speed: when it is broken nothing is lost."""

    class Slower(LocalFiles):
        async def append_file(self, path: str, data: bytes) -> None:
            await asyncio.sleep(0)
            await super().append_file(path, data)
            await asyncio.sleep(0)

    store = Store(tmp_path)
    repo = type(store.repo)(tmp_path, files=Slower())
    session = await repo.open(plant(tmp_path))
    for k in range(1, 6):
        outcome = await stepped(lambda: commit(session, "asked"), k)
        assert outcome.kind in ("cancelled", "returned")
        there = await note(session) == "asked"
        assert (b"asked" in added(session)) is there
    await session.close()
    again = await repo.open(session.metadata)
    assert (await note(again) == "asked") is there
    await repo.close()
