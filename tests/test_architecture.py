"""The house rules that a tool can check: who may know whom, what every package carries, how large a room may grow.

The import rules themselves stand in pyproject.toml. Here they are run for real: once on the tree, where they must hold,
and once on a small copy with every import that the table forbids, where each must be named. A rule that cannot fail
proves nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "forkstore": ROOT / "reference" / "forkstore",
    "forkstream": ROOT / "reference" / "forkstream",
    "forkgen": ROOT / "fixtures_gen" / "forkgen",
    "forkproof": ROOT / "conformance" / "forkproof",
    "forkbench": ROOT / "bench" / "forkbench",
}

# The table "Who may know whom", cell by cell; a change of the table shows here.
ALLOWED = {
    "forkstore": (),
    "forkstream": (),
    "forkgen": ("forkstore.contract",),
    "forkproof": ("forkstore.contract", "forkgen"),
    "forkbench": ("forkstore.contract", "forkgen", "forkproof"),
}
ROOMS = ("forkstore", "forkstore.contract", "forkstore.memory", "forkstream", "forkgen", "forkproof", "forkbench")

# What each package may import from outside; the contract of the reference store stays installable with one dependency.
OUTSIDE = {
    "forkstore": {"apsw", "msgspec"},
    "forkstream": set[str](),
    "forkgen": {"msgspec", "rich"},
    "forkproof": {"apsw", "pytest", "rich"},
    "forkbench": {"apsw"},
}

# What an extra of the distribution brings, and the one folder that may import it.
OPTIONAL = {"strategies": ("hypothesis", PACKAGES["forkgen"] / "strategies")}

LONGEST_FILE = 400
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "base", "stuff"}


def sources() -> list[Path]:
    """Every Python file of the repository, tests included."""
    roots = [*PACKAGES.values(), ROOT / "tests", ROOT / "bench", ROOT / "ci"]
    return sorted({path for root in roots for path in root.rglob("*.py")})


def lint_imports(directory: Path) -> subprocess.CompletedProcess[str]:
    """Runs import-linter on the packages found from `directory`, with the rules of its pyproject.toml."""
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=directory,
        env={"PYTHONPATH": str(directory), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def is_allowed(importer: str, imported: str) -> bool:
    own = imported.partition(".")[0] == importer
    return own or any(imported == room or imported.startswith(f"{room}.") for room in ALLOWED[importer])


def test_the_tree_keeps_the_import_rules() -> None:
    run = lint_imports(ROOT)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Contracts: 6 kept, 0 broken." in run.stdout


def test_the_import_rules_forbid_exactly_what_the_table_forbids(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for room in ROOMS:
        folder = tmp_path.joinpath(*room.split("."))
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "inside.py").touch()
    imports = {
        f"{importer}.knows_{imported.replace('.', '_')}": imported for importer in PACKAGES for imported in ROOMS
    }
    for module, imported in imports.items():
        tmp_path.joinpath(*module.split(".")).with_suffix(".py").write_text(f"import {imported}.inside\n")

    run = lint_imports(tmp_path)

    named = set(re.findall(r"(fork\w+\.knows_\w+) -> (fork[\w.]+)\.inside", run.stdout))
    assert named == {
        (module, imported) for module, imported in imports.items() if not is_allowed(module.partition(".")[0], imported)
    }
    assert run.returncode == 1


def test_the_contract_may_not_import_what_is_built_on_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for room in ROOMS:
        folder = tmp_path.joinpath(*room.split("."))
        folder.mkdir()
        (folder / "__init__.py").touch()
    (tmp_path / "forkstore" / "session.py").write_text("import forkstore.contract.store\n")
    (tmp_path / "forkstore" / "contract" / "store.py").write_text("import forkstore.session\n")

    run = lint_imports(tmp_path)

    assert "forkstore.contract.store -> forkstore.session" in run.stdout
    assert run.returncode == 1


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_from_outside_only_what_it_declares(package: str) -> None:
    outside = {name for path in PACKAGES[package].rglob("*.py") for name in required_roots(path)}
    outside -= set(sys.stdlib_module_names) | set(PACKAGES)
    assert outside <= OUTSIDE[package]


def required_roots(path: Path) -> set[str]:
    """What a file imports, without what only an extra brings."""
    optional = {name for name, folder in OPTIONAL.values() if path.is_relative_to(folder)}
    return imported_roots(path) - optional


def imported_roots(path: Path) -> set[str]:
    """First names of everything that a file imports, wherever in the file it does."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_the_distribution_depends_on_exactly_what_its_packages_import() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=~! \[;]", requirement)[0] for requirement in project["dependencies"]}
    distributions = packages_distributions()
    imported = {name for path in sources() for name in required_roots(path) if is_product(path)}
    outside = imported - set(sys.stdlib_module_names) - set(PACKAGES)
    assert {distributions[name][0] for name in outside} == declared
    for extra, (name, _) in OPTIONAL.items():
        (requirement,) = project["optional-dependencies"][extra]
        assert requirement.startswith(name)


def is_product(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in PACKAGES.values())


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_what_it_is_and_is_typed(package: str) -> None:
    folder = PACKAGES[package]
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert docstring, f"{package}/__init__.py has no docstring"
    assert (folder / "py.typed").is_file()


def test_every_module_says_why_it_exists() -> None:
    silent = [path for path in sources() if is_product(path) and not docstring_of(path)]
    assert silent == []


def docstring_of(path: Path) -> str | None:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_no_file_outgrows_one_sitting() -> None:
    lengths = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_module_hides_behind_a_name_that_says_nothing() -> None:
    named = {path.stem for path in sources()} | {path.parent.name for path in sources()}
    assert named & NAMES_THAT_SAY_NOTHING == set()
