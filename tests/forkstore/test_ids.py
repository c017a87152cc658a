"""Generated ids rise and never repeat; session ids are what every backend could keep."""

from __future__ import annotations

import multiprocessing
import time
import uuid

import pytest

from forkstore.contract.errors import InvalidArgument, InvalidSessionId
from forkstore.contract.ids import (
    Uuid7Generator,
    check_session_id,
    encoded_session_id,
    session_database_name,
)


def test_an_id_is_a_uuid_of_version_7() -> None:
    minted = Uuid7Generator().next()
    parsed = uuid.UUID(minted)
    assert str(parsed) == minted
    assert parsed.version == 7
    assert parsed.variant == uuid.RFC_4122


@pytest.mark.parametrize("time_ms", [0, 1, 1_700_000_000_000, 2**48 - 1])
def test_the_prefix_is_the_given_time(time_ms: int) -> None:
    assert uuid.UUID(Uuid7Generator().next(time_ms)).int >> 80 == time_ms


@pytest.mark.parametrize("time_ms", [-1, 2**48, 1.0, True, "5"])
def test_any_other_time_is_refused(time_ms: int) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        Uuid7Generator().next(time_ms)
    assert refusal.value.field == "timestamp_ms"


def test_ids_of_one_given_time_rise_whatever_is_minted_between() -> None:
    generators = [Uuid7Generator(), Uuid7Generator()]
    of_seven = []
    for turn in range(1000):
        of_seven.append(generators[turn % 2].next(7))
        generators[turn % 2].next(turn)
        generators[turn % 2].next()
    assert of_seven == sorted(set(of_seven))


def test_ids_without_a_time_rise_while_the_system_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([5_000, 5_000, 4_000, 3_000, 6_000, 1_000])
    base = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: base + next(times) * 1_000_000)
    generator = Uuid7Generator()
    minted = [generator.next() for _ in range(6)]
    assert minted == sorted(set(minted))


def _mint(count: int) -> list[str]:
    generator = Uuid7Generator()
    return [generator.next(1) for _ in range(count)]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_repeat_its_parents_ids() -> None:
    Uuid7Generator().next()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        minted = [one for many in pool.map(_mint, [200, 200]) for one in many]
    minted += _mint(200)
    assert len(set(minted)) == 600


@pytest.mark.parametrize(
    ("session_id", "encoded", "database"),
    [
        ("walk-1", "walk-1", "walk-1"),
        ("walk 1", "walk%201", "~dwBhAGwAawAgADEA"),
        ("a/b", "a%2Fb", "~YQAvAGIA"),
        ("été", "%C3%A9t%C3%A9", "~6QB0AOkA"),
        ("", "", "~"),
        ("-_.!~*'()", "-_.!~*'()", None),
    ],
)
def test_names_of_sessions_on_disk(session_id: str, encoded: str, database: str | None) -> None:
    assert encoded_session_id(session_id) == encoded
    assert database is None or session_database_name(session_id) == database


@pytest.mark.parametrize("session_id", ["x" * 200, " a", "A", "é" * 33, "\0", ".."])
def test_acceptable_session_ids(session_id: str) -> None:
    assert check_session_id(session_id) == session_id


@pytest.mark.parametrize("session_id", [None, 7, b"a", "x" * 201, "é" * 34, "\ud800", "a" * 74 + "."])
def test_refused_session_ids(session_id: object) -> None:
    with pytest.raises(InvalidSessionId) as refusal:
        check_session_id(session_id)
    assert refusal.value.session_id == session_id
