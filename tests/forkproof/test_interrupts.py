"""An interrupt that Python drops still ends the run at the next case."""

import signal
import subprocess
import sys

import pytest

from forkproof.interrupts import watched_interrupts

LOSES_THE_INTERRUPT = """
import os
import signal
from forkstore.testing import MemoryHarness

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

class Loses(MemoryHarness):
    def __init__(self, directory):
        super().__init__(directory)
        Dropping()
"""
CHECK = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background inherits that it is ignored
from forkproof.cli import main
sys.exit(main(["check", "losing_testing:Loses", "--only", "S-LIST-03"]))
"""


@pytest.fixture(autouse=True)
def the_usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_nothing_happens_without_an_interrupt():
    with watched_interrupts() as raise_if_interrupted:
        raise_if_interrupted()


def test_an_interrupt_that_was_swallowed_is_raised_at_the_next_look():
    with watched_interrupts() as raise_if_interrupted:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            raise_if_interrupted()
        raise_if_interrupted()
    assert signal.set_wakeup_fd(-1) == -1


def test_a_run_ends_when_a_finalizer_swallows_the_interrupt(tmp_path):
    (tmp_path / "losing_testing.py").write_text(LOSES_THE_INTERRUPT)
    command = [sys.executable, "-c", CHECK]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stderr.splitlines()[-1] == "forkproof: interrupted"
