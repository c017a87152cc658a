"""Cases shared among processes: the same verdict as in one, and a process that dies is never a silent gap."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forkproof.cli import main

DIES = """
import multiprocessing
import os
from forkstore.testing import MemoryHarness

class Dies(MemoryHarness):
    async def open_repo(self, seams):
        if multiprocessing.parent_process() is not None:
            os._exit(1)
        return await super().open_repo(seams)
"""


def without_times(text: str) -> str:
    return re.sub(r"[\d.]+ s$", "", text, flags=re.MULTILINE)


def test_two_processes_say_what_one_says(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for jobs in ("1", "2"):
        assert main(["check", "memory", "--only", "S-LIST-03", "--only", "S-REPO-01", "--jobs", jobs]) == 0
        said.append(without_times(capsys.readouterr().out))
    assert said[0] == said[1]


def test_a_process_that_dies_is_a_kit_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dying_testing.py").write_text(DIES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["check", "dying_testing:Dies", "--only", "S-REPO-01", "--jobs", "2"]) == 1
    said = capsys.readouterr().out
    assert "a worker process died; run with --jobs 1" in said
    assert "KIT ERROR" in said.splitlines()[-1]


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5", ""])
def test_jobs_are_counted_from_one(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["check", "memory", "--jobs", jobs])
    assert left.value.code == 2
    assert "--jobs" in capsys.readouterr().err.splitlines()[-1]
