"""`ci/pythons` finds the interpreters the project can run on, and says why a supported version is left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
TOOLS = ("awk", "grep", "sort", "tr")


def program(directory: Path, name: str, script: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def pythons(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Runs the script where `bin` is the whole PATH and `switcher` the root of a version switcher."""
    for tool in TOOLS:
        program(tmp_path / "bin", tool, f'PATH="{os.environ["PATH"]}" exec {tool} "$@"')
    environment = {"PATH": str(tmp_path / "bin"), "PYENV_ROOT": str(tmp_path / "switcher")}
    return subprocess.run(
        ["/bin/sh", ROOT / "ci" / "pythons"], env=environment, capture_output=True, text=True, check=False
    )


def test_an_interpreter_on_the_path_is_printed_with_its_version(tmp_path: Path) -> None:
    program(tmp_path / "bin", "python3", f'exec {sys.executable} "$@"')
    found = pythons(tmp_path)
    version, path = found.stdout.rstrip("\n").split("\t")
    assert version == OWN
    assert Path(path).samefile(sys.executable)
    assert found.returncode == 0


def test_an_interpreter_behind_a_shim_that_refuses_is_found_where_the_switcher_keeps_it(tmp_path: Path) -> None:
    program(tmp_path / "bin", f"python{OWN}", "exit 127")
    program(tmp_path / "switcher" / "versions" / "any" / "bin", f"python{OWN}", f'exec {sys.executable} "$@"')
    found = pythons(tmp_path)
    assert found.stdout.startswith(f"{OWN}\t")
    assert f"Python {OWN}" not in found.stderr


def test_every_supported_version_that_is_left_out_is_said_in_one_line(tmp_path: Path) -> None:
    program(tmp_path / "bin", "python3", f'exec {sys.executable} "$@"')
    supported = {"3.11", "3.12", "3.13", "3.14"}
    refusing, *_ = sorted(supported - {OWN})
    program(tmp_path / "bin", f"python{refusing}", "exit 1")
    remarks = dict(line.split(": ", 1) for line in pythons(tmp_path).stderr.splitlines())
    assert "does not start" in remarks.pop(f"Python {refusing}")
    assert remarks == {f"Python {version}": "not on this machine" for version in supported - {OWN, refusing}}


def test_a_machine_without_any_is_told_what_is_needed(tmp_path: Path) -> None:
    program(tmp_path / "bin", "python3", "exit 1")
    found = pythons(tmp_path)
    assert found.returncode == 1
    assert found.stdout == ""
    assert found.stderr.endswith("forkproof needs CPython 3.11 or newer with its venv module; none was found\n")
