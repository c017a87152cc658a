"""What forks of session files refuse: what opening refuses, in the same line (spec sections 20 and 25)."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkgen.damage import damage
from forkgen.fates import Fate, fate
from forkstore.contract.addresses import BRANCH_TIP, Address
from forkstore.contract.errors import (
    CorruptSession,
    ForeignSession,
    SessionNotFound,
    SessionStoreError,
    UndeclaredNamespace,
    UnknownBranch,
    UnsupportedVersion,
)
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import LAST_SEQUENCE
from tests.forkgen.good_files import FILES as GOOD_FILES
from tests.forkgen.good_files import good_file
from tests.forkgen.strict_format4 import Finding, examine
from tests.forkstore.jsonl.forking import CWD, FORKS, ID, Place, destination, entry, refusal_of, session

pytestmark = pytest.mark.asyncio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.one_python
@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("name", GOOD_FILES)
async def test_a_fork_refuses_what_opening_refuses_and_nothing_else(
    name: str, options: ForkOptions, place: Place
) -> None:
    for variant in damage(good_file(name)):
        data = b"".join(variant.chunks())
        place.write(data)
        await check(place, options, examine(data), variant.name)
        assert place.path.read_bytes() == data


async def check(place: Place, options: ForkOptions, found: Finding, name: str) -> None:
    wanted = expected_refusal(options, found)
    if wanted is None:
        copy = destination(await place.fork(options))
        assert found.next_seq is not None
        assert min(copy.next_seq or 0, LAST_SEQUENCE) == min(found.next_seq, LAST_SEQUENCE), name
        return
    refusal = await refusal_of(place, options)
    assert type(refusal) is wanted, name
    assert getattr(refusal, "line", None) == found.line, name
    assert found.cause in (None, type(refusal.__cause__).__name__), name


def expected_refusal(options: ForkOptions, found: Finding) -> type[SessionStoreError] | None:
    if found.verdict != "opens":
        return CorruptSession if found.verdict == "corrupt" else UnsupportedVersion
    if isinstance(options, BranchFork) and (BRANCH_TIP, options.branch) not in found.state.scalars:
        return UnknownBranch
    places = [Address(*place, "value") for place in found.state.scalars]
    places += [Address(*place, "list") for place in found.state.lists]
    return UndeclaredNamespace if Fate.REFUSED in map(fate, places) else None


@pytest.mark.parametrize(("named", "field"), [(("walk-9", CWD), "id"), ((ID, "/srv/shed"), "cwd")])
async def test_a_source_of_another_identity_is_refused(named: tuple[str, str], field: str, place: Place) -> None:
    place.write(session([[entry("e1")]]))
    refusal = await refusal_of(place, TreeFork(), named=named)
    assert isinstance(refusal, ForeignSession)
    assert (refusal.session_id, refusal.path, refusal.field) == (named[0], str(place.path), field)


async def test_a_missing_source_is_refused(place: Place) -> None:
    refusal = await refusal_of(place, TreeFork())
    assert isinstance(refusal, SessionNotFound)
    assert (refusal.session_id, refusal.path) == (ID, str(place.path))
