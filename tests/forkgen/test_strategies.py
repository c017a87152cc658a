"""The strategies against the memory store and the kit's oracle: what is valid is taken, what is not is refused for the
reason given.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import forkgen
from forkgen.strategies import (
    IllegalValue,
    State,
    addresses,
    fork_options,
    illegal_values,
    invalid_fork_options,
    invalid_transactions,
    json_values,
    messages,
    namespaces,
    new_entries,
    session_ids,
    sessions,
    transactions,
    usage_objects,
    usage_rows,
)
from forkproof.expect import expect_equal
from forkstore.contract.addresses import Address, branch_tip, is_reserved
from forkstore.contract.codec import decode, encode
from forkstore.contract.errors import (
    InvalidValue,
    SessionExists,
    UnknownBranch,
    UnknownParent,
)
from forkstore.contract.records import check_new_entry, check_new_usage_row, refuse_pending
from forkstore.contract.writes import Write
from tests.forkgen.strategy_subjects import (
    BUSY_WRITES,
    QUIET,
    SOURCE,
    Kept,
    committed,
    short,
    smallest,
)

PACKAGE = Path(forkgen.__file__).parent
MODULES = sorted(path.stem for path in (PACKAGE / "strategies").glob("[a-z]*.py"))
STARTS = st.one_of(sessions(max_transactions=4), st.builds(lambda: [list(BUSY_WRITES)]))
"""Sessions to go on from; one of them has something of everything, so that no kind of fault is rare."""


# ── validity ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@short
@given(sessions(reserved="any"))
def test_the_store_takes_every_session_and_holds_what_the_oracle_says(session: list[list[Write]]) -> None:
    async def checked() -> None:
        kept = await committed(session)
        await kept.check()
        await kept.repo.close()

    asyncio.run(checked())


@short
@given(sessions())
def test_a_scope_takes_every_transaction_too(session: list[list[Write]]) -> None:
    async def checked() -> None:
        kept = await Kept.fresh()
        for writes in session:
            scope = await kept.session.begin_mutation()
            await scope.commit(writes)
            await scope.end()
        await kept.repo.close()

    asyncio.run(checked())


@short
@given(st.data())
def test_every_invalid_transaction_is_refused_for_its_reason_and_changes_nothing(data: st.DataObject) -> None:
    async def checked() -> None:
        kept = await committed(data.draw(STARTS))
        for _ in range(4):
            await kept.refuse(data.draw(invalid_transactions(kept.state)))
        await kept.check()
        await kept.commit(data.draw(transactions(kept.state)))
        await kept.check()
        await kept.repo.close()

    asyncio.run(checked())


@short
@given(st.data())
def test_every_valid_fork_holds_what_it_selects(data: st.DataObject) -> None:
    async def checked() -> None:
        kept = await committed(data.draw(STARTS))
        taken = [SOURCE]
        for _ in range(4):
            destination = await kept.fork(data.draw(fork_options(kept.state, taken=taken)))
            taken.append(destination.session.metadata.id)
            await destination.check()
        await kept.check()
        await kept.repo.close()

    asyncio.run(checked())


@short
@given(st.data())
def test_every_invalid_fork_is_refused_for_its_reason_and_leaves_nothing(data: st.DataObject) -> None:
    async def checked() -> None:
        kept = await committed(data.draw(st.one_of(STARTS, sessions(reserved="any"))))
        for _ in range(4):
            await kept.refuse_fork(data.draw(invalid_fork_options(kept.state, taken=[SOURCE])))
        await kept.check()
        await kept.repo.close()

    asyncio.run(checked())


class Sessions(RuleBasedStateMachine):
    """Sessions and their forks, all at once: a memory store against the oracle, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.kept = [self.runner.run(Kept.fresh())]
        self.touched = self.kept[0]

    def chosen(self, data: st.DataObject) -> Kept:
        self.touched = data.draw(st.sampled_from(self.kept))
        return self.touched

    @property
    def taken(self) -> list[str]:
        return [kept.session.metadata.id for kept in self.kept]

    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        kept = self.chosen(data)
        self.runner.run(
            kept.commit(data.draw(transactions(kept.state, reserved="any" if len(kept.state.live) > 9 else "declared")))
        )

    @rule(data=st.data())
    def commit_what_is_refused(self, data: st.DataObject) -> None:
        kept = self.chosen(data)
        self.runner.run(kept.refuse(data.draw(invalid_transactions(kept.state))))

    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        kept = self.chosen(data)
        if not kept.state.undeclared:
            self.touched = self.runner.run(kept.fork(data.draw(fork_options(kept.state, taken=self.taken))))
            self.kept.append(self.touched)

    @rule(data=st.data())
    def fork_what_is_refused(self, data: st.DataObject) -> None:
        kept = self.chosen(data)
        self.runner.run(kept.refuse_fork(data.draw(invalid_fork_options(kept.state, taken=self.taken))))

    @rule(data=st.data())
    def reopen(self, data: st.DataObject) -> None:
        kept = self.chosen(data)
        self.runner.run(kept.session.close())
        kept.session = self.runner.run(kept.repo.open(kept.session.metadata))

    @invariant()
    def store_and_oracle_agree(self) -> None:
        self.runner.run(self.touched.check())

    def teardown(self) -> None:
        for kept in self.kept:
            self.runner.run(kept.check())
        self.runner.run(self.kept[0].repo.close())
        self.runner.close()


