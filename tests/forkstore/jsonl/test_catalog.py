"""What is listed and what is passed over (spec section 11)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkgen.legacy.records import header as legacy_header
from forkgen.legacy.records import text_of
from forkproof.instruments.fault_kinds import Fail
from forkstore.contract.errors import StoreIOError
from forkstore.contract.files import CHUNK
from forkstore.contract.store import SessionMetadata
from tests.forkstore.jsonl.moments import Meanwhile
from tests.forkstore.jsonl.planted import CREATED_AT, GARDEN, GOOD, header_line, modified_at, path_of, plant
from tests.forkstore.jsonl.stores import Store, closing
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio
NAMED = "2025-10-09T08-53-20-123Z_walk-1.jsonl"


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


async def test_metadata_is_that_of_the_header_and_of_the_file(store: Store) -> None:
    planted = plant(store.root, header_line(parentSessionId="p", legacyParentSessionPath="q"))
    (found,) = await store.repo.list()
    expected = SessionMetadata(
        id="walk-1",
        created_at=CREATED_AT,
        parent_session_id="p",
        cwd=GARDEN,
        legacy_parent_session_path="q",
        path=planted.path,
        modified_at=modified_at(planted),
    )
    assert found == expected


async def test_a_name_need_not_follow_the_rule_to_be_listed(store: Store) -> None:
    for name in (NAMED, "walk.jsonl", ".jsonl", "+.jsonl", "a b.jsonl"):
        plant(store.root, GOOD, name)
    assert await store.ids() == ["walk-1"] * 5


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


ODD_FILES: dict[str, bytes] = {
    "empty": b"",
    "one newline": b"\n",
    "NUL bytes": b"\0" * 100,
    "no header": b'{"kind":"entry"}\n',
    "another version": header_line(v=5),
    "another storage version": header_line(storageVersion=2),
    "version 1": text_of(legacy_header(version=1)),
    "a header without LF": header_line()[:-1],
    "a header longer than 64 KiB": header_line(other="x" * CHUNK),
    "a header of 64 KiB and its LF": header_line(other="x" * (CHUNK - len(header_line(other="")) + 1)),
    "UTF-16": header_line().decode().encode("utf-16"),
    "NUL in the cwd": header_line(cwd="/srv/gar\0den"),
    "a cwd that is kept elsewhere": header_line(cwd="/srv/pond"),
    "a cwd with a slash at its end": header_line(cwd=GARDEN + "/"),
    "a very long cwd": header_line(cwd="/srv/" + "x" * 9000),
    "no cwd": header_line(cwd=None),
}


@pytest.mark.parametrize("data", ODD_FILES.values(), ids=ODD_FILES)
async def test_a_file_that_is_no_session_here_is_left_out(data: bytes, store: Store) -> None:
    """S-REPO-13, S-REPO-14."""
    plant(store.root, GOOD)
    plant(store.root, data, "odd.jsonl")
    before = tree(store.root)
    assert await store.ids() == ["walk-1"]
    assert await store.ids(cwd=GARDEN) == ["walk-1"]
    assert tree(store.root) == before


async def test_a_header_that_just_fits_is_listed(store: Store) -> None:
    line = header_line(other="x" * (CHUNK - len(header_line(other=""))))
    assert len(line) == CHUNK
    plant(store.root, line + b'{"broken":\n')
    assert await store.ids() == ["walk-1"]


def _directory(place: Path) -> None:
    (place / "a.jsonl").mkdir()


def _link(place: Path) -> None:
    (place / "a.jsonl").symlink_to("planted.jsonl")


def _pipe(place: Path) -> None:
    os.mkfifo(place / "a.jsonl")


def _outside(place: Path) -> None:
    (place.parent / "a.jsonl").write_bytes(GOOD)
    (place.parent / "srv").mkdir()
    (place.parent / "srv" / "a.jsonl").write_bytes(GOOD)
    (place / "deeper").mkdir()
    (place / "deeper" / "a.jsonl").write_bytes(GOOD)


def _other_names(place: Path) -> None:
    for name in ("a.jsonl.0123456789abcdef.tmp", "a.JSONL", "a.jsonl~", "jsonl", "a.json"):
        (place / name).write_bytes(GOOD)


def _a_file_for_a_directory(place: Path) -> None:
    (place.parent / "--srv-pond--").write_bytes(b"")


def _links_for_directories(place: Path) -> None:
    (place.parent / "--to-itself--").symlink_to("--to-itself--")
    (place.parent / "--to-nothing--").symlink_to("nothing")
    (place.parent / "--to-a-file--").symlink_to(place / "planted.jsonl")


def _an_alias(place: Path) -> None:
    (place.parent / "--alias--").symlink_to(place.name)


@pytest.mark.parametrize(
    "put",
    [_directory, _link, _pipe, _outside, _other_names, _a_file_for_a_directory, _links_for_directories, _an_alias],
)
async def test_whatever_else_stands_there_a_session_is_listed_once(put: Callable[[Path], None], store: Store) -> None:
    """S-REPO-11, S-REPO-13, S-JSONL-FMT-17."""
    place = path_of(plant(store.root)).parent
    put(place)
    assert await store.ids() == ["walk-1"]


async def test_a_session_directory_may_be_a_link(tmp_path: Path) -> None:
    plant(tmp_path / "elsewhere")
    store = Store(tmp_path / "sessions")
    store.root.mkdir()
    (store.root / "--srv-garden--").symlink_to(tmp_path / "elsewhere" / "--srv-garden--")
    (found,) = await store.repo.list()
    assert found.path == str(tmp_path / "elsewhere" / "--srv-garden--" / "planted.jsonl")
    session = await store.repo.open(found)
    await session.close()
    await store.repo.delete(found)
    assert await store.ids() == []


@pytest.mark.parametrize("how", ["missing", "a file", "a link to nothing", "below a file"])
async def test_a_root_that_is_none_lists_nothing_and_makes_nothing(how: str, tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    if how == "a file":
        root.write_bytes(b"theirs")
    elif how == "a link to nothing":
        root.symlink_to("nothing")
    elif how == "below a file":
        (tmp_path / "file").write_bytes(b"")
        root = tmp_path / "file" / "sessions"
    before = names(tmp_path)
    store = Store(root)
    assert await store.ids() == []
    assert await store.ids(cwd=GARDEN) == []
    assert names(tmp_path) == before


async def test_a_relative_root_and_a_linked_one_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("sessions")
    planted = plant(tmp_path / "sessions")
    stores = [Store(Path(root)) for root in ("sessions", "link", "link/../sessions/.", str(tmp_path / "link"))]
    monkeypatch.chdir("/")
    for store in stores:
        (found,) = await store.repo.list()
        assert found.path == planted.path
        await (await store.repo.open(found)).close()


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        (GARDEN, ["walk-1"]),
        (GARDEN + "/", ["walk-1"]),
        ("/srv/./pond/../garden//", ["walk-1"]),
        ("/srv-garden", ["dash"]),
        ("/srv/garden-", []),
        ("/" + "x" * 300, []),
        ("/x" * 3000, []),
        ("/SRV/garden", []),
    ],
)
async def test_a_listing_of_one_working_directory_is_exact(cwd: str, expected: list[str], store: Store) -> None:
    """S-REPO-16, also where two of them share a session directory."""
    plant(store.root)
    plant(store.root, header_line(id="dash", cwd="/srv-garden"), "dash.jsonl")
    assert await store.ids(cwd=cwd) == expected


async def test_a_listing_takes_a_relative_working_directory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    (store.root.parent / "srv").mkdir()
    monkeypatch.chdir(store.root.parent / "srv")
    session = await store.repo.create(cwd="garden/../garden")
    assert session.metadata.cwd == str(store.root.parent / "srv" / "garden")
    assert await store.ids(cwd="./garden") == [session.metadata.id]


async def test_the_order_is_that_of_times_then_ids_then_working_directories(store: Store) -> None:
    """S-REPO-12."""
    for cwd in ("/srv-garden", GARDEN):
        for id, created_at in (("b", 5), ("\U0001f331", 5), ("\ue000", 5), ("c", 6), ("a", 4)):
            plant(store.root, header_line(id=id, createdAt=created_at, cwd=cwd), f"{id}{len(cwd)}.jsonl")
            plant(store.root, header_line(id=id, createdAt=created_at, cwd=cwd), f"{id}-{cwd[4:5] == '-'}.jsonl")
    found = [(metadata.created_at, metadata.id, metadata.cwd) for metadata in await store.repo.list()]
    assert found == sorted(found, key=lambda one: (-one[0], one[1], one[2] or ""))
    assert len(set(found)) == 10


@pytest.mark.parametrize("code", ["not_found", "permission_denied", "not_directory", "is_directory", "invalid"])
@pytest.mark.parametrize("call", ["read_bytes", "list_dir"])
async def test_a_failure_that_is_about_one_file_or_directory_leaves_it_out(call: str, code: Any, store: Store) -> None:
    plant(store.root)
    plant(store.root, header_line(id="dash", cwd="/srv/pond"), "dash.jsonl")
    (store.root / "--srv-pond--").mkdir()
    (store.root / "--srv-garden--" / "dash.jsonl").rename(store.root / "--srv-pond--" / "dash.jsonl")
    assert await store.ids() == ["dash", "walk-1"]
    store.faults.arm(Fail(code), names={call}, paths="*--srv-pond--*")
    assert await store.ids() == ["walk-1"]
    assert store.faults.hit is not None


@pytest.mark.parametrize("call", ["read_bytes", "list_dir"])
async def test_a_failure_of_the_disk_is_one_of_the_listing(call: str, store: Store) -> None:
    """S-ERR-02."""
    plant(store.root)
    store.faults.arm(Fail("unknown"), names={call})
    with pytest.raises(StoreIOError) as failure:
        await store.ids()
    hit = store.faults.hit
    assert hit is not None
    assert failure.value.__cause__ is hit.error
    assert (failure.value.operation, failure.value.path, failure.value.code) == (call, hit.path, "unknown")


async def test_files_that_come_and_go_meanwhile_do_no_harm(store: Store) -> None:
    planted = plant(store.root)
    plant(store.root, GOOD, "other.jsonl")
    store.faults.arm(Meanwhile(path_of(planted).unlink), names={"read_bytes"}, paths="*planted*")
    assert await store.ids() == ["walk-1"]


async def test_a_listing_reads_a_beginning_of_each_file_once_and_holds_nothing(store: Store) -> None:
    """S-REPO-14, S-REPO-15."""
    paths = [plant(store.root, GOOD + b"x" * 500_000, f"{number}.jsonl").path for number in range(30)]
    store.spy.forget()
    await store.repo.list()
    assert [store.spy.bytes_asked(path or "") for path in paths] == [CHUNK] * 30
    assert store.spy.readers() == []
    assert store.spy.whole_file_reads() == []
    assert store.spy.changes() == []


async def test_a_long_listing_gives_others_their_turn(store: Store) -> None:
    for number in range(200):
        plant(store.root, GOOD, f"{number}.jsonl")
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    listing = asyncio.create_task(store.repo.list())
    between: dict[str, int] = {}
    store.faults.arm(Meanwhile(lambda: between.update(turns=turns)), at=200, names={"read_bytes"})
    await listing
    counting.cancel()
    assert between["turns"] >= 9  # of those 200 files; listing the directory is one thread's work
