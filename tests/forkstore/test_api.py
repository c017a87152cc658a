"""What the package shows and what it must not contain (clauses that ask for the code itself)."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import forkstore
from forkproof.clauses import load_all
from forkstore import JsonlSessionRepo, MemorySessionRepo, SqliteSessionRepo, backend
from forkstore.contract import addresses, store
from forkstore.contract import errors as contract_errors
from forkstore.contract.errors import InvalidArgument

PACKAGE = Path(forkstore.__file__).parent
ROOT = Path(__file__).parents[2]
SIX_CALLS = {"create", "open", "list", "delete", "fork", "close"}
REPOSITORIES = [store.SessionRepo, MemorySessionRepo, JsonlSessionRepo, SqliteSessionRepo]
ON_DISK: list[Any] = [JsonlSessionRepo, SqliteSessionRepo]
SOURCES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
STATEMENTS = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.sql"))


def tree_of(source: str) -> ast.Module:
    return ast.parse((PACKAGE / source).read_text(encoding="utf-8"))


def public_coroutines(of: type) -> set[str]:
    return {name for name, value in inspect.getmembers(of, inspect.iscoroutinefunction) if not name.startswith("_")}


def keywords(function: Callable[..., Any]) -> dict[str, object]:
    """Keyword-only parameters and their defaults; a parameter that could be given by position shows as such."""
    parameters = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    return {one.name: one.default if one.kind is one.KEYWORD_ONLY else one.kind for one in parameters}


def test_a_backend_can_be_built_from_the_public_names() -> None:
    """The memory backend takes nothing of the package that `forkstore` and `forkstore.backend` do not give."""
    public = {*forkstore.__all__, *backend.__all__}
    assert all(hasattr(backend, name) for name in backend.__all__)
    taken = {
        alias.name
        for path in sorted((PACKAGE / "memory").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("forkstore")
        for alias in node.names
    }
    assert taken - public == set()


@pytest.mark.parametrize("repo", REPOSITORIES)
def test_the_repository_interface_is_the_six_calls(repo: type) -> None:
    """S-REPO-25, on the protocol and on the backends."""
    assert public_coroutines(repo) == SIX_CALLS


@pytest.mark.parametrize("repo", ON_DISK)
def test_a_repository_on_disk_has_nothing_else_to_call(repo: Any) -> None:
    """S-REPO-25; what a variant of the backend may replace is a class, and named as one."""
    public = {name for name in vars(repo) if not name.startswith("_")}
    assert public - SIX_CALLS == {"storage_class"}
    assert inspect.isclass(repo.storage_class)


@pytest.mark.parametrize("repo", REPOSITORIES)
def test_the_six_calls_take_what_the_contract_says(repo: Any) -> None:
    assert keywords(repo.create) == {"id": None, "parent_session_id": None, "cwd": None}
    assert keywords(repo.list) == {"cwd": None}
    assert keywords(repo.close) == {}
    assert list(inspect.signature(repo.fork).parameters) == ["self", "metadata", "options"]
    for call in (repo.open, repo.delete):
        assert list(inspect.signature(call).parameters) == ["self", "metadata"]


COMMON_OPTIONS = {"now": None, "id_generator": None, "fork_probe": None}


def test_options_are_keywords() -> None:
    """Section 2.5: the options that every backend has, all of them optional, and those of its files or databases."""
    assert keywords(MemorySessionRepo) == COMMON_OPTIONS
    on_files = keywords(JsonlSessionRepo)
    assert on_files.pop("sessions_root") is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert on_files == COMMON_OPTIONS | {"files": None}
    on_databases = keywords(SqliteSessionRepo)
    assert on_databases.pop("directory") is inspect.Parameter.POSITIONAL_OR_KEYWORD
    places = {"database_path": None, "connect": None, "staging_dir": None}
    assert on_databases == COMMON_OPTIONS | places | {"stage_batch_rows": 250, "stage_batch_bytes": 1_048_576}


def test_the_default_files_are_those_of_this_machine() -> None:
    """Section 2.5: `LocalFiles()`, which has every call of the capability."""
    calls = {name for name in vars(forkstore.Files) if not name.startswith("_")}
    assert calls == {name for name, value in vars(forkstore.LocalFiles).items() if name[0] != "_" and callable(value)}
    coroutines = {name for name in calls if inspect.iscoroutinefunction(getattr(forkstore.LocalFiles, name))}
    assert calls - coroutines == {"absolute_path", "real_path", "join_path"}


@pytest.mark.parametrize("mode", ["create", "read-write", "read-only"])
def test_the_default_connections_are_those_of_this_machine(mode: Any, tmp_path: Path) -> None:
    """Section 2.5: `open_connection`, a plain function of a path and a mode that gives an `apsw.Connection`."""
    path = str(tmp_path / "walk.sqlite")
    apsw.Connection(path).close()
    connection = forkstore.open_connection(path, mode)
    assert type(connection) is apsw.Connection
    connection.close()


@pytest.mark.parametrize("options", [{"now": 5}, {"id_generator": object()}, {"id_generator": lambda: "id"}])
def test_an_option_of_the_wrong_type_is_refused(options: Any) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        MemorySessionRepo(**options)
    assert {refusal.value.field} == set(options)


@pytest.mark.parametrize("name", forkstore.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(forkstore, name) is not None
    assert name in dir(forkstore)


def test_public_names_are_those_of_the_contract_and_the_backends() -> None:
    """Sections 2.5, 2.6 and 13 name what `forkstore` exports; the types of the interface come with it."""
    assert sorted(forkstore.__all__) == list(forkstore.__all__)
    backends = {"MemorySessionRepo", "JsonlSessionRepo", "LocalFiles", "SqliteSessionRepo", "open_connection"}
    seams = {"FileError", "FileInfo", "Files", "LineReader", "ForkProbe"}
    options = {"BranchFork", "TreeFork", "fork_options_from_wire", "fork_options_to_wire"}
    assert backends | seams | options <= {*forkstore.__all__}
    errors = {name for name, value in vars(contract_errors).items() if inspect.isclass(value) and name[0] != "_"}
    assert {name for name in errors if issubclass(getattr(contract_errors, name), Exception)} <= {*forkstore.__all__}
    with pytest.raises(AttributeError, match="no attribute 'Unheard'"):
        forkstore.Unheard  # noqa: B018


def imported_by(statement: str) -> set[str]:
    """The modules of the package, and SQLite, that a fresh interpreter has loaded after the statement."""
    script = (
        f"{statement}; import sys; print(*[name for name in sys.modules if name.startswith(('forkstore', 'apsw'))])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_package_loads_no_backend() -> None:
    loaded = imported_by("import forkstore")
    assert not {name for name in loaded if not name.startswith("forkstore.contract") and name != "forkstore"}
    rooms = {"MemorySessionRepo": "memory", "JsonlSessionRepo": "jsonl", "SqliteSessionRepo": "sqlite"}
    for name, taken in rooms.items():
        loaded = imported_by(f"from forkstore import {name}")
        assert {room for room in rooms.values() if f"forkstore.{room}" in loaded} == {taken}
        assert ("apsw" in loaded) is (taken == "sqlite")


FORBIDDEN = (
    "create_fork_snapshot",
    "capture_fork_source",
    "fork_source_snapshot",
    "fork_destination_snapshot",
    "fork_snapshot_writes",
    "entries_complete",
    "snapshot_entries_and_values",
    "read_all_scalar_value_rows",
    "read_all_entry_rows",
)


def any_spelling(name: str) -> re.Pattern[str]:
    """The words of a name however they are joined: snake, camel, pascal, with dashes, with blanks or with nothing."""
    return re.compile(r"[\W_]*".join(name.split("_")), re.IGNORECASE)


def forbidden_names(text: str) -> list[str]:
    return [name for name in FORBIDDEN if any_spelling(name).search(text)]


@pytest.mark.parametrize("source", [*SOURCES, *STATEMENTS])
def test_no_helper_gathers_a_fork_source(source: str) -> None:
    """S-FORK-STR-09."""
    assert forbidden_names(source + (PACKAGE / source).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", FORBIDDEN)
def test_every_spelling_of_a_forbidden_name_is_found(name: str) -> None:
    words = name.split("_")
    camel = words[0] + "".join(map(str.capitalize, words[1:]))
    spellings = ("_".join(words), camel, "".join(map(str.capitalize, words)), "-".join(words), name.upper())
    assert all(forbidden_names(f"x = self.{spelling}(1)") == [name] for spelling in spellings)


BRANCH_NAMES = {"main", "master", "trunk", "default", "head"}


def string_constants(tree: ast.Module) -> Iterator[str]:
    """Every string of the code; docstrings are not code."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bare = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, documented)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


