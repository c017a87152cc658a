"""The command `forkgen`, run in the process of the test."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from forkgen import targets
from forkgen.cli import main
from tests.forkgen import cli_backends

BACKENDS = ("Kept", "Forgetful", "Full", "Interrupted", "Unmade", "Closed", "Stranger", "number", "missing")


@pytest.fixture
def forkgen(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty directory, with backends of every kind; gives exit code, stdout and stderr."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    points = {name.lower(): EntryPoint(name.lower(), f"{cli_backends.__name__}:{name}", "g") for name in BACKENDS}
    memory = EntryPoint("memory", "forkstore.testing:MemoryHarness", "g")
    monkeypatch.setattr(targets, "registered", lambda: points | {"memory": memory})
    monkeypatch.setattr(cli_backends.Kept, "repos", {})

    def run(*arguments: str) -> tuple[str | int | None, str, str]:
        code: str | int | None
        try:
            code = main(arguments)
        except SystemExit as left:
            code = left.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
