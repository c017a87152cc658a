"""The options of the repository on files, and the arguments of its calls (spec sections 2.5 and 11)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkstore import JsonlSessionRepo, LocalFiles, MemorySessionRepo, TreeFork
from forkstore.contract.errors import (
    InvalidArgument,
    InvalidForkOptions,
    InvalidSessionId,
    SessionStoreError,
    StoreIOError,
)
from forkstore.contract.files import FileError
from forkstore.contract.store import SessionMetadata
from tests.forkstore.jsonl.planted import (
    GARDEN,
    plant,
)
from tests.forkstore.jsonl.stores import Store, closing
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


class _Lacking(LocalFiles):
    truncate_file = None  # type: ignore[assignment]


class _BytesPath:
    def __fspath__(self) -> bytes:
        return b"sessions"


@pytest.mark.parametrize(
    "options",
    [
        *({"sessions_root": root} for root in (None, 5, "", b"sessions", _BytesPath(), "a\0b", ["sessions"])),
        *({"files": files} for files in (5, object(), LocalFiles, "files", _Lacking())),
        *({"now": now} for now in (5, "now", 1_760_000_000_123)),
        *({"id_generator": generator} for generator in (5, object(), lambda: "id")),
    ],
)
async def test_an_option_of_the_wrong_type_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        JsonlSessionRepo(**({"sessions_root": tmp_path} | options))
    assert {refusal.value.field} == {*options}


async def test_options_have_defaults_and_building_a_repository_touches_nothing(tmp_path: Path) -> None:
    JsonlSessionRepo(tmp_path / "sessions")
    JsonlSessionRepo(str(tmp_path / "sessions"), now=None, id_generator=None, fork_probe=None, files=None)
    assert tree(tmp_path) == {}


Call = Callable[[JsonlSessionRepo], Awaitable[object]]


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda repo: repo.create(), "cwd"),
        *(
            (lambda repo, cwd=cwd: repo.create(cwd=cwd), "cwd")
            for cwd in ("", 5, b"/srv", Path("/srv"), "a\0b", "\ud800")
        ),
        *((lambda repo, cwd=cwd: repo.list(cwd=cwd), "cwd") for cwd in ("", 5, Path("/srv"), "a\0b", "\ud800")),
        (lambda repo: repo.create(cwd="/srv", parent_session_id=5), "parent_session_id"),
        (lambda repo: repo.create(cwd="/srv", parent_session_id="\ud800"), "parent_session_id"),
    ],
)
async def test_an_argument_of_the_wrong_type_is_refused_before_anything_happens(
    call: Call, field: str, store: Store
) -> None:
    """S-REPO-26."""
    with pytest.raises(InvalidArgument) as refusal:
        await call(store.repo)
    assert refusal.value.field == field
    assert store.spy.seen == 0


METADATA = SessionMetadata(id="walk-1", created_at=5, cwd=GARDEN, path="/srv/walk.jsonl")


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        "walk-1",
        {"id": "walk-1"},
        replace(METADATA, id=5),  # type: ignore[arg-type]
        replace(METADATA, path=None),
        replace(METADATA, cwd=None),
        replace(METADATA, path=Path("/srv/walk.jsonl")),  # type: ignore[arg-type]
        replace(METADATA, cwd=b"/srv"),  # type: ignore[arg-type]
    ],
)
async def test_metadata_is_that_of_a_session_file(metadata: Any, store: Store) -> None:
    for call in (store.repo.open, store.repo.delete, lambda metadata: store.repo.fork(metadata, TreeFork())):
        with pytest.raises(InvalidArgument) as refusal:
            await call(metadata)
        assert refusal.value.field == "metadata"
    assert store.spy.seen == 0


async def test_metadata_of_another_kind_of_store_is_refused(store: Store) -> None:
    theirs = (await MemorySessionRepo().create(id="walk-1")).metadata
    with pytest.raises(InvalidArgument, match="path"):
        await store.repo.open(theirs)


@pytest.mark.parametrize("field", ["path", "cwd"])
@pytest.mark.parametrize("text", ["/srv/\0", "/srv/\ud800", "/x" * 5_000, ""])
async def test_a_name_that_no_file_can_have_is_refused_with_an_error_of_the_contract(
    text: str, field: str, store: Store
) -> None:
    """S-ERR-02: nothing of the file capability comes out bare."""
    metadata = replace(plant(store.root), path=text) if field == "path" else replace(plant(store.root), cwd=text)
    before = tree(store.root)
    for call in (store.repo.open, store.repo.delete, lambda metadata: store.repo.fork(metadata, TreeFork())):
        with pytest.raises(SessionStoreError):
            await call(metadata)
    assert tree(store.root) == before


async def test_a_process_whose_directory_is_gone_gets_an_error_of_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    repo = JsonlSessionRepo(tmp_path / "sessions")
    metadata = plant(tmp_path / "sessions")
    for call in (
        lambda: repo.create(cwd="garden"),
        lambda: repo.list(cwd="garden"),
        lambda: repo.open(replace(metadata, cwd="garden")),
        lambda: repo.open(replace(metadata, path="garden")),
    ):
        with pytest.raises(StoreIOError) as failure:
            await call()
        assert isinstance(failure.value.__cause__, FileError)
    with pytest.raises(StoreIOError):
        JsonlSessionRepo("sessions")
    assert len(await repo.list(cwd=GARDEN)) == 1


@pytest.mark.parametrize("now", [time.time_ns, lambda: 2**53, lambda: -1, lambda: 1.5])
async def test_a_clock_of_another_unit_is_refused_before_anything_is_made(now: Any, tmp_path: Path) -> None:
    repo = JsonlSessionRepo(tmp_path / "sessions", now=now)
    with pytest.raises(InvalidArgument) as refusal:
        await repo.create(id="walk-1", cwd=GARDEN)
    assert refusal.value.field == "now"
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("session_id", [5, "\ud800", "x" * 201, "é" * 34, b"walk"])
async def test_an_id_that_no_file_can_have_is_refused_before_the_clock_is_read(session_id: Any, tmp_path: Path) -> None:
    """S-REPO-04."""
    readings = iter(range(5))
    store = Store(tmp_path / "sessions", now=lambda: next(readings))
    metadata = plant(store.root)
    with pytest.raises(InvalidSessionId):
        await store.repo.create(id=session_id, cwd=GARDEN)
    with pytest.raises(InvalidForkOptions if type(session_id) is not str else InvalidSessionId):
        await store.repo.fork(metadata, TreeFork(session_id))
    assert (next(readings), store.spy.seen) == (0, 0)
