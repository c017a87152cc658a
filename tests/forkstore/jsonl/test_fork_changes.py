"""What happens to the source of a fork while it runs, and what a fork that fails leaves behind (sections 19 and 20)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from forkgen import recipe
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.file_spy import FileSpy
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkstore.contract.errors import (
    CorruptSession,
    ForeignSession,
    SessionFileChanged,
    SessionNotFound,
    StoreIOError,
    UnsupportedVersion,
)
from forkstore.contract.forks import ForkOptions, TreeFork
from tests.forkstore.jsonl.forking import (
    FILES,
    FORKS,
    Place,
    Watch,
    chain,
    destination,
    entry,
    lane,
    refusal_of,
    session,
)
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio
SOURCE = session([*([write] for write in chain(40)), lane("e39"), [entry("side")]])
"""Lines of one record, one of three, and at the end an entry that no branch fork takes."""
SIDE = SOURCE[:-1].rindex(b"\n") + 1


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write(SOURCE)
    return place


# ── behind the boundary ──

BEHIND: dict[str, bytes] = {
    "complete": b'{"kind":"value","op":"set","seq":900,"namespace":"garden.plan","key":"","value":1}\n',
    "undeclared": b'{"kind":"value","op":"set","seq":900,"namespace":"pi.weather","key":"","value":1}\n',
    "torn": b'{"kind":"value","op":"se',
    "broken": b"\xff\n]\n",
    "many": b"[]\n" * 100_000,
}


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize("point", ["boundary_captured", "batch_copied", "before_publish"])
@pytest.mark.parametrize("behind", BEHIND)
async def test_what_is_appended_behind_the_boundary_is_not_in_the_fork(
    behind: str, point: str, is_open: bool, options: ForkOptions, place: Place
) -> None:
    alone = await place.fork(options)
    boundary = place.boundary(45) if is_open else None

    def append() -> None:
        with place.path.open("ab") as file:
            file.write(BEHIND[behind])

    assert await place.fork(options, boundary=boundary, watch=Watch({point: append})) == alone


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("behind", BEHIND)
async def test_what_stood_behind_the_boundary_of_an_open_source_is_not_judged(
    behind: str, options: ForkOptions, place: Place
) -> None:
    alone = await place.fork(options)
    boundary = place.boundary(45)
    place.path.write_bytes(SOURCE + BEHIND[behind])
    assert await place.fork(options, boundary=boundary) == alone


# ── changes in front of it ──

NOTICED = SessionFileChanged, SessionNotFound, CorruptSession, ForeignSession, UnsupportedVersion
"""How a changed source can be refused, depending on what has become of it. Other changes than to append are outside of
what a fork relies on (section 25), so it is enough that they are noticed."""


def in_place(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Writes other bytes into the same file."""

    def act(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return act


def put_there(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Puts another file in its place."""

    def act(path: Path) -> None:
        other = path.with_name("other")
        other.write_bytes(change(path.read_bytes()))
        other.replace(path)

    return act


def delete(path: Path) -> None:
    path.unlink()


def delete_all(path: Path) -> None:
    path.unlink()
    path.parent.rmdir()


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


CHANGES: dict[str, Callable[[Path], None]] = {
    "letter-in-the-header": in_place(lambda data: data.replace(b"walk-1", b"walk-7", 1)),
    "time-in-the-header": in_place(lambda data: data.replace(b"1760000000123", b"1760000000124", 1)),
    "letter-in-an-entry": in_place(lambda data: data.replace(b"xxxxxxxxxx", b"xxxxxyxxxx", 1)),
    "letter-of-what-no-branch-takes": in_place(lambda data: data[:SIDE] + data[SIDE:].replace(b"side", b"hide", 1)),
    "another-sequence": in_place(lambda data: data.replace(b'"seq":9,', b'"seq":8,', 1)),
    "two-lines-become-one": in_place(lambda data: data.replace(b"}\n{", b"}, {", 1)),
    "one-line-becomes-two": in_place(lambda data: data.replace(b",", b"\n", 1)),
    "lines-change-places": in_place(lambda data: b"\n".join(reversed(data[:-1].split(b"\n"))) + b"\n"),
    "array-becomes-broken": in_place(lambda data: data.replace(b"\n[{", b"\n[[", 1)),
    "array-loses-its-end": in_place(lambda data: data.replace(b"}]\n", b"} \n", 1)),
    "no-utf-8": in_place(lambda data: data.replace(b"\n[{", b"\n[\xff", 1)),
    "shorter-by-a-line": in_place(lambda data: data[:SIDE]),
    "shorter-by-a-byte": in_place(lambda data: data[:-1]),
    "empty": in_place(lambda data: b""),
    "one-line": in_place(lambda data: b"x" * len(data)),
    "nul-bytes": in_place(lambda data: bytes(len(data))),
    "legacy": in_place(lambda data: data.replace(b'"kind":"header"', b'"type":"session"', 1)),
    "other-file": put_there(lambda data: data.replace(b"x", b"y")),
    "deleted": delete,
    "deleted-with-its-directory": delete_all,
    "directory": directory,
}


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("change", CHANGES)
async def test_a_closed_source_that_changes_between_the_scans_is_noticed(
    change: str, options: ForkOptions, place: Place
) -> None:
    watch = Watch({"boundary_captured": lambda: CHANGES[change](place.path)})
    with pytest.raises(SessionFileChanged) as refusal:
        await place.fork(options, watch=watch)
    assert refusal.value.path == str(place.path)
    assert not place.forks.exists()


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
async def test_a_closed_source_may_be_replaced_by_an_equal_one(options: ForkOptions, place: Place) -> None:
    """To open it cuts off its torn tail that way."""
    alone = await place.fork(options)
    place.write(SOURCE + b"torn")
    cut = put_there(lambda data: data.removesuffix(b"torn"))
    watch = Watch({"boundary_captured": lambda: cut(place.path)})
    assert await place.fork(options, watch=watch) == alone


async def test_an_open_source_may_not_be_replaced_even_by_an_equal_one(place: Place) -> None:
    boundary = place.boundary(45)
    put_there(lambda data: data)(place.path)
    assert isinstance(await refusal_of(place, TreeFork(), boundary=boundary), SessionFileChanged)


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("change", [name for name in CHANGES if "letter" not in name and "time" not in name])
async def test_an_open_source_that_is_not_the_one_of_the_boundary_is_noticed(
    change: str, options: ForkOptions, place: Place
) -> None:
    boundary = place.boundary(45)
    CHANGES[change](place.path)
    with pytest.raises(NOTICED) as refusal:
        await place.fork(options, boundary=boundary)
    assert isinstance(refusal.value, SessionNotFound) == (
        change in ("deleted", "deleted-with-its-directory", "directory")
    )
    assert not place.forks.exists()


LARGE = session([*([write] for write in chain(500, 2_000)), lane("e499")])


@pytest.mark.one_python
@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize("point", ["boundary_captured", "batch_copied", "before_publish"])
@pytest.mark.parametrize("change", CHANGES)
async def test_a_fork_never_holds_a_mixture(
    change: str, point: str, is_open: bool, options: ForkOptions, place: Place
) -> None:
    place.write(LARGE)
    alone = await place.fork(options)
    boundary = place.boundary(504) if is_open else None
    watch = Watch({point: lambda: CHANGES[change](place.path) if len(watch.told) < 3 else None})
    try:
        content = await place.fork(options, boundary=boundary, watch=watch)
    except NOTICED:
        assert point != "before_publish"
        assert not any(place.forks.rglob("*.*"))
    else:
        assert content == alone or (is_open and point == "boundary_captured" and "letter" in change)


# ── the boundary of an open source ──


@pytest.mark.parametrize("next_seq", [3, 44, 46, 900])
async def test_a_boundary_that_the_file_does_not_have_is_a_change(next_seq: int, place: Place) -> None:
    refusal = await refusal_of(place, TreeFork(), boundary=place.boundary(next_seq))
    assert isinstance(refusal, SessionFileChanged)


@pytest.mark.parametrize("next_seq", [42, 43])
async def test_a_transaction_across_the_boundary_is_corruption_in_its_line(next_seq: int, place: Place) -> None:
    refusal = await refusal_of(place, TreeFork(), boundary=place.boundary(next_seq))
    assert isinstance(refusal, CorruptSession)
    assert (refusal.path, refusal.line) == (str(place.path), 42)


async def test_the_header_may_hold_the_boundary_of_an_open_source(place: Place) -> None:
    place.write(session([chain(2)], next_seq=None).replace(b'"cwd"', b'"nextSeq":9000,"cwd"', 1))
    assert destination(await place.fork(TreeFork(), boundary=place.boundary(9000))).next_seq == 9000
    refusal = await refusal_of(place, TreeFork(), boundary=place.boundary(3))
    assert isinstance(refusal, SessionFileChanged)


# ── failures ──

FAULTS: dict[str, Fault] = {
    "fails": Fail("permission_denied"),
    "fails-late": FailAfter("unknown"),
    "short": Short(0.5),
    "no-space": NoSpace(),
    "cancelled": Cancel("before"),
    "cancelled-late": Cancel("after"),
}


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fork_that_fails_at_any_file_call_leaves_no_trace(
    fault: str, options: ForkOptions, place: Place
) -> None:
    place.write(session([chain(4), lane("e3")]))
    place.forks.joinpath("--srv-garden--").mkdir(parents=True)
    faults, spy, before = FileFaults(), FileSpy(), tree(place.root)
    files = faults.wrap(spy.wrap(FILES))

    async def no_trace(n: int, hit: Hit, outcome: Stepped) -> None:
        assert tree(place.root) == before, str(hit)
        assert outcome.kind in ("raised", "cancelled"), str(hit)
        if outcome.kind == "raised":
            assert isinstance(outcome.error, StoreIOError), str(hit)
            assert outcome.error.__cause__ is hit.error, str(hit)
            assert outcome.error.operation == hit.name, str(hit)
        if fault != "fails-late":
            assert spy.open_readers == [] or hit.name == "close", str(hit)

    hits = await swept(lambda: place.fork(options, files=files), faults, FAULTS[fault], no_trace)
    assert hits >= (3 if fault == "no-space" else 20)


@pytest.mark.usefixtures("cold_cache")  # every chunk is one more suspension
@pytest.mark.parametrize("again_after", [None, 1, 2, 5])
async def test_a_fork_that_is_cancelled_anywhere_leaves_no_trace(again_after: int | None, place: Place) -> None:
    place.write(session(recipe("everything")(1, 10)))
    before = tree(place.root)

    async def no_trace(k: int, outcome: Stepped) -> None:
        assert outcome.kind == "cancelled"
        assert tree(place.root) == before, k

    async def fork() -> None:
        await place.fork(TreeFork(), watch=SlowWatch())

    assert await cancelled_at_every_suspension(fork, no_trace, again_after=again_after) > 10


class SlowWatch:
    """A probe that suspends in every callback."""

    async def boundary_captured(self) -> None:
        await asyncio.sleep(0)

    async def batch_copied(self, count: int) -> None:
        await asyncio.sleep(0)

    async def before_publish(self) -> None:
        await asyncio.sleep(0)


class _Stop(Exception):
    """What a probe raises."""


@pytest.mark.parametrize("point", ["boundary_captured", "batch_copied", "before_publish"])
async def test_an_error_of_the_probe_arrives_as_it_is_and_leaves_no_trace(point: str, place: Place) -> None:
    def stop() -> None:
        raise _Stop

    before, spy = tree(place.root), FileSpy()
    with pytest.raises(_Stop):
        await place.fork(TreeFork(), files=spy.wrap(FILES), watch=Watch({point: stop}))
    assert tree(place.root) == before
    assert spy.open_readers == []
