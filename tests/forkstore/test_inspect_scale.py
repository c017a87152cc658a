"""Large files: what is held while they are read, and what is shown of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forkgen.jsonl import write_session
from forkgen.legacy.records import header, text_of, user
from forkproof.instruments.memory import MemoryMeter
from forkstore.contract.writes import EntryInsert
from forkstore.inspection import inspect_file
from tests.forkstore.inspected import HEADER, drained, file_of, file_of_empty_lines, start

MIB = 2**20


def session(path: Path, entries: int, letters: int) -> None:
    """A chain of message entries, five in a commit."""

    def insert(number: int) -> EntryInsert:
        message = {"role": "user", "content": "x" * letters, "timestamp": 0}
        parent = f"entry-{number - 1:08}" if number else None
        return EntryInsert({"id": f"entry-{number:08}", "parentId": parent, "type": "message", "message": message})

    commits = ([insert(number) for number in range(first, first + 5)] for first in range(0, entries, 5))
    write_session(path, commits, id="walk-1", cwd="/srv/garden", created_at=0)


def peak_of(path: Path) -> int:
    with MemoryMeter() as meter:
        inspection = inspect_file(str(path), lambda done, total: None)
        assert inspection.contents is not None
    return meter.peak


def test_payload_is_not_held(tmp_path):
    """8 MiB of payload against 256 KiB, the same structure."""
    peaks = []
    for letters in (256, 8192):
        session(tmp_path / "walk.jsonl", 1000, letters)
        peaks.append(peak_of(tmp_path / "walk.jsonl"))
    assert peaks[1] - peaks[0] < MIB


def test_structure_takes_little(tmp_path):
    peaks = []
    for entries in (2_000, 10_000):
        session(tmp_path / "walk.jsonl", entries, 10)
        peaks.append(peak_of(tmp_path / "walk.jsonl"))
    assert peaks[1] - peaks[0] < 250 * 8_000


def test_rows_that_are_dead_take_nothing(tmp_path):
    row = b'{"kind":"value","op":"set","seq":%d,"namespace":"garden","key":"row","value":1}'
    element = b'{"kind":"list","op":"append","seq":%d,"namespace":"garden","key":"log","value":1}'
    peaks = [
        peak_of(file_of(tmp_path, *(record % seq for seq in range(1, count) for record in [(row, element)[seq % 2]])))
        for count in (10_000, 40_000)
    ]
    assert peaks[1] - peaks[0] < 64 * 1024


def test_payload_of_a_legacy_file_is_not_held(tmp_path):
    peaks = []
    for letters in (10, 4096):
        path = tmp_path / "walk.jsonl"
        with path.open("wb") as file:
            file.write(text_of(header()))
            for number in range(1, 2001):
                record = user(number, number - 1 or None)
                record["message"]["content"] = "x" * letters
                file.write(json.dumps(record).encode() + b"\n")
        peaks.append(peak_of(path))
    assert peaks[1] - peaks[0] < MIB


@pytest.mark.parametrize("first", [b"\0", b'{"v":4'], ids=["no session", "torn in the header"])
def test_a_large_file_without_a_line_is_not_held(tmp_path, first):
    path = tmp_path / "walk.jsonl"
    path.write_bytes(first)
    os.truncate(path, 64 * MIB)
    with MemoryMeter() as meter:
        assert not inspect_file(str(path), lambda done, total: None).opens
    assert meter.peak < 2 * MIB


def test_a_large_torn_tail_is_measured_and_not_held(tmp_path):
    path = file_of(tmp_path, b"[]")
    os.truncate(path, 64 * MIB)
    with MemoryMeter() as meter:
        inspection = inspect_file(str(path), lambda done, total: None)
    assert (inspection.opens, inspection.torn_tail) == (True, 64 * MIB - len(HEADER) - 3)
    assert meter.peak < 2 * MIB


def test_a_line_of_16_mib_is_read(tmp_path):
    text = b"\xf0\x9f\x8c\xb1 water the beans " * (16 * MIB // 21)
    line = b'{"kind":"value","op":"set","seq":1,"namespace":"garden","key":"","value":"%b"}' % text
    path = file_of(tmp_path, line, b"{broken")
    inspection = inspect_file(str(path), lambda done, total: None)
    assert inspection.largest_line == (2, len(line))
    assert [finding.line for finding in inspection.findings.in_order()] == [3]


# ── on a terminal ────────────────────────────────────────────────────────────────────────────────────────────────────


def on_a_terminal(*arguments: object) -> tuple[Any, int]:
    """The command with a terminal for its stderr, and the terminal's other side."""
    terminal, stderr = os.openpty()
    process = start(*arguments, stderr=stderr)
    os.close(stderr)
    return process, terminal


def test_progress_is_shown_on_a_terminal_and_wiped(tmp_path):
    path = file_of_empty_lines(tmp_path, 500_000)
    process, terminal = on_a_terminal("inspect", path)
    with process:
        shown = drained(terminal)
        out, _ = process.communicate()
    assert process.returncode == 0
    assert "\r" not in out
    *steps, blank, end = shown.removeprefix("\r").split("\r")
    percents = [int(re.fullmatch(r"inspecting: (\d+) %", step)[1]) for step in steps]
    assert percents == sorted({*percents})
    assert (percents[-1], len(percents) > 3) == (100, True)
    assert (blank, end) == (" " * len(steps[-1]), "")


def test_a_small_file_and_another_stderr_show_nothing(tmp_path):
    process, terminal = on_a_terminal("inspect", file_of(tmp_path))
    with process:
        assert drained(terminal) == ""
        process.communicate()
    with start("inspect", file_of_empty_lines(tmp_path, 500_000)) as process:
        assert process.communicate()[1] == ""


def test_an_interrupt_is_one_line_on_a_clean_row(tmp_path):
    path = file_of_empty_lines(tmp_path, 8_000_000)
    process, terminal = on_a_terminal("inspect", path)
    with process:
        try:
            shown = os.read(terminal, 1000).decode()  # the file is being read
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
            shown += drained(terminal)
    assert (process.returncode, out) == (130, "")
    assert re.search(r"\rinspecting: \d+ %\r +\rforkstore: interrupted\r\n$", shown)


def test_a_reader_of_a_pipe_may_leave(tmp_path):
    rows = [
        b'{"kind":"value","op":"set","seq":%d,"namespace":"garden.%d","key":"","value":1}' % (n, n)
        for n in range(1, 20_000)
    ]
    with start("inspect", file_of(tmp_path, *rows), "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_it_runs_as_a_module(tmp_path):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "forkstore", "inspect", str(file_of(tmp_path))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("no findings\n")
