"""Where sessions lie, and the many names of a place (spec sections 11, 12 and 22.4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkstore import TreeFork, value_address
from forkstore.contract.errors import (
    CorruptSession,
    ForeignSession,
    InvalidArgument,
    SessionExists,
    SessionInUse,
    SessionNotFound,
    StoreIOError,
    UnsupportedVersion,
)
from forkstore.contract.files import CHUNK, FileError
from forkstore.contract.store import SessionMetadata
from tests.forkstore.jsonl.planted import (
    GARDEN,
    GOOD,
    LEGACY,
    bytes_of,
    header_line,
    modified_at,
    path_of,
    plant,
)
from tests.forkstore.jsonl.stores import Store, closing
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio
NOTE = value_address("app", "note")


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


@pytest.mark.parametrize("cwd", [GARDEN, GARDEN + "/", "/srv/./x/..//garden"])
async def test_a_session_lies_in_the_directory_of_its_absolute_cwd(cwd: str, store: Store) -> None:
    session = await store.repo.create(id="a/b", cwd=cwd)
    assert session.metadata.cwd == GARDEN
    path = path_of(session.metadata)
    assert (path.parent, path.name[25:]) == (store.root / "--srv-garden--", "a%2Fb.jsonl")
    assert session.metadata.modified_at == modified_at(session.metadata)
    assert await store.repo.list(cwd=cwd) == [session.metadata]


async def test_a_cwd_may_be_missing_and_its_links_are_not_followed(store: Store) -> None:
    """S-OWN-10."""
    (store.root.parent / "real").mkdir()
    (store.root.parent / "link").symlink_to("real")
    sessions = [
        await store.repo.create(id="walk-1", cwd=str(store.root.parent / name)) for name in ("real", "link", "gone")
    ]
    assert len({session.metadata.path for session in sessions}) == 3
    assert not (store.root.parent / "gone").exists()


@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        (lambda root: root.write_bytes(b"theirs"), "not_directory"),
        (lambda root: root.symlink_to("nowhere/at/all"), "not_found"),
        (lambda root: root.symlink_to(root.name), "invalid"),
    ],
)
async def test_a_root_that_cannot_hold_sessions_is_a_failure_and_stays(prepare: Any, code: str, store: Store) -> None:
    prepare(store.root)
    before = sorted(path.name for path in store.root.parent.iterdir())
    for _ in range(2):
        with pytest.raises(StoreIOError) as failure:
            await store.repo.create(id="walk-1", cwd=GARDEN)
        assert failure.value.code == code
        assert isinstance(failure.value.__cause__, FileError)
    assert sorted(path.name for path in store.root.parent.iterdir()) == before


async def test_a_cwd_too_long_for_a_directory_is_a_failure(store: Store) -> None:
    with pytest.raises(StoreIOError) as failure:
        await store.repo.create(cwd="/" + "x" * 300)
    assert failure.value.code == "invalid"
    assert not store.root.exists()


async def test_a_session_that_no_listing_could_show_is_not_made(store: Store) -> None:
    """S-REPO-11, S-REPO-14: a listing reads no more than the first 64 KiB of a file."""
    session = await store.repo.create(id="walk-1", cwd=GARDEN, parent_session_id="p")
    room = CHUNK - len(bytes_of(session.metadata)) + 1
    await session.close()
    await store.repo.delete(session.metadata)
    await store.repo.create(id="walk-2", cwd=GARDEN, parent_session_id="p" * room)
    assert await store.ids() == ["walk-2"]
    before = tree(store.root)
    with pytest.raises(InvalidArgument) as refusal:
        await store.repo.create(id="walk-1", cwd=GARDEN, parent_session_id="p" * (room + 1))
    assert refusal.value.field == "parent_session_id"
    assert tree(store.root) == before
    await store.repo.create(id="walk-1", cwd=GARDEN)


FOREIGN: dict[str, Any] = {
    "another directory": lambda m, root: _moved(m, root / "--srv-pond--" / "planted.jsonl"),
    "the root": lambda m, root: _moved(m, root / "planted.jsonl"),
    "a deeper directory": lambda m, root: _moved(m, root / "--srv-garden--" / "deeper" / "planted.jsonl"),
    "another root": lambda m, root: _moved(m, root.parent / "others" / "--srv-garden--" / "planted.jsonl"),
    "another ending": lambda m, root: _moved(m, root / "--srv-garden--" / "planted.txt"),
    "a link to elsewhere": lambda m, root: _linked(m, root.parent / "elsewhere.jsonl"),
    "another cwd": lambda m, root: replace(m, cwd="/srv/pond"),
    "a cwd that is not exact": lambda m, root: replace(m, cwd=GARDEN + "/"),
    "a directory": lambda m, root: replace(m, path=str(root / "--srv-garden--")),
}


def _moved(metadata: SessionMetadata, path: Path) -> SessionMetadata:
    path.parent.mkdir(parents=True, exist_ok=True)
    path_of(metadata).rename(path)
    return replace(metadata, path=str(path))


def _linked(metadata: SessionMetadata, path: Path) -> SessionMetadata:
    path_of(metadata).rename(path)
    path_of(metadata).symlink_to(path)
    return metadata


@pytest.mark.parametrize("how", FOREIGN)
async def test_a_file_that_does_not_lie_where_this_repository_keeps_it_is_foreign(how: str, store: Store) -> None:
    """S-REPO-09."""
    metadata = FOREIGN[how](plant(store.root), store.root)
    before = tree(store.root)
    for call in (store.repo.open, store.repo.delete):
        with pytest.raises(ForeignSession) as refusal:
            await call(metadata)
        assert (refusal.value.session_id, refusal.value.field) == ("walk-1", "path")
    assert tree(store.root) == before


@pytest.mark.parametrize(
    ("data", "named", "field"),
    [
        (GOOD, {"id": "Walk-1"}, "id"),
        (LEGACY, {"id": "shed-7"}, "id"),
        (header_line(cwd="/srv-garden"), {}, "cwd"),
        (header_line(cwd=GARDEN + "/"), {}, "cwd"),
        (header_line(id="other") + b"broken\n", {}, "id"),
    ],
)
async def test_a_file_that_says_it_is_another_session_is_foreign(
    data: bytes, named: Any, field: str, store: Store
) -> None:
    """S-REPO-10, before anything behind the header is judged."""
    metadata = plant(store.root, data, **named)
    calls: list[Any] = [store.repo.open, store.repo.delete, lambda metadata: store.repo.fork(metadata, TreeFork())]
    for call in calls:
        with pytest.raises(ForeignSession) as refusal:
            await call(metadata)
        assert (refusal.value.session_id, refusal.value.path, refusal.value.field) == (
            metadata.id,
            metadata.path,
            field,
        )
    assert bytes_of(metadata) == data


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (header_line(v=5), UnsupportedVersion),
        (header_line(storageVersion=2) + b"torn", UnsupportedVersion),
        (b"", CorruptSession),
        (b"\n", CorruptSession),
        (b"\0" * 100_000, CorruptSession),
        (header_line()[:-1], CorruptSession),
    ],
)
async def test_a_file_that_is_not_understood_is_neither_opened_nor_forked_nor_removed(
    data: bytes, error: type[Exception], store: Store
) -> None:
    """S-REPO-08, S-JSONL-FMT-06."""
    metadata = plant(store.root, data)
    before = tree(store.root)
    for call in (store.repo.open, store.repo.delete, lambda metadata: store.repo.fork(metadata, TreeFork())):
        with pytest.raises(error):
            await call(metadata)
    assert tree(store.root) == before
    assert store.spy.changes() == []


async def test_a_broken_session_can_be_removed(store: Store) -> None:
    metadata = plant(store.root, GOOD + b"broken\n")
    await store.repo.delete(metadata)
    assert tree(store.root) == {"--srv-garden--": None}
    with pytest.raises(SessionNotFound):
        await store.repo.delete(metadata)


@pytest.mark.parametrize("missing", ["file", "directory", "root"])
async def test_a_session_that_is_missing_is_not_found_and_nothing_is_made(missing: str, store: Store) -> None:
    """S-REPO-07."""
    metadata = plant(store.root)
    path = path_of(metadata)
    path.unlink()
    if missing != "file":
        path.parent.rmdir()
    if missing == "root":
        store.root.rmdir()
    for call in (store.repo.open, store.repo.delete, lambda metadata: store.repo.fork(metadata, TreeFork("f"))):
        with pytest.raises(SessionNotFound) as refusal:
            await call(metadata)
        assert (refusal.value.session_id, refusal.value.path) == ("walk-1", metadata.path)
        assert store.root.exists() is (missing != "root")
        assert path.parent.exists() is (missing == "file")


# ── one file by two paths ──


async def test_a_session_is_one_however_its_path_is_written(store: Store) -> None:
    metadata = plant(store.root)
    (store.root.parent / "link").symlink_to("sessions")
    path = path_of(metadata)
    written = [
        str(store.root.parent / "link" / "--srv-garden--" / "planted.jsonl"),
        f"{path.parent}/../--srv-garden--/./planted.jsonl",
        f"{path.parent}//planted.jsonl",
    ]
    session = await store.repo.open(replace(metadata, path=written[0]))
    assert session.metadata.path == str(path)
    await session.set_value(NOTE, 1)
    for text in (*written, str(path)):
        with pytest.raises(SessionInUse):
            await store.repo.open(replace(metadata, path=text))
        fork = await store.repo.fork(replace(metadata, path=text), TreeFork())
        row = await fork.get_value(NOTE)
        assert row is not None
    await session.close()
    await store.repo.delete(replace(metadata, path=written[1]))
    assert not path.exists()


async def test_a_second_file_of_the_same_session_is_a_closed_source(store: Store) -> None:
    """S-JSONL-FORK-03: real path, id and cwd must all be those of the open session."""
    metadata = plant(store.root)
    session = await store.repo.open(metadata)
    await session.set_value(NOTE, 1)
    copy = plant(store.root, GOOD, "copy.jsonl")
    fork = await store.repo.fork(copy, TreeFork("fork"))
    assert await fork.get_value(NOTE) is None
    with pytest.raises(SessionInUse):
        await store.repo.open(copy)
    with pytest.raises(SessionInUse):
        await store.repo.delete(copy)


async def test_a_source_may_lie_anywhere_and_its_fork_lies_here(tmp_path: Path) -> None:
    """S-JSONL-FORK-10."""
    async with closing(Store(tmp_path / "sessions")) as store:
        elsewhere = plant(tmp_path / "others", header_line(cwd="/srv/pond"), cwd="/srv/pond")
        fork = await store.repo.fork(elsewhere, TreeFork("fork"))
        assert path_of(fork.metadata).parent == store.root / "--srv-pond--"
        assert (fork.metadata.cwd, fork.metadata.parent_session_id) == ("/srv/pond", "walk-1")
        with pytest.raises(ForeignSession):
            await store.repo.open(elsewhere)


# ── working directories that other writers have stored ──


@pytest.mark.parametrize("cwd", ["/srv/garden/", "srv/garden", "/srv/../srv/garden", "C:\\srv\\garden", "~", "", "."])
async def test_a_cwd_that_is_not_absolute_is_kept_as_it_is(cwd: str, store: Store) -> None:
    """The directory is that of the stored text; what `create` and `list` ask for is never equal to it."""
    from forkstore.jsonl.naming import session_directory_name

    directory = store.root / session_directory_name(cwd)
    directory.mkdir(parents=True)
    (directory / "planted.jsonl").write_bytes(header_line(cwd=cwd) + b"")
    (metadata,) = await store.repo.list()
    assert metadata.cwd == cwd
    if cwd:
        assert await store.repo.list(cwd=cwd) == []
    session = await store.repo.open(metadata)
    fork = await store.repo.fork(metadata, TreeFork("fork"))
    assert (fork.metadata.cwd, path_of(fork.metadata).parent) == (cwd, directory)
    await session.set_value(NOTE, 1)
    await session.close()
    await fork.close()
    assert [one.id for one in await store.repo.list()] == ["fork", "walk-1"]
    for one in (metadata, fork.metadata):
        await store.repo.delete(one)


async def test_two_sessions_of_one_directory_and_id_are_open_at_once(store: Store) -> None:
    """S-OWN-11."""
    sessions = [await store.repo.create(id="walk-1", cwd=cwd) for cwd in (GARDEN, "/srv-garden")]
    assert len({path_of(session.metadata).parent for session in sessions}) == 1
    for number, session in enumerate(sessions):
        await session.set_value(NOTE, number)
    for number, session in enumerate(sessions):
        await session.close()
        again = await store.repo.open(session.metadata)
        row = await again.get_value(NOTE)
        assert row is not None
        assert row.value == number
    with pytest.raises(SessionExists):
        await store.repo.create(id="walk-1", cwd="/srv-garden")
