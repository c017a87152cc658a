"""Which file operation a fault strikes, in readers too, and whom a cancellation reaches."""

import asyncio

import pytest

from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Short
from forkproof.instruments.stepping import settle, stepped
from tests.forkproof.file_place import Place


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


class TestReader:
    """The operations of a line reader."""

    def lines(self, place, fault, **asked):
        async def run():
            reader = await place.files.open_line_reader(place.at("bed"))
            place.faults.arm(fault, **asked)
            read = []
            while True:
                outcome = await stepped(reader.read_line)
                read.append(outcome.value if outcome.kind == "returned" else outcome.kind)
                if read[-1] is None:
                    break
            await reader.close()
            return read

        read = asyncio.run(run())
        assert [reader.closed for reader in place.plain.readers] == [True]
        return read

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_a_cancelled_read_consumes_nothing(self, place, when):
        read = self.lines(place, Cancel(when), at=2)
        assert read == [(b"tulip", True), "cancelled", (b"rose", True), (b"daisy", True), None]

    @pytest.mark.parametrize("fault", [Fail(), FailAfter(), Short()], ids=lambda fault: type(fault).__name__)
    def test_a_failed_read_is_told(self, place, fault):
        assert self.lines(place, fault, at=1)[:2] == ["raised", (b"tulip", True)]

    @pytest.mark.parametrize("at", [1, 2, 3, 4])
    def test_each_read_is_one_operation(self, place, at):
        read = self.lines(place, Fail("not_found"), at=at, names={"read_line"})
        assert [one == "raised" for one in read].index(True) == at - 1
        assert place.faults.hit.path == place.at("bed")

    @pytest.mark.parametrize("fault", [Fail("unknown"), FailAfter("unknown"), Cancel(), Cancel("after")])
    def test_a_failed_close_lets_go_of_the_file(self, place, fault):
        async def run():
            reader = await place.files.open_line_reader(place.at("bed"))
            place.faults.arm(fault)
            return await stepped(reader.close)

        outcome = asyncio.run(run())
        assert outcome.kind == ("cancelled" if isinstance(fault, Cancel) else "raised")
        assert place.faults.hit.name == "close"
        assert [reader.closed for reader in place.plain.readers] == [True]

    def test_a_reader_from_before_the_disarming_passes_through(self, place):
        async def run():
            place.faults.arm(Fail(), at=2)
            reader = await place.files.open_line_reader(place.at("bed"))
            place.faults.disarm()
            line = await reader.read_line()
            await reader.close()
            return line

        assert asyncio.run(run()) == (b"tulip", True)
        assert (place.faults.hit, place.faults.count) == (None, 1)


