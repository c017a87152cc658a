"""Opening files that others change, calls that fail or are cancelled, and what an open session holds on to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkproof.instruments.fault_kinds import Fail, FailAfter, Hit
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkstore import Session, ValueSet, value_address
from forkstore.contract.errors import CorruptSession, SessionFileChanged, SessionNotFound, StoreIOError
from tests.forkgen.good_files import FILES, good_file
from tests.forkstore.jsonl.changes import (
    ACTS,
    MARK,
    Foreign,
    at_every_moment,
    content_of,
    remove,
    replace,
    without_tail,
    write_anew,
)
from tests.forkstore.jsonl.moments import Meanwhile, slow_files
from tests.forkstore.jsonl.planted import GOOD, LEGACY, bytes_of, modified_at, path_of, plant
from tests.forkstore.jsonl.stores import Store, closing
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio
NOTE = value_address("app", "note")
TORN = GOOD[:-9]
FORMS = {
    "good": GOOD,
    "marked": MARK + GOOD,
    "torn": TORN,
    "marked and torn": MARK + TORN,
    "legacy": LEGACY,
    "legacy and torn": LEGACY + b'{"type":"mess',
}


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


async def shown(session: Session) -> str:
    return repr((await session.find_entries(order="asc"), await session.scan_usage(), await session.get_stats()))


# ── torn tails and byte-order marks ──


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mark", [b"", MARK])
@pytest.mark.parametrize("tail", [b"{", b" ", b"\r", b"\0", b"\xff", b'{"kind":"value"}', b"x" * 200_000])
async def test_a_torn_tail_goes_and_the_mark_with_it(tail: bytes, mark: bytes, name: str, store: Store) -> None:
    """S-JSONL-TAIL-02."""
    good = good_file(name)
    metadata = plant(store.root, mark + good + tail)
    session = await store.repo.open(metadata)
    assert tree(store.root) == {"--srv-garden--": None, "--srv-garden--/planted.jsonl": good}
    assert session.metadata.modified_at == modified_at(metadata)
    await session.set_value(NOTE, 1)
    assert bytes_of(metadata).startswith(good + b'{"kind":"value"')
    before = await shown(session)
    await session.close()
    assert await shown(await store.repo.open(metadata)) == before


@pytest.mark.parametrize("form", ["good", "marked", "legacy", "legacy and torn"])
async def test_every_other_file_stays_as_it_is(form: str, store: Store) -> None:
    metadata = plant(store.root, FORMS[form])
    store.spy.forget()
    session = await store.repo.open(metadata)
    await session.storage.commit([])
    await session.close()
    assert store.spy.only_read(path_of(metadata))
    assert tree(store.root) == {"--srv-garden--": None, "--srv-garden--/planted.jsonl": FORMS[form]}


async def test_a_marked_file_takes_commits_behind_its_mark(store: Store) -> None:
    metadata = plant(store.root, MARK + GOOD)
    session = await store.repo.open(metadata)
    await session.set_value(NOTE, 1)
    assert bytes_of(metadata).startswith(MARK + GOOD)
    await session.close()
    assert await (await store.repo.open(metadata)).get_value(NOTE) is not None


@pytest.mark.parametrize("data", [TORN.replace(b'"row:3"', b'""', 1)[:-200] + b"\n{", GOOD + b"[1]\n{", b"{"])
async def test_a_tail_stays_when_the_rest_is_not_understood(data: bytes, store: Store) -> None:
    """S-JSONL-TAIL-03."""
    metadata = plant(store.root, data)
    store.spy.forget()
    with pytest.raises(CorruptSession):
        await store.repo.open(metadata)
    assert bytes_of(metadata) == data
    assert store.spy.changes() == []


# ── others change the file meanwhile ──


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("form", FORMS)
async def test_a_file_that_changes_while_it_is_opened_is_refused_or_shown_as_it_is(
    form: str, act: str, store: Store
) -> None:
    """Nothing of theirs is lost, nothing is mixed: what the session shows and goes on from is what stands there."""

    async def check(path: Path, foreign: Foreign, outcome: Stepped) -> None:
        if outcome.kind == "raised":
            assert isinstance(outcome.error, SessionFileChanged | SessionNotFound | CorruptSession), outcome.error
            assert content_of(path) == foreign.left
            return
        session = outcome.value
        if not foreign.acted:  # the last round
            await session.close()
            return
        assert content_of(path) in (foreign.left, without_tail(foreign.left))
        before = content_of(path)
        try:
            await session.set_value(NOTE, 1)
        except SessionFileChanged:
            assert content_of(path) == before
            await session.close()
            return
        mine = await shown(session)
        await session.close()
        again = await store.repo.open(session.metadata)
        assert await shown(again) == mine
        await again.close()

    assert await at_every_moment(store, FORMS[form], ACTS[act], store.repo.open, check) >= 8


@pytest.mark.parametrize("act", [replace, write_anew, remove])
@pytest.mark.parametrize("form", FORMS)
async def test_a_file_that_is_replaced_under_an_open_session_is_noticed_by_the_next_commit(
    form: str, act: Any, store: Store
) -> None:
    """S-JSONL-FMT-16, also when the new file has the size of the old one, and would get its identity."""
    metadata = plant(store.root, FORMS[form])
    session = await store.repo.open(metadata)
    before = await shown(session)
    path = path_of(metadata)
    act(path)
    theirs = content_of(path)
    for _ in range(2):
        with pytest.raises(SessionFileChanged) as refusal:
            await session.set_value(NOTE, 1)
        assert refusal.value.path == str(path)
    with pytest.raises(SessionFileChanged):
        await session.storage.commit([])
    assert content_of(path) == theirs
    assert await shown(session) == before
    await session.close()


async def test_once_changed_is_changed_for_ever(store: Store) -> None:
    metadata = plant(store.root)
    session = await store.repo.open(metadata)
    path = path_of(metadata)
    path.rename(path.with_name("away"))
    with pytest.raises(SessionFileChanged):
        await session.set_value(NOTE, 1)
    path.with_name("away").rename(path)
    with pytest.raises(SessionFileChanged, match="is gone"):
        await session.set_value(NOTE, 1)


async def test_a_directory_that_is_gone_takes_its_sessions_with_it(store: Store) -> None:
    metadata = plant(store.root)
    session = await store.repo.open(metadata)
    path = path_of(metadata)
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(SessionFileChanged):
        await session.set_value(NOTE, 1)
    await session.close()
    assert await store.ids() == []
    for call in (store.repo.open, store.repo.delete):
        with pytest.raises(SessionNotFound) as refusal:
            await call(metadata)
        assert refusal.value.path == str(path)
    assert not path.parent.exists()


@pytest.mark.parametrize("form", FORMS)
async def test_an_open_session_holds_one_reader_of_its_own_file(form: str, store: Store) -> None:
    metadata = plant(store.root, FORMS[form])
    store.spy.forget()
    session = await store.repo.open(metadata)
    (hold,) = store.spy.open_readers
    assert hold.path.startswith(str(path_of(metadata)))  # one that was put there is held before it has its name
    assert hold.given == 0
    await session.set_value(NOTE, 1)
    assert len(store.spy.open_readers) == 1
    await session.close()
    assert store.spy.open_readers == []


# ── failures ──


@pytest.mark.parametrize("fault", [Fail("permission_denied"), FailAfter("unknown")])
@pytest.mark.parametrize("form", FORMS)
async def test_an_opening_that_fails_anywhere_holds_nothing_and_can_be_repeated(
    form: str, fault: Any, store: Store
) -> None:
    """S-ERR-02, S-FORK-FAIL-02, S-FORK-FAIL-08. A repair that was completed stays."""
    right = [{"--srv-garden--": None, "--srv-garden--/planted.jsonl": FORMS[form]}]
    if "torn" in form and "legacy" not in form:
        right.append({"--srv-garden--": None, "--srv-garden--/planted.jsonl": without_tail(FORMS[form])})
    metadata = plant(store.root, FORMS[form])
    opened: list[Session] = []

    async def open_it() -> None:
        opened.append(await store.repo.open(metadata))

    async def check(n: int, hit: Hit, outcome: Stepped) -> None:
        assert tree(store.root) in right, str(hit)
        if outcome.kind == "raised":
            assert isinstance(outcome.error, StoreIOError), str(hit)
            assert outcome.error.__cause__ is hit.error, str(hit)
            assert (outcome.error.operation, outcome.error.path) == (hit.name, hit.path)
        else:
            await opened.pop().close()
        assert store.spy.open_readers == [], str(hit)
        path_of(metadata).write_bytes(FORMS[form])

    assert await swept(open_it, store.faults, fault, check) >= 8
    await opened.pop().close()


@pytest.mark.parametrize("form", ["good", "torn", "legacy"])
async def test_a_clean_up_that_fails_too_does_not_take_the_place_of_the_first_failure(form: str, store: Store) -> None:
    """S-FORK-FAIL-07: the file is gone, and then no reader can be closed."""
    metadata = plant(store.root, FORMS[form])

    def act() -> None:
        path_of(metadata).write_bytes(FORMS[form] + b"{}\n")
        store.faults.arm(Fail("unknown"), names={"close"})

    operations, changed = set(), 0
    for n in range(1, 12):
        path_of(metadata).write_bytes(FORMS[form])
        store.faults.arm(Meanwhile(act), at=n, names={"file_info", "read_line"}, paths=metadata.path or "")
        try:
            await (await store.repo.open(metadata)).close()
        except (SessionFileChanged, CorruptSession):
            changed += 1
        except StoreIOError as failure:
            operations.add(failure.operation)
    assert operations <= {"close"}  # where nothing else had failed by then
    assert changed >= 4


# ── cancellation ──


@pytest.mark.parametrize("again_after", [None, 1, 3])
@pytest.mark.parametrize("form", FORMS)
async def test_an_opening_that_is_cancelled_anywhere_holds_nothing(
    form: str, again_after: int | None, tmp_path: Path
) -> None:
    """S-FORK-FAIL-05, S-FORK-FAIL-06, with files that suspend in every call."""
    right = [tree_of(FORMS[form])] + ([tree_of(without_tail(FORMS[form]))] if "legacy" not in form else [])
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        metadata = plant(store.root, FORMS[form])

        async def nothing_is_left(k: int, outcome: Stepped) -> None:
            assert outcome.kind == "cancelled", k
            assert tree(store.root) in right, k
            assert store.spy.open_readers == [], k
            path_of(metadata).write_bytes(FORMS[form])

        suspensions = await cancelled_at_every_suspension(
            lambda: store.repo.open(metadata), nothing_is_left, again_after=again_after
        )
        assert suspensions > 20


def tree_of(content: bytes | None) -> dict[str, bytes | None]:
    return {"--srv-garden--": None, "--srv-garden--/planted.jsonl": content}


async def test_a_session_that_was_not_opened_is_not_reserved(store: Store) -> None:
    """S-OWN-09."""
    metadata = plant(store.root, GOOD + b"[1]\n")
    for call in (store.repo.open, store.repo.open):
        with pytest.raises(CorruptSession):
            await call(metadata)
    await store.repo.delete(metadata)
    assert await store.ids() == []


async def test_values_are_read_from_the_file_that_was_opened(store: Store) -> None:
    metadata = plant(store.root, good_file("bare"))
    session = await store.repo.open(metadata)
    result = await session.storage.commit([ValueSet(NOTE, [1])])
    assert (result.first_seq, (await session.get_value(NOTE)).value) == (1, [1])  # type: ignore[union-attr]
