"""Every kind of fault at every file operation: what it does, what it leaves, and what it reports."""

import asyncio
import inspect

import pytest

from forkproof.instruments.fault_kinds import (
    CHANGES,
    OPERATIONS,
    TAKES_ROOM,
    Cancel,
    Fail,
    FailAfter,
    Kill,
    NoSpace,
    Short,
)
from forkproof.instruments.stepping import stepped
from forkstore.contract.files import FileError, Files, LineReader
from tests.forkproof.file_place import AFTER, BEFORE, CALLS, HALFWAY, LINES, Place

EACH_CALL = pytest.mark.parametrize("name", CALLS)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_every_coroutine_of_the_capability_is_an_operation():
    coroutines = {
        name
        for protocol in (Files, LineReader)
        for name, value in vars(protocol).items()
        if inspect.iscoroutinefunction(value)
    }
    assert coroutines == OPERATIONS == CALLS.keys() | {"read_line", "close"}
    assert OPERATIONS >= TAKES_ROOM | CHANGES


@EACH_CALL
def test_without_a_fault_a_call_is_as_it_was_and_never_suspends(place, tmp_path_factory, name):
    bare = Place(tmp_path_factory.mktemp("bare"))
    bare.files = bare.plain
    expected, outcome = bare.end(name), place.end(name)
    assert (outcome.kind, outcome.suspensions) == ("returned", 0)
    if name in {"exists", "read_bytes", "read_all"}:
        assert outcome.value == expected.value
    assert place.standing == bare.standing == AFTER.get(name, BEFORE)
    assert (place.faults.hit, place.faults.count) == (None, 0)


@EACH_CALL
def test_an_arming_for_later_counts_and_passes_through(place, name):
    place.faults.arm(Fail(), at=2, names={name})
    assert (place.end(name).kind, place.faults.count, place.faults.hit) == ("returned", 1, None)
    assert place.standing == AFTER.get(name, BEFORE)


def hit_of(place, name):
    """The one hit, which must be at the call that was made."""
    (hit,) = place.faults.hits
    assert (hit.number, hit.name, hit.path.startswith(place.at(""))) == (1, name, True)
    return hit


@EACH_CALL
def test_a_failure_does_nothing(place, name):
    place.faults.arm(Fail("permission_denied"))
    outcome = place.end(name)
    hit = hit_of(place, name)
    assert (outcome.kind, outcome.error) == ("raised", hit.error)
    assert isinstance(hit.error, FileError)
    assert (hit.error.code, hit.error.path) == ("permission_denied", hit.path)
    assert place.standing == BEFORE


@EACH_CALL
def test_a_late_failure_comes_after_the_work(place, name):
    place.faults.arm(FailAfter("invalid"))
    outcome = place.end(name)
    assert (outcome.kind, outcome.error) == ("raised", hit_of(place, name).error)
    assert outcome.error.code == "invalid"
    assert place.standing == AFTER.get(name, BEFORE)


@EACH_CALL
def test_a_short_change_does_half_and_fails(place, name):
    place.faults.arm(Short())
    outcome = place.end(name)
    assert (outcome.kind, outcome.error) == ("raised", hit_of(place, name).error)
    assert (outcome.error.code, name in HALFWAY) == ("unknown", name in CHANGES)
    assert place.standing == HALFWAY.get(name, BEFORE)


@pytest.mark.parametrize(("share", "left"), [(0, b""), (0.3, b"12"), (0.99, b"1234567"), (1, b"12345678")])
@pytest.mark.parametrize("name", ["append_file", "write_file"])
def test_the_share_of_a_short_change_is_chosen(place, name, share, left):
    place.faults.arm(Short(share, "no_space"))
    assert place.end(name).error.code == "no_space"
    assert place.standing["bed" if name == "append_file" else "new"].removeprefix(LINES) == left


@EACH_CALL
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_cancellation_arrives_inside_the_call(place, name, when):
    place.faults.arm(Cancel(when))
    outcome = place.end(name)
    assert (outcome.kind, outcome.suspensions) == ("cancelled", 1)
    assert hit_of(place, name).error is None
    assert place.standing == (AFTER.get(name, BEFORE) if when == "after" else BEFORE)


@EACH_CALL
def test_a_full_disk_refuses_what_takes_room(place, name):
    place.faults.arm(NoSpace())
    outcome = place.end(name)
    if name in TAKES_ROOM:
        assert (outcome.kind, outcome.error.code) == ("raised", "no_space")
        assert place.standing == HALFWAY.get(name, BEFORE)
    else:
        assert (outcome.kind, place.faults.count) == ("returned", 0)
        assert place.standing == AFTER.get(name, BEFORE)


@EACH_CALL
def test_a_disk_stays_full_until_there_is_room(place, name):
    place.faults.arm(NoSpace(share=0.25))
    asyncio.run(stepped(lambda: place.files.append_file(place.at("log"), b"1234")))
    outcome = place.end(name)
    assert [hit.first for hit in place.faults.hits] == [True, False][: 1 + (name in TAKES_ROOM)]
    assert outcome.kind == ("raised" if name in TAKES_ROOM else "returned")
    # Only the call that filled the disk did a part of its work.
    assert place.standing == {**(BEFORE if name in TAKES_ROOM else AFTER.get(name, BEFORE)), "log": b"1"}
    if name in TAKES_ROOM:
        place.faults.room()
        assert place.end(name).kind == "returned"
        assert place.standing == {**AFTER[name], "log": b"1"}


def test_a_disk_may_be_so_full_that_cutting_fails(place):
    place.faults.arm(NoSpace(), names=CHANGES)
    assert place.end("truncate_file").error.code == "no_space"
    assert place.end("make_dir").kind == "returned"
    assert place.end("append_file").error.code == "no_space"


def test_a_death_is_announced_before_it_comes(place, monkeypatch):
    """What follows the last words is proven in a child process (test_kill)."""
    deaths = []

    def exit_(code):
        deaths.append(code)
        raise SystemExit(code)

    monkeypatch.setattr("os._exit", exit_)
    words = []
    for when in ("before", "middle", "after"):
        place.faults.arm(Kill(words.append, when))
        with pytest.raises(SystemExit):
            asyncio.run(place.call("append_file"))
    assert deaths == [86, 86, 86]
    assert [hit.name for hit in words] == ["append_file"] * 3
    assert place.standing["bed"] == LINES + b"1234" + b"12345678"