class TestArming:
    """Which operations are counted, and which one is struck."""

    def kinds(self, place, *names):
        return [place.end(name).kind for name in names]

    @pytest.mark.parametrize("at", [1, 2, 3])
    def test_the_chosen_operation_is_struck_and_only_it(self, place, at):
        place.faults.arm(Fail(), at=at)
        kinds = self.kinds(place, "exists", "read_all", "sync_dir", "exists")
        assert kinds == ["raised" if number == at else "returned" for number in (1, 2, 3, 4)]
        assert (place.faults.count, place.faults.hit.number) == (4, at)

    def test_only_the_named_operations_are_counted(self, place):
        place.faults.arm(Fail(), at=2, names={"exists", "sync_file"})
        assert self.kinds(place, "read_all", "exists", "list_dir", "sync_file", "exists") == [
            "returned",
            "returned",
            "returned",
            "raised",
            "returned",
        ]
        assert (place.faults.count, place.faults.hit.name) == (3, "sync_file")

    def test_only_matching_paths_are_counted(self, place):
        place.faults.arm(Fail(), paths="*/bed")
        assert self.kinds(place, "make_dir", "list_dir", "read_all") == ["returned", "returned", "raised"]
        place.faults.arm(Fail(), paths="*/be?")
        assert self.kinds(place, "sync_dir", "sync_file") == ["returned", "raised"]

    @pytest.mark.parametrize("name", ["rename_file", "publish_file"])
    def test_either_path_of_a_rename_matches(self, place, name):
        for pattern in ("*/bed", "*/*ed"):
            place.faults.arm(Fail(), paths=pattern)
            assert place.end(name).kind == "raised"
        target = place.at("renamed" if name == "rename_file" else "published")
        place.faults.arm(Fail(), paths=target)
        assert place.end(name).kind == "raised"
        assert str(place.faults.hit) == f"file operation 1, {name} {place.at('bed')} → {target}"

    def test_a_second_strike_comes_some_operations_later(self, place):
        place.faults.arm(Cancel(), at=2, again_after=2)
        kinds = self.kinds(place, "exists", "exists", "exists", "exists", "exists")
        assert kinds == ["returned", "cancelled", "returned", "cancelled", "returned"]
        assert [hit.number for hit in place.faults.hits] == [2, 4]

    def test_a_new_arming_counts_anew(self, place):
        place.faults.arm(Fail())
        self.kinds(place, "exists", "exists")
        place.faults.arm(Fail(), at=2)
        assert (place.faults.hits, place.faults.count) == ([], 0)
        assert self.kinds(place, "exists", "exists") == ["returned", "raised"]

    def test_disarmed_faults_keep_what_they_saw(self, place):
        place.faults.arm(Fail())
        self.kinds(place, "exists")
        place.faults.disarm()
        assert self.kinds(place, "exists") == ["returned"]
        assert str(place.faults.hit) == f"file operation 1, exists {place.at('bed')}"
        assert place.faults.count == 1

    def test_everything_that_was_wrapped_is_counted_together(self, place):
        place.faults.arm(Fail(), at=2)
        first, second = place.files, place.faults.wrap(place.plain)
        assert asyncio.run(stepped(lambda: first.exists(place.at("bed")))).kind == "returned"
        assert asyncio.run(stepped(lambda: second.exists(place.at("bed")))).kind == "raised"

    def test_path_work_is_not_counted(self, place):
        place.faults.arm(Fail())
        assert place.files.join_path(place.at("a"), "b") == place.at("a/b")
        assert place.files.absolute_path(place.at("a")) == place.files.real_path(place.at("a")) == place.at("a")
        assert place.faults.count == 0

    @pytest.mark.parametrize(
        "asked", [{"at": 0}, {"at": -1}, {"again_after": 0}, {"names": {"append"}}, {"names": ()}], ids=str
    )
    def test_a_fault_that_could_strike_nothing_is_refused(self, place, asked):
        with pytest.raises(ValueError, match=r"file operation is called|counted from 1"):
            place.faults.arm(Fail(), **asked)

    def test_a_real_error_comes_before_a_late_one(self, place):
        (place.directory / "bed").unlink()
        place.faults.arm(FailAfter("permission_denied"))
        assert place.end("read_all").error.code == "not_found"


class TestCancellingTheCaller:
    """A store may do its file work in a task of its own, which outlives the cancelled one."""

    def run(self, place, fault, **asked):
        async def run():
            order = []

            async def work():
                await place.files.append_file(place.at("log"), b"done")
                order.append("work done")

            async def call():
                place.faults.arm(fault, caller=asyncio.current_task(), **asked)
                task = asyncio.ensure_future(work())
                try:
                    await asyncio.shield(task)
                except asyncio.CancelledError:
                    order.append("caller cancelled")
                    await task
                    raise

            outcome = await stepped(call)
            await settle()
            return outcome.kind, order

        return asyncio.run(run())

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_the_caller_is_cancelled_and_the_work_goes_on(self, place, when):
        assert self.run(place, Cancel(when)) == ("cancelled", ["caller cancelled", "work done"])
        assert place.standing["log"] == b"done"
