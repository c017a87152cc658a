"""The command in rough weather: interrupts, full disks, closed pipes, terminals of every kind; never a half file."""

from __future__ import annotations

import errno
import os
import re
import signal
import time
import tomllib
from pathlib import Path

import pytest

from tests.forkgen.cli_runs import PROGRAM, ROOT, here, make, start
from tests.forkgen.good_files import good_file


class FullDisk:
    """A file that takes three chunks."""

    def __init__(self, file):
        self.file = file

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def writelines(self, chunks):
        for number, chunk in enumerate(chunks):
            if number == 3:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.file.write(chunk)


@pytest.mark.parametrize("before", [None, b"old"], ids=["new", "existing"])
def test_a_full_disk_is_one_line_and_leaves_what_was_there(forkgen, monkeypatch, before):
    if before is not None:
        Path("walk.jsonl").write_bytes(before)
    opened = Path.open
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", lambda path, *rest, **more: FullDisk(opened(path, *rest, **more)))
        answer = forkgen(*make("linear", "-o", "walk.jsonl", "--force", size=100))
    assert answer == (2, "", "forkgen: walk.jsonl: cannot be written: No space left on device\n")
    assert {name: Path(name).read_bytes() for name in here()} == ({} if before is None else {"walk.jsonl": before})


LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n" + PROGRAM


def test_a_file_limit_of_the_system_is_one_line_too(tmp_path):
    arguments = make("benchmark", "-o", "walk.jsonl", size=10_000)
    with start(LIMITED, *arguments, directory=tmp_path) as process:
        _, err = process.communicate()
    assert (process.returncode, err) == (2, "forkgen: walk.jsonl: cannot be written: File too large\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [None, b"old"], ids=["new", "existing"])
def test_an_interrupt_leaves_no_half_file_and_no_stage(tmp_path, before):
    if before is not None:
        (tmp_path / "walk.jsonl").write_bytes(before)
    arguments = make("benchmark", "-o", "walk.jsonl", "--force", size=10_000_000)
    with start(PROGRAM, *arguments, directory=tmp_path) as process:
        try:
            wait_until_bytes_are_staged(tmp_path, process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, "", "forkgen: interrupted\n")
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert left == ({} if before is None else {"walk.jsonl": before})


def wait_until_bytes_are_staged(directory, process):
    """Until the file grows under another name; the test fails when the program has ended before."""
    while not any(path.stat().st_size for path in directory.glob("walk.jsonl.*")):
        assert process.poll() is None
        time.sleep(0.01)


def test_an_interrupt_reaches_a_store_that_never_waits(tmp_path):
    reader, writer = os.openpty()
    arguments = make("benchmark", "--into", "memory", size=10_000_000)
    with start(PROGRAM, *arguments, directory=tmp_path, stderr=writer) as process:
        os.close(writer)
        try:
            shown = os.read(reader, 1000).decode()  # the bar stands: commits have begun
            process.send_signal(signal.SIGINT)
            process.wait(60)
        finally:
            process.kill()
            shown += drained(reader)
    assert process.returncode == 130
    assert "committing to memory" in shown
    assert shown.endswith("forkgen: interrupted\r\n")


def drained(reader):
    """What is left to read of a terminal whose other side is closed."""
    text = b""
    while True:
        try:
            chunk = os.read(reader, 1000)
        except OSError:
            chunk = b""
        if not chunk:
            os.close(reader)
            return text.decode(errors="replace")
        text += chunk


def test_a_bar_is_shown_on_a_terminal_only(tmp_path):
    for command in (make("linear", "-o", "walk", "--force", size=2000), make("linear", "--into", "memory")):
        with start(PROGRAM, *command, directory=tmp_path) as process:
            assert process.communicate()[1] == ""
        reader, writer = os.openpty()
        with start(PROGRAM, *command, directory=tmp_path, stderr=writer) as process:
            os.close(writer)
            shown = drained(reader)
            out, _ = process.communicate()
        assert process.returncode == 0
        assert re.search("making walk|checking memory", shown)
        assert "\x1b" not in out


def test_a_reader_of_a_pipe_may_leave(tmp_path):
    (tmp_path / "walk.jsonl").write_bytes(good_file("rich"))
    with start(PROGRAM, "damage", "walk.jsonl", directory=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_an_ascii_terminal_is_enough(tmp_path):
    with start(PROGRAM, "list", "lanes", directory=tmp_path, PYTHONIOENCODING="ascii") as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "\\u2500" in out


def test_the_command_is_a_script_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["forkgen"] == "forkgen.cli:main"
