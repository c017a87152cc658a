"""The wheel carries the whole product: installed where nothing else is, it judges a backend and serves a third party.

The third party is the folder `third_party_project` beside this file: the conftest and the one-line test module that
README.md tells a backend author to write.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
THIRD_PARTY = Path(__file__).parent / "third_party_project"
PACKAGES = ("forkstore", "forkstream", "forkgen", "forkproof", "forkbench")


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command as a stranger would: nothing of this test run reaches it through the environment."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON", "COV"))
    }
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def pip(python: str | Path, *arguments: str | Path, cwd: Path) -> None:
    done = run(python, "-m", "pip", "--disable-pip-version-check", "--quiet", "--quiet", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", directory, ROOT, cwd=directory)
    (built,) = directory.iterdir()
    return built


@pytest.mark.one_python
def test_the_wheel_holds_five_typed_packages_and_nothing_of_the_workshop(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    roots = {name.partition("/")[0] for name in names}
    assert {root for root in roots if not root.endswith(".dist-info")} == set(PACKAGES)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert "forkproof/clauses/sessions.toml" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


@pytest.mark.one_python
def test_installed_alone_it_judges_the_reference_backend_and_serves_a_third_party(wheel: Path, tmp_path: Path) -> None:
    """One test, because installing costs more than both answers."""
    venv.create(tmp_path / "environment", with_pip=True)
    programs = tmp_path / "environment" / "bin"
    pip(programs / "python", "install", wheel, cwd=tmp_path)
    judges_the_reference_backend(programs, tmp_path)
    serves_a_third_party(programs, tmp_path)


def judges_the_reference_backend(programs: Path, directory: Path) -> None:
    done = run(programs / "forkproof", "check", "memory", "--report", "report", cwd=directory)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"memory: CONFORMS  must (\d+)/\1  ", done.stdout.splitlines()[-1]), done.stdout
    report = json.loads((directory / "report" / "report.json").read_text())
    assert report["end"] is True


def serves_a_third_party(programs: Path, directory: Path) -> None:
    project = shutil.copytree(THIRD_PARTY, directory / "project")
    done = run(programs / "python", "-m", "pytest", "-q", "-W", "error", "--strict-markers", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"\d+ passed", done.stdout.splitlines()[-1]), done.stdout


def test_the_readme_shows_that_very_project() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    for file in ("conftest.py", "test_conformance.py"):
        assert (THIRD_PARTY / file).read_text() in blocks
