"""The file that a fork reads: the one that stood there when it was called, or none (S-FORK-ORD-08)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from forkstore import SessionFileChanged, SessionNotFound, SqliteSessionRepo, TreeFork, value_address
from forkstore.contract.store import SessionMetadata
from forkstore.sqlite.connect import Mode, open_connection
from tests.forkstore.sqlite.forked import long_source
from tests.forkstore.sqlite.repositories import BOTH_LAYOUTS, Store

pytestmark = pytest.mark.asyncio


class Meddling:
    """Connections that do something to the source between the opening of the reader and its first read."""

    def __init__(self, path: str, act: Callable[[Path], None]) -> None:
        self._path = path
        self._act = act

    def connect(self, path: str, mode: Mode) -> apsw.Connection:
        connection = open_connection(path, mode)
        if path == self._path and mode == "read-only":
            self._act(Path(path))
        return connection


def _replace(path: Path) -> None:
    """Another database with a log of its own takes the place of the first."""
    aside = path.with_name("aside")
    long_source(aside, 3)
    _remove(path)
    aside.rename(path)
    other = apsw.Connection(str(path))
    other.execute("UPDATE entries SET payload = '{}'")
    log = Path(f"{path}-wal")
    kept = log.read_bytes()
    other.close()
    log.write_bytes(kept)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


@pytest.mark.parametrize(("act", "refusal"), [(_replace, SessionFileChanged), (_remove, SessionNotFound)])
async def test_a_closed_source_that_goes_away_at_the_first_read(
    tmp_path: Path, act: Callable[[Path], None], refusal: type[Exception]
) -> None:
    source = long_source(tmp_path / "elsewhere" / "source.sqlite", 5)
    meddling = Meddling(str(source.path), act)
    repo = SqliteSessionRepo(tmp_path / "sessions", connect=meddling.connect)
    with pytest.raises(refusal):
        await repo.fork(source, TreeFork(id="fork"))
    assert not (tmp_path / "sessions").exists()
    await repo.create(id="fork")
    await repo.close()


@BOTH_LAYOUTS
@pytest.mark.parametrize("act", [_replace, _remove])
async def test_an_open_source_that_goes_away_at_the_first_read(
    tmp_path: Path, shared: bool, act: Callable[[Path], None]
) -> None:
    store = Store(tmp_path, shared=shared)
    source = await store.repo.create(id="source")
    elsewhere = SqliteSessionRepo(tmp_path / "sessions")
    store.connections.before = _once(lambda: act(Path(str(source.metadata.path))), "BEGIN")
    with pytest.raises(SessionFileChanged):
        await store.repo.fork(source.metadata, TreeFork(id="fork"))
    assert await elsewhere.list() == []
    store.connections.before = lambda _: None
    await source.close()
    await store.repo.close()
    assert store.connections.still_open == 0


def _once(act: Callable[[], None], statement: str) -> Callable[[str], object]:
    done: list[str] = []

    def before(text: str) -> None:
        if text == statement and not done:
            done.append(text)
            act()

    return before


async def test_a_missing_source_is_no_failed_call(tmp_path: Path) -> None:
    path = str(tmp_path / "nowhere" / "source.sqlite")
    repo = SqliteSessionRepo(tmp_path / "sessions")
    with pytest.raises(SessionNotFound) as refusal:
        await repo.fork(SessionMetadata(id="source", created_at=1, storage_version=1, path=path), TreeFork())
    assert (refusal.value.session_id, refusal.value.path) == ("source", path)
    assert not (tmp_path / "nowhere").exists()
    assert not (tmp_path / "sessions").exists()
    await repo.close()


@BOTH_LAYOUTS
async def test_a_fork_leaves_the_connection_of_its_destination_as_it_was(tmp_path: Path, shared: bool) -> None:
    """No attached stage, no silent trigger, the cache of before."""
    store = Store(tmp_path, shared=shared)
    source = await store.repo.create(id="source")
    plain = _settings(store.connections.newest)
    await source.set_value(value_address("garden.plan"), 1)
    fork = await store.repo.fork(source.metadata, TreeFork())
    assert _settings(store.connections.newest) == plain
    await fork.close()
    await store.repo.close()


def _settings(connection: apsw.Connection) -> tuple[object, ...]:
    names = len(connection.db_names())
    cache = connection.execute("PRAGMA cache_size").fetchone()
    return names, cache, connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, -1)
