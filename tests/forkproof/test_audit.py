"""The audit spy: sees every way in which Python changes a file, and nothing in what only reads."""

import asyncio
import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest

from forkproof.expect import ClauseBroken
from forkproof.instruments.audit import OFFENCES_KEPT, AuditSpy
from forkproof.instruments.audit_events import change_of


@pytest.fixture
def path(tmp_path):
    directory = tmp_path / "root" / "--srv-garden--"
    directory.mkdir(parents=True)
    found = directory / "walk.jsonl"
    found.write_bytes(b"header\n")
    return found


def opened(flags):
    def act(path):
        os.close(os.open(path, flags))

    return act


def cut_by_descriptor(path):
    # Opened for reading: the cut itself is what must be seen, and it is refused by the system.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.ftruncate(descriptor, 0)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def removed_by_directory(path):
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.unlink(path.name, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def relative(path):
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        Path("walk.jsonl").write_bytes(b"")
    finally:
        os.chdir(before)


def replaced(path):
    other = path.parent.parent / "other"
    other.touch()
    other.replace(path)


def by_a_link(path):
    link = path.parent.parent.parent / "link"
    link.symlink_to(path.parent)
    (link / "walk.jsonl").touch()


OFFENCES = {
    "open w": (lambda path: path.open("wb").close(), "opened for writing"),
    "open a": (lambda path: path.open("a").close(), "O_APPEND"),
    "open r+": (lambda path: path.open("r+b").close(), "O_RDWR"),
    "O_WRONLY": (opened(os.O_WRONLY), "O_WRONLY"),
    "O_RDWR": (opened(os.O_RDWR), "O_RDWR"),
    "O_APPEND": (opened(os.O_RDONLY | os.O_APPEND), "O_APPEND"),
    "O_CREAT": (opened(os.O_RDONLY | os.O_CREAT), "O_CREAT"),
    "bytes": (lambda path: opened(os.O_RDWR)(os.fsencode(path)), "O_RDWR"),
    "relative": (relative, "opened for writing"),
    "by a link": (by_a_link, "walk.jsonl"),
    "rename away": (lambda path: path.rename(path.with_name("away")), "renamed"),
    "rename onto": (replaced, "renamed"),
    "rename above": (lambda path: path.parent.rename(path.parent.with_name("moved")), "renamed"),
    "remove": (os.remove, "removed"),
    "remove by directory": (removed_by_directory, "removed"),
    "rmtree": (lambda path: shutil.rmtree(path.parent), "removed with all in it"),
    "truncate": (lambda path: os.truncate(path, 1), "cut"),
    "ftruncate": (cut_by_descriptor, "cut descriptor"),
    "utime": (os.utime, "set the times of"),
    "chmod": (lambda path: path.chmod(0o600), "changed the mode of"),
    "chown": (lambda path: os.chown(path, -1, -1), "changed the owner of"),
    "link": (lambda path: os.link(path, path.parent.parent / "other"), "linked"),
    "symlink": (lambda path: path.with_name("walk.jsonl.link").symlink_to(path), "made the link"),
    "copy onto": (lambda path: shutil.copyfile(__file__, path), "opened for writing"),
    "move away": (lambda path: shutil.move(path, path.parent.parent / "away"), "renamed"),
    "a lock beside it": (lambda path: path.with_name(".walk.jsonl.lock").touch(), ".walk.jsonl.lock"),
    "a temporary file beside it": (lambda path: path.with_name("walk.jsonl.0a.tmp").write_bytes(b""), "0a.tmp"),
    "a directory beside it": (lambda path: path.with_name("walk.jsonl.d").mkdir(), "made the directory"),
}


@pytest.mark.parametrize("name", OFFENCES)
def test_every_way_to_change_a_guarded_file_is_seen(path, name):
    act, told = OFFENCES[name]
    spy = AuditSpy(path, of="the source of the fork")
    with pytest.raises(ClauseBroken) as broken, spy:
        act(path)
    assert told in spy.offences[0]
    assert str(broken.value).startswith("the source of the fork\nexpected: opened for reading only\nseen:     ")
    assert told in str(broken.value)


@pytest.mark.parametrize(
    "act",
    [
        lambda path: path.read_bytes(),
        lambda path: path.open().close(),
        opened(os.O_RDONLY),
        lambda path: os.close(os.open(path.parent, os.O_RDONLY)),
        lambda path: (path.stat(), path.exists(), list(path.parent.iterdir()), path.resolve()),
        lambda path: path.parent.mkdir(parents=True, exist_ok=True),
        lambda path: path.with_name("fork.jsonl").write_bytes(b""),
        lambda path: path.with_name("fork.tmp").write_bytes(b"") and path.with_name("fork.tmp").replace("fork.jsonl"),
        lambda path: (path.parent.parent / "walk.jsonl").write_bytes(b""),
        lambda path: shutil.copyfile(path, path.parent / "copy"),
        lambda path: tempfile.TemporaryFile().close(),
        lambda path: Path(os.devnull).write_bytes(b""),
    ],
)
def test_reading_and_what_happens_elsewhere_is_no_offence(path, act, monkeypatch):
    monkeypatch.chdir(path.parent)
    with AuditSpy(path) as spy:
        act(path)
    assert (spy.offences, spy.count) == ([], 0)


def test_threads_are_seen_with_their_place_in_the_code(path):
    async def steps():
        with AuditSpy(path) as spy:
            await asyncio.to_thread(path.write_bytes, b"")
            worker = threading.Thread(target=lambda: path.write_bytes(b""))
            worker.start()
            worker.join()
            found, spy.count = list(spy.offences), 0
        return found

    first, second = asyncio.run(steps())
    assert first.startswith("opened for writing")
    assert f"  at {__file__}:" in second
    assert "<lambda>" in second


def test_a_failing_attempt_is_an_offence_too(path):
    path.unlink()
    with pytest.raises(ClauseBroken, match="removed"), AuditSpy(path), pytest.raises(FileNotFoundError):
        path.unlink()


def test_a_directory_stands_for_everything_beneath_it(path):
    root = path.parent.parent
    with AuditSpy(root):
        root.mkdir(exist_ok=True)
        root.with_name("root-2").mkdir()
    for act in (path.unlink, (root / "new").mkdir, root.rmdir):
        with pytest.raises((ClauseBroken, OSError)), AuditSpy(root) as spy:
            act()
        assert spy.count == 1


def test_the_spy_sees_only_while_its_block_runs(path):
    spy = AuditSpy(path)
    path.write_bytes(b"before")
    with spy:
        path.read_bytes()
    path.write_bytes(b"after")
    assert spy.count == 0


def test_spies_do_not_disturb_each_other(path):
    other = path.with_name("other.jsonl")
    with AuditSpy(path) as outer:
        with pytest.raises(ClauseBroken), AuditSpy(other):
            other.touch()
        with AuditSpy(other) as inner:
            pass
        with pytest.raises(ClauseBroken), AuditSpy(path):
            path.touch()
        assert (inner.count, outer.count) == (0, 1)
        outer.count = 0


def test_the_hook_is_installed_once(path, monkeypatch):
    added = []
    monkeypatch.setattr("sys.addaudithook", added.append)
    for _ in range(3):
        with AuditSpy(path):
            pass
    assert len(added) <= 1


def test_an_error_on_its_way_is_not_replaced(path):
    def fails():
        path.touch()
        raise KeyError("the backend's own")

    with pytest.raises(KeyError), AuditSpy(path) as spy:
        fails()
    assert spy.count == 1
    with pytest.raises(ClauseBroken, match=r"^of a file"):
        spy.check("of a file")


def test_offences_are_bounded_and_counted(path):
    def touch_often():
        for _ in range(OFFENCES_KEPT + 10):
            os.utime(path)

    with pytest.raises(ClauseBroken, match=r"… and 10 more"), AuditSpy(path) as spy:
        touch_often()
    assert (len(spy.offences), spy.count) == (OFFENCES_KEPT, OFFENCES_KEPT + 10)


@pytest.mark.parametrize("odd", ["a\0b", b"\xff\xfe", 10**6, None, object(), "", -1])
def test_odd_paths_pass_the_hook_and_fail_where_they_always_did(path, odd):
    def outcome():
        try:
            return os.truncate(odd, 0)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the same
            return type(error)

    before = outcome()
    with AuditSpy(path):
        assert outcome() == before


def test_a_spy_without_a_path_would_agree_to_everything():
    with pytest.raises(TypeError, match="needs a path"):
        AuditSpy()


@pytest.mark.parametrize("event", ["open", "os.rename", "os.remove", "os.chmod", "shutil.rmtree"])
@pytest.mark.parametrize("arguments", [(), ("a",), ("a", "w", 1, 2, 3, 4, 5, 6)])
def test_events_with_fewer_or_more_arguments_do_not_fail_the_call(event, arguments):
    change = change_of(event, arguments)
    assert change is None or change.what


def test_other_events_change_nothing():
    assert change_of("socket.connect", (None, None)) is None
    assert change_of("os.listdir", ("/",)) is None
