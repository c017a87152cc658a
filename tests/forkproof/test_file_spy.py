"""The file spy: nothing changes for the store, every call is counted, and the answer to each question can be no."""

import asyncio
import inspect

import pytest

from forkproof.instruments.file_spy import CALLS_KEPT, CHANGES, FileSpy
from forkstore.contract.files import CHUNK, FileError, Files

from .plain_files import PlainFiles

ASYNC_CALLS = {
    "exists": (),
    "file_info": (),
    "list_dir": (),
    "make_dir": (),
    "remove_dir": (),
    "read_bytes": (7,),
    "read_all": (),
    "open_line_reader": (),
    "write_file": (b"rain",),
    "append_file": (b"rain",),
    "truncate_file": (3,),
    "rename_file": ("/b",),
    "publish_file": ("/b",),
    "remove_file": (),
    "sync_file": (),
    "sync_dir": (),
}


class Scripted:
    """Answers every call as a test wants it, and remembers what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def __getattr__(self, name):
        async def call(*arguments):
            self.asked.append((name, *arguments))
            return await self.answer()

        return call


def run(coroutine):
    return asyncio.run(coroutine)


@pytest.fixture
def spy():
    return FileSpy()


@pytest.fixture
def files(spy):
    return spy.wrap(PlainFiles())


def test_every_call_of_the_capability_is_watched():
    asked = {name for name, value in vars(Files).items() if inspect.iscoroutinefunction(value)}
    assert asked == set(ASYNC_CALLS)
    assert asked >= CHANGES


@pytest.mark.parametrize("name", ASYNC_CALLS)
def test_arguments_results_and_errors_pass_unchanged(spy, name):
    result = b"what it gave"

    async def gives():
        return result

    inner = Scripted(gives)
    seen = run(getattr(spy.wrap(inner), name)("/a", *ASYNC_CALLS[name]))
    assert inner.asked == [(name, "/a", *ASYNC_CALLS[name])]
    if name in ("exists", "file_info", "list_dir", "read_bytes", "read_all"):
        assert seen is result
    for error in (FileError("no_space", "/a"), TypeError("of the harness"), asyncio.CancelledError("reason")):

        async def fails(error=error):
            raise error

        with pytest.raises(type(error)) as raised:
            run(getattr(spy.wrap(Scripted(fails)), name)("/a", *ASYNC_CALLS[name]))
        assert raised.value is error
    assert [call.name for call in spy.calls] == [name] * 4
    assert [call.outcome for call in spy.calls] == ["returned", "no_space", "TypeError", "CancelledError"]


def test_a_watched_call_suspends_as_often_as_the_call_itself(spy):
    async def twice():
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def steps():
        call = asyncio.ensure_future(spy.wrap(Scripted(twice)).sync_file("/a"))
        rounds = 0
        while not call.done():
            await asyncio.sleep(0)
            rounds += 1
        return rounds

    async def bare():
        call = asyncio.ensure_future(twice())
        rounds = 0
        while not call.done():
            await asyncio.sleep(0)
            rounds += 1
        return rounds

    assert run(steps()) == run(bare())


def test_a_call_is_seen_from_its_first_step_on(spy):
    async def steps():
        gate = asyncio.Event()
        call = asyncio.ensure_future(spy.wrap(Scripted(gate.wait)).append_file("/a", b"rain"))
        await asyncio.sleep(0)
        assert [str(one) for one in spy.calls] == ["append_file(/a, 4) → running"]
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        assert str(spy.calls[0]) == "append_file(/a, 4) → CancelledError"

    run(steps())


def test_path_calls_are_plain_functions_and_untold(spy, files, tmp_path):
    assert files.join_path(str(tmp_path), "a") == str(tmp_path / "a")
    assert files.absolute_path("a") == PlainFiles().absolute_path("a")
    assert files.real_path(str(tmp_path)) == PlainFiles().real_path(str(tmp_path))
    assert (spy.calls, spy.seen) == ([], 0)


def test_calls_are_counted_by_path_and_kept_in_order(spy, files, tmp_path):
    staged, final = str(tmp_path / "walk.tmp"), str(tmp_path / "walk.jsonl")

    async def publish():
        await files.write_file(staged, b"header\n")
        await files.append_file(staged, b"line\n")
        await files.sync_file(staged)
        await files.publish_file(staged, final)
        await files.sync_dir(str(tmp_path))

    run(publish())
    assert spy.sequence() == ["write_file", "append_file", "sync_file", "publish_file", "sync_dir"]
    assert spy.sequence("sync_file", "sync_dir") == ["sync_file", "sync_dir"]
    assert [str(call) for call in spy.calls_on(final)] == [f"publish_file({staged}, {final}) → returned"]
    assert [(call.name, call.size) for call in spy.changes(staged)] == [
        ("write_file", 7),
        ("append_file", 5),
        ("publish_file", None),
    ]
    assert [call.name for call in spy.changes()] == ["write_file", "append_file", "publish_file"]
    assert (spy.count("append_file", staged), spy.count("append_file", final), spy.count("append_file")) == (1, 0, 1)
    assert (spy.count("publish_file", staged), spy.count("publish_file", final), spy.count("publish_file")) == (1, 1, 1)


@pytest.mark.parametrize("name", sorted({*CHANGES, "sync_file", "sync_dir"}))
def test_whatever_could_change_a_path_is_more_than_reading(spy, tmp_path, name):
    path = str(tmp_path / "walk.jsonl")

    async def act(name, *arguments):
        await getattr(spy.wrap(Scripted(done)), name)(path, *arguments)

    async def done():
        return b""

    for read in ("exists", "file_info", "read_bytes", "read_all", "open_line_reader"):
        run(act(read, *ASYNC_CALLS[read]))
    assert spy.only_read(path)
    run(act(name, *ASYNC_CALLS[name]))
    assert not spy.only_read(path)
    assert spy.only_read(tmp_path / "other.jsonl")


def test_the_target_of_a_rename_is_not_only_read(spy, tmp_path):
    async def done():
        return None

    run(spy.wrap(Scripted(done)).rename_file(str(tmp_path / "a"), str(tmp_path / "b")))
    assert not spy.only_read(tmp_path / "b")


def test_readers_tell_how_often_each_line_was_delivered(spy, files, tmp_path):
    path = tmp_path / "walk.jsonl"
    path.write_bytes(b"header\nsecond line\ntorn")

    async def read(lines):
        reader = await files.open_line_reader(str(path))
        seen = [await reader.read_line() for _ in range(lines)]
        await reader.close()
        return seen

    assert run(read(4)) == [(b"header", True), (b"second line", True), (b"torn", False), None]
    run(read(1))
    run(read(2))
    assert spy.lines_read(path) == [3, 2, 1]
    assert spy.lines_read(tmp_path / "other.jsonl") == []
    first, second, third = spy.readers(path)
    assert (first.lines, first.given, first.longest, first.at_end, first.closes) == (3, 23, 12, True, 1)
    assert (second.lines, second.given, second.at_end) == (1, 7, False)
    assert third.lines == 2
    assert spy.opens(path) == 3
    assert spy.bytes_given(path) == 23 + 7 + 19
    assert (spy.open_readers, spy.readers(), spy.readers(tmp_path)) == ([], [first, second, third], [])


def test_a_reader_that_was_not_closed_is_told(spy, files, tmp_path):
    path = tmp_path / "walk.jsonl"
    path.write_bytes(b"header\n")

    async def leave():
        reader = await files.open_line_reader(str(path))
        await reader.read_line()
        assert [(one.path, one.lines) for one in spy.open_readers] == [(str(path), 1)]
        await reader.close()
        await reader.close()

    run(leave())
    assert (spy.open_readers, spy.readers(path)[0].closes) == ([], 2)


def test_a_read_that_fails_or_is_cancelled_delivers_nothing(spy):
    class Reader:
        async def read_line(self):
            raise self.error

        async def close(self):
            raise self.error

    inner = Reader()

    async def opened():
        return inner

    async def steps():
        reader = await spy.wrap(Scripted(opened)).open_line_reader("/a")
        for inner.error in (FileError("unknown", "/a"), asyncio.CancelledError()):
            for call in (reader.read_line, reader.close):
                with pytest.raises(type(inner.error)) as raised:
                    await call()
                assert raised.value is inner.error
        (use,) = spy.readers("/a")
        assert (use.lines, use.given, use.at_end, use.ending, use.closes) == (0, 0, False, "CancelledError", 2)

    run(steps())


def test_bounded_reads_are_added_up_and_whole_ones_are_flagged(spy, files, tmp_path):
    path = tmp_path / "walk.jsonl"
    path.write_bytes(b"x" * (CHUNK + 10))

    async def steps():
        await files.read_bytes(str(path), 100)
        await files.read_bytes(str(path), CHUNK)
        assert spy.whole_file_reads(path) == []
        await files.read_bytes(str(path), CHUNK + 1)
        await files.read_all(str(path))

    run(steps())
    assert spy.bytes_asked(path) == 100 + CHUNK + CHUNK + 1
    assert spy.bytes_given(path) == 100 + CHUNK + CHUNK + 1 + CHUNK + 10
    assert [(call.name, call.size) for call in spy.whole_file_reads(path)] == [
        ("read_bytes", CHUNK + 1),
        ("read_all", None),
    ]
    assert spy.whole_file_reads() == spy.whole_file_reads(path)
    assert spy.whole_file_reads(tmp_path / "other") == []
    assert spy.opens(path) == 4


def test_any_way_to_a_file_is_an_answer(spy, files, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    run(files.write_file(str(tmp_path / "link" / "walk.jsonl"), b""))
    for way in ("link/walk.jsonl", "there/walk.jsonl", "there/../link/./walk.jsonl"):
        assert spy.count("write_file", tmp_path / way) == 1
        assert spy.count("write_file", f"{tmp_path}/{way}") == 1


def test_what_was_forgotten_is_in_no_answer(spy, files, tmp_path):
    path = tmp_path / "walk.jsonl"

    async def steps():
        await files.write_file(str(path), b"header\n")
        reader = await files.open_line_reader(str(path))
        spy.forget()
        assert await reader.read_line() == (b"header", True)
        await reader.close()
        await files.exists(str(path))

    run(steps())
    assert spy.sequence() == ["exists"]
    assert (spy.count("write_file", path), spy.lines_read(path), spy.readers()) == (0, [], [])
    assert spy.only_read(path)
    assert spy.seen == 3


def test_one_spy_over_several_repositories(spy, tmp_path):
    for _ in range(2):
        run(spy.wrap(PlainFiles()).write_file(str(tmp_path / "a"), b""))
    assert spy.count("write_file") == 2


def test_more_calls_than_are_kept_are_counted_and_never_half_answered(spy, tmp_path):
    path = str(tmp_path / "a")

    async def steps():
        files = spy.wrap(PlainFiles())
        for _ in range(CALLS_KEPT):
            await files.exists(path)
        assert len(spy.calls) == CALLS_KEPT
        await files.append_file(path, b"")

    run(steps())
    assert spy.count("exists", path) == CALLS_KEPT
    assert not spy.only_read(path)
    for question in (spy.sequence, spy.changes, spy.whole_file_reads, lambda: spy.bytes_given(path)):
        with pytest.raises(LookupError, match="forget"):
            question()
