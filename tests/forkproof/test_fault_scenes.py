"""Faults in which more happens than one failure: slow files, a case that looks on or acts, a disk that is gone."""

import asyncio

import pytest

from forkproof.instruments.fault_kinds import Cancel, Fail, Short
from forkproof.instruments.fault_scenes import Gone, Meanwhile, Passes, Slow, Watched
from forkproof.instruments.stepping import cancelled_at_every_suspension, stepped
from forkstore.contract.files import FileError
from tests.forkproof.file_place import AFTER, BEFORE, CALLS, Place


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


HARMLESS = [Passes(), Slow(), Watched(lambda hit, moment: None)]


@pytest.mark.parametrize("fault", HARMLESS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("name", CALLS)
def test_scenes_that_do_no_harm_change_nothing(place, fault, name):
    place.faults.arm(fault)
    assert place.end(name).kind == "returned"
    assert place.faults.hit.name == name
    assert place.standing == AFTER.get(name, BEFORE)


def append(place, slow, *cancel_at):
    """Appends in a task of its own, cancelled at these suspensions; gives how it ended and what stands there then."""

    async def run():
        place.faults.arm(slow)
        return await stepped(lambda: place.call("append_file"), *cancel_at)

    outcome = asyncio.run(run())
    return outcome.kind, place.standing["bed"] != BEFORE["bed"], outcome.suspensions


class TestSlow:
    def test_a_slow_call_suspends_before_its_work_and_behind_it(self, place):
        assert append(place, Slow()) == ("returned", True, 2)

    def test_cancelled_before_its_work_it_does_none(self, place):
        assert append(place, Slow(), 1)[:2] == ("cancelled", False)

    def test_cancelled_behind_its_work_it_has_done_it(self, place):
        assert append(place, Slow(), 2)[:2] == ("cancelled", True)

    def test_every_operation_is_slow(self, place):
        async def run():
            place.faults.arm(Slow())

            async def two_calls():
                await place.files.sync_file(place.at("bed"))
                await place.files.file_info(place.at("bed"))

            async def check(k, outcome):
                assert outcome.kind == "cancelled"

            return await cancelled_at_every_suspension(two_calls, check)

        assert asyncio.run(run()) == 4

    @pytest.mark.parametrize(
        ("slow", "kind"),
        [
            (Slow(Fail(), 1), "raised"),
            (Slow(Fail(), 1, "append_file"), "raised"),
            (Slow(Fail(), 1, "sync_file"), "returned"),
            (Slow(Fail(), 2), "returned"),
            (Slow(Cancel(), 1), "cancelled"),
        ],
    )
    def test_the_one_that_was_named_is_in_trouble(self, place, slow, kind):
        ended, is_done, _ = append(place, slow)
        assert (ended, is_done) == (kind, kind == "returned")


class TestMeanwhile:
    def run(self, place, then):
        told = []

        async def act(hit):
            told.append((hit.name, place.standing["bed"] == BEFORE["bed"]))

        async def run():
            place.faults.arm(Meanwhile(act, then), names={"append_file"})
            await place.files.sync_file(place.at("bed"))
            first = await stepped(lambda: place.call("append_file"))
            second = await stepped(lambda: place.call("append_file"))
            return first.kind, second.kind

        return asyncio.run(run()), told

    def test_the_case_acts_before_the_operation_and_once(self, place):
        assert self.run(place, Passes()) == (("returned", "returned"), [("append_file", True)])

    def test_what_happens_then_is_up_to_the_case(self, place):
        assert self.run(place, Fail()) == (("raised", "returned"), [("append_file", True)])


def test_a_watched_operation_is_seen_before_and_behind(place):
    seen = []

    def look(hit, moment):
        seen.append((hit.number, hit.name, moment, place.standing["bed"] == BEFORE["bed"]))

    async def run():
        place.faults.arm(Watched(look))
        await place.files.sync_file(place.at("bed"))
        await place.call("append_file")

    asyncio.run(run())
    assert seen == [
        (1, "sync_file", "before", True),
        (1, "sync_file", "after", True),
        (2, "append_file", "before", True),
        (2, "append_file", "after", False),
    ]


def test_a_disk_that_is_gone_fails_for_good(place):
    async def run():
        place.faults.arm(Gone(Short(code="no_space")), at=2)
        await place.files.sync_file(place.at("bed"))
        codes = []
        for name in ("append_file", "truncate_file", "file_info"):
            with pytest.raises(FileError) as failure:
                await place.call(name)
            codes.append(failure.value.code)
        place.faults.disarm()
        await place.files.file_info(place.at("bed"))
        return codes

    assert asyncio.run(run()) == ["no_space", "unknown", "unknown"]
    assert place.standing["bed"] == BEFORE["bed"] + b"1234"
    assert [hit.number for hit in place.faults.hits] == [2, 3, 4]