@pytest.mark.parametrize("source", [source for source in SOURCES if "legacy" not in source])
def test_no_code_spells_a_branch_name(source: str) -> None:
    """S-FORK-STR-10: as a string of its own, a part of an f-string, or the end of a key."""
    spelled = [text for text in string_constants(tree_of(source)) if BRANCH_NAMES & set(re.split(r"\W+", text.lower()))]
    assert spelled == []


@pytest.mark.parametrize("source", STATEMENTS)
def test_no_statement_spells_a_branch_name(source: str) -> None:
    """S-FORK-STR-10: `main` is also what SQLite calls a connection's own database, so statements leave it out."""
    text = (PACKAGE / source).read_text(encoding="utf-8").lower()
    assert not BRANCH_NAMES & set(re.split(r"\W+", re.sub(r"--.*", "", text)))


def test_a_branch_name_in_code_is_found_and_one_in_a_docstring_is_not() -> None:
    tree = ast.parse('"""Not main."""\ndef tip(name="main"):\n    """The tip of main."""\n    return f"{name}:main"\n')
    assert list(string_constants(tree)) == ["main", ":main"]


def test_the_addresses_stand_in_the_order_of_the_contract() -> None:
    """S-ADDR-07 is proven in test_addresses; the table that the kit and the policy read is this one."""
    assert [namespace for namespace, _ in addresses.BUILT_IN_ADDRESSES][:3] == [
        "pi.branch.tip",
        "pi.lane.config",
        "pi.lane.state",
    ]


PROVEN = {clause.id: clause.proven_by for clauses in load_all() for clause in clauses if clause.proven_by}


@pytest.mark.parametrize("clause_id", PROVEN)
def test_a_clause_proven_by_a_test_names_one_that_exists(clause_id: str) -> None:
    path, _, name = str(PROVEN[clause_id]).partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert name in {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    assert name.startswith("test_")
    assert clause_id in text
