"""The harnesses that README.md shows for stores on files and on databases are good as they stand."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from forkproof.checking import is_asked
from forkproof.clauses import load
from forkproof.runner import needed_seams, run_case
from forkproof.suites.sessions import cases
from forkproof.verdict import Outcome, Target

README = (Path(__file__).parents[1] / "README.md").read_text()
IMPORTS = """\
from forkproof import SessionHarness
from forkstore import JsonlSessionRepo, LocalFiles, SqliteSessionRepo, open_connection


"""


def written_down(name: str, directory: Path) -> str:
    """A module with the class of that name, as README.md spells it, and what it needs; cases import it in children."""
    block = next(block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if f"class {name}(" in block)
    module = f"readme_{name.lower()}"
    (directory / f"{module}.py").write_text(IMPORTS + block)
    return module


@pytest.mark.parametrize("name", ["MyFileHarness", "MyDatabaseHarness"])
def test_a_harness_of_the_readme_offers_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    harness, clauses = getattr(import_module(written_down(name, tmp_path)), name), load("sessions")
    target = Target.of(harness(tmp_path))
    asked = [bound for bound in cases() if is_asked(target, clauses, bound)]
    for seam in sorted(target.seams):
        bound = next(bound for bound in asked if seam in needed_seams(bound))
        (tmp_path / seam).mkdir()
        result = run_case(bound, harness(tmp_path / seam))
        assert result.outcome is Outcome.HELD, result.detail