def test_store_and_oracle_agree_after_every_step() -> None:
    run_state_machine_as_test(Sessions, settings=settings(QUIET, max_examples=40, stateful_step_count=15))


@short
@given(json_values(max_depth=200))
def test_values_come_back_equal(value: Any) -> None:
    expect_equal(decode(encode(value, "value")), value, of="a value")
    assert repr(decode(encode(value, "value"))) == repr(value)


@short
@given(illegal_values())
def test_illegal_values_are_refused(illegal: IllegalValue) -> None:
    with pytest.raises(InvalidValue):
        encode(illegal.value, "value")


@short
@given(new_entries(["a", ""], taken={"b"}), usage_rows(["a"], taken={"b"}), messages(), usage_objects())
def test_records_are_those_of_the_contract(entry: Any, row: Any, message: Any, usage: Any) -> None:
    assert check_new_entry(entry, "entry").parent_id in (None, "a", "")
    assert entry["id"] not in ("a", "", "b")
    assert check_new_usage_row(row, "row").id not in ("a", "b")
    refuse_pending({"type": "message", "message": message})
    assert usage.keys() >= {"input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"}


@short
@given(namespaces(), addresses(reserved="none"), addresses(reserved="declared"), session_ids({"fork"}))
def test_names_stay_where_they_are_asked_to(
    namespace: str, application: Address, declared: Address, session_id: str
) -> None:
    assert not is_reserved(namespace)
    assert not is_reserved(application.namespace)
    assert not State(live=(declared,)).undeclared
    assert session_id != "fork"


# ── documentation and dependency ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.one_python
@pytest.mark.parametrize("module", [f"strategies.{name}" for name in MODULES] + ["missing_extra"])
def test_the_examples_of_the_documentation_run(module: str) -> None:
    names: dict[str, Any] = {"find": smallest, "is_reserved": is_reserved, "branch_tip": branch_tip}
    names |= {"UnknownParent": UnknownParent, "UnknownBranch": UnknownBranch, "SessionExists": SessionExists}
    found = doctest.testmod(import_module(f"forkgen.{module}"), extraglobs=names)
    assert found.failed == 0
    assert found.attempted or module in ("strategies.__init__", "strategies.sharing")


def test_hypothesis_is_imported_by_the_strategies_only() -> None:
    def imports(path: Path) -> bool:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        return any(name.partition(".")[0] == "hypothesis" or "strategies" in name.split(".") for name in names)

    found = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if imports(path)}
    assert found == {"strategies"}


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_importing_forkgen_imports_no_hypothesis() -> None:
    assert run("import sys, forkgen; print('hypothesis' in sys.modules)") == "False\n"


def test_without_hypothesis_the_strategies_say_what_to_install() -> None:
    program = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "hypothesis":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import forkgen
try:
    import forkgen.strategies
except ImportError as error:
    print(type(error).__name__, error.extra, error)
"""
    told = "MissingExtra strategies forkgen.strategies needs Hypothesis; pip install 'forkproof[strategies]'\n"
    assert run(program) == told


def test_the_extra_asks_for_the_hypothesis_that_the_tests_use() -> None:
    import tomllib

    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert extras["strategies"] == [need for need in extras["test"] if need.startswith("hypothesis")]
