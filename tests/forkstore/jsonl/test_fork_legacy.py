"""Forks of closed sources in legacy form (S-V3-22 to S-V3-27)."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

from forkgen.content import idle_state
from forkgen.legacy import LegacyFile, Normalized, Verdict, legacy_files
from forkproof.instruments.file_spy import FileSpy
from forkproof.instruments.memory import MemoryMeter
from forkstore.contract.addresses import BRANCH_TIP, ENTRY_LABEL, LANE_STATE
from forkstore.contract.errors import (
    CorruptSession,
    DataOnlyBranch,
    LegacyEntryId,
    SessionFileChanged,
    SessionStoreError,
    UnknownBranch,
    UnsupportedVersion,
)
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.records import Json
from tests.forkgen.strict_format4 import Finding
from tests.forkstore.jsonl.forking import FILES, FORKS, Place, Watch, destination, refusal_of

pytestmark = pytest.mark.asyncio
ALL = [*legacy_files()]
TORN = [case for case in ALL if case.name.startswith("torn-at-byte")]
CASES = {case.name: case for case in ALL if case not in TORN or case in (*TORN[::25], TORN[-1])}
OPEN = [name for name, case in CASES.items() if case.verdict is Verdict.OPENS]
REFUSED = [name for name, case in CASES.items() if case.verdict is not Verdict.OPENS]
LANES = [name for name in OPEN if (outcome := CASES[name].normalized) is not None and outcome.has_complete_lane]
Position = Literal["at", "before"]
TIP = BRANCH_TIP, "main"


class Counted:
    """Ids that tell which entry of the file they belong to."""

    def __init__(self) -> None:
        self._numbers = count()

    def next(self, timestamp_ms: int | None = None) -> str:
        return f"entry {next(self._numbers)}"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def named(case: LegacyFile) -> tuple[str, str]:
    return case.id, case.cwd


def outcome_of(case: LegacyFile) -> Normalized:
    """The normalized session with the ids that `Counted` gives."""
    assert case.normalized is not None
    return case.normalized.filled([f"entry {number}" for number in range(len(case.normalized.entries))])


async def forked(place: Place, case: LegacyFile, options: ForkOptions) -> Finding:
    """The destination; the source stays as it is."""
    place.write(case.contents)
    before = place.path.stat().st_mtime_ns
    content = await place.fork(options, id_generator=Counted(), named=named(case))
    assert place.path.read_bytes() == case.contents
    assert place.path.stat().st_mtime_ns == before
    found = destination(content, cwd=case.cwd, parent=case.id)
    assert found.next_seq == outcome_of(case).next_seq
    return found


def expect(found: Finding, entries: list[Any], rows: dict[tuple[str, str], Json]) -> None:
    assert [dict(sorted(entry.items())) for entry in found.state.entries] == [
        dict(sorted(entry.items())) for entry in entries
    ]
    assert {address: value for address, (_, value) in found.state.scalars.items()} == rows
    assert found.state.lists == {}


def rows_of(outcome: Normalized, ids: set[str]) -> dict[tuple[str, str], Json]:
    """The rows that a fork with these entries holds, lanes at rest."""
    rows: dict[tuple[str, str], Json] = {}
    for write in outcome.derived:
        address = write["namespace"], write["key"]
        if write["op"] == "delete":
            rows.pop(address, None)
        elif write["namespace"] != ENTRY_LABEL or write["key"] in ids:
            rows[address] = idle_state() if write["namespace"] == LANE_STATE else write["value"]
    return rows


def path(outcome: Normalized, tip: Json) -> list[Any]:
    """The entries from the root to the tip."""
    entries, found = {entry["id"]: entry for entry in outcome.entries}, []
    while tip is not None:
        found.append(entries[tip])
        tip = entries[tip]["parentId"]
    return found[::-1]


# ── what they hold ──


@pytest.mark.parametrize("name", OPEN)
async def test_a_tree_fork_holds_the_normalized_session(name: str, place: Place) -> None:
    outcome = outcome_of(CASES[name])
    found = await forked(place, CASES[name], TreeFork())
    expect(found, list(outcome.entries), rows_of(outcome, {entry["id"] for entry in outcome.entries}))


@pytest.mark.parametrize("position", ["at", "before"])
@pytest.mark.parametrize("name", LANES)
async def test_a_branch_fork_holds_the_path_of_the_lane(name: str, position: Position, place: Place) -> None:
    outcome = outcome_of(CASES[name])
    tip = next(write["value"] for write in outcome.derived if write["namespace"] == BRANCH_TIP)
    entries = path(outcome, tip)
    if position == "before" and entries:
        tip = entries.pop()["parentId"]
    found = await forked(place, CASES[name], BranchFork("main", position=position))
    expect(found, entries, rows_of(outcome, {entry["id"] for entry in entries}) | {TIP: tip})


async def test_each_fork_gives_ids_of_its_own(place: Place) -> None:
    case = CASES["every-kind"]
    place.write(case.contents)
    first, second = [
        destination(await place.fork(TreeFork(), named=named(case)), cwd=case.cwd, parent=case.id) for _ in range(2)
    ]
    ids = [{entry["id"] for entry in found.state.entries} for found in (first, second)]
    assert len(ids[0] | ids[1]) == 10


# ── what they refuse ──


@pytest.mark.one_python
@pytest.mark.parametrize("name", REFUSED)
async def test_a_fork_refuses_what_opening_refuses(name: str, place: Place) -> None:
    case = CASES[name]
    place.write(case.contents)
    wanted: type[SessionStoreError] = CorruptSession if case.verdict is Verdict.CORRUPT else UnsupportedVersion
    for options in FORKS.values():
        refusal = await refusal_of(place, options, named=named(case))
        assert type(refusal) is wanted
        assert getattr(refusal, "line", None) == case.line
        assert (case.named or case.version or "") in str(refusal)


@pytest.mark.parametrize("name", OPEN)
async def test_other_branches_and_incomplete_lanes_are_refused(name: str, place: Place) -> None:
    case = CASES[name]
    place.write(case.contents)
    assert isinstance(await refusal_of(place, BranchFork("other"), named=named(case)), UnknownBranch)
    if name not in LANES:
        assert isinstance(await refusal_of(place, BranchFork("main"), named=named(case)), DataOnlyBranch)


@pytest.mark.parametrize("branch", ["main", "other"])
async def test_an_entry_cannot_be_named(branch: str, place: Place) -> None:
    case = CASES["every-kind"]
    place.write(case.contents)
    refusal = await refusal_of(place, BranchFork(branch, "entry 0"), id_generator=Counted(), named=named(case))
    assert isinstance(refusal, LegacyEntryId)
    assert (refusal.session_id, refusal.entry_id) == (case.id, "entry 0")


# ── while it runs ──

BEHIND = {"complete": b'{"type":"label"}\n', "torn": b'{"type":', "broken": b"\xff\n"}


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("point", ["boundary_captured", "batch_copied", "before_publish"])
@pytest.mark.parametrize("behind", BEHIND)
async def test_what_is_appended_after_the_first_scan_is_ignored(
    behind: str, point: str, options: ForkOptions, place: Place
) -> None:
    case = CASES["every-kind"]
    place.write(case.contents)
    alone = await place.fork(options, id_generator=Counted(), named=named(case))
    watch = Watch({point: lambda: place.path.write_bytes(case.contents + BEHIND[behind])})
    assert await place.fork(options, id_generator=Counted(), watch=watch, named=named(case)) == alone
    assert [point for point, _ in watch.told] == ["boundary_captured", "batch_copied", "before_publish"]


CHANGES = {
    "letter-in-a-message": lambda data: data.replace(b"small saw", b"large saw", 1),
    "letter-in-the-header": lambda data: data.replace(b"shed-7", b"shed-8", 1),
    "last-record-gone": lambda data: data[: data[:-1].rindex(b"\n") + 1],
    "first-record-gone": lambda data: (
        data[: data.index(b"\n") + 1] + data[data.index(b"\n", data.index(b"\n") + 1) + 1 :]
    ),
    "another-kind": lambda data: data.replace(b'"custom"', b'"kustom"', 1),
    "broken-record": lambda data: data.replace(b"{", b"[", 2),
    "empty": lambda data: b"",
}


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("change", [*CHANGES, "deleted"])
async def test_an_earlier_record_that_is_changed_or_gone_is_noticed(
    change: str, options: ForkOptions, place: Place
) -> None:
    case = CASES["every-kind"]
    place.write(case.contents)

    def act() -> None:
        if change == "deleted":
            place.path.unlink()
        else:
            changed = CHANGES[change](case.contents)
            assert changed != case.contents
            place.path.write_bytes(changed)

    with pytest.raises(SessionFileChanged):
        await place.fork(options, watch=Watch({"boundary_captured": act}), named=named(case))
    assert not place.forks.exists()


async def test_an_open_source_does_not_turn_into_a_legacy_one(place: Place) -> None:
    case = CASES["every-kind"]
    place.write(case.contents)
    refusal = await refusal_of(place, TreeFork(), boundary=place.boundary(1), named=named(case))
    assert isinstance(refusal, SessionFileChanged)


# ── streaming ──


async def test_a_legacy_source_is_read_line_by_line_twice_and_never_written(place: Place) -> None:
    case = CASES["every-kind"]
    place.write(case.contents)
    spy = FileSpy()
    await place.fork(TreeFork(), files=spy.wrap(FILES), named=named(case))
    path = place.path
    assert set(spy.lines_read(path)) == {2}
    assert spy.whole_file_reads() == []
    assert spy.only_read(path)
    assert spy.open_readers == []


async def test_memory_does_not_grow_with_payloads(place: Place) -> None:
    peaks = []
    for size in (256, 8_192):
        record = (
            b'{"type":"message","id":"%d","parentId":null,"timestamp":"2025-10-09T08:53:20Z","message":{"c":"%b"}}\n'
        )
        place.write(CASES["header-only"].contents + b"".join(record % (n, b"x" * size) for n in range(1_000)))
        with MemoryMeter() as meter:
            watch = Watch({"before_publish": lambda: peaks.append(meter.read_peak())})
            await place.fork(TreeFork(), watch=watch, named=named(CASES["header-only"]))
    assert peaks[1] - peaks[0] <= 2 * 2**20
