"""What a fork reads of a source's scalars and lists: the filter in SQL is the classifier's (S-SQL-FORK-09 to -11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from forkstore import BranchFork, DataOnlyBranch, EntryNotOnBranch, TreeFork, UndeclaredNamespace, UnknownBranch
from forkstore.contract.addresses import BUILT_IN_ADDRESSES, Kind
from forkstore.contract.forks import ForkOptions
from forkstore.contract.policy import Action, classify
from forkstore.sqlite.address_rows import KINDS, AddressRows
from forkstore.sqlite.batches import BatchLimits
from forkstore.sqlite.connect import open_connection
from forkstore.sqlite.selection import select
from forkstore.sqlite.stage import Stage
from forkstore.sqlite.staging import Staging
from tests.forkstore.sqlite.forked import SOURCE, empty_source, long_source, put_element, put_scalar

BESIDE = [
    "p",
    "pi2.events",
    "pip.x",
    "PI.x",
    "pi/x",
    "pi:x",
    "pi-x",
    "pi\t",
    "pi\x01x",
    "ph",
    "pj",
    "Pi",
    "garden.plan",
]
ODD = ["\u00e9", "\U0001f331", "\ue000", "~", "pi\u00e9", "pi/", "q", "a"]
DROPPED = ["pi.op.x", "pi.op.", "pi.op.\U0010ffff", "pi.pending.x", "pi.pending.y.z"]
FAILING = ["pi", "pi.", "pi.unknown", "pi.op", "pi.pending", "pi.results", "pi.result.x", "pi.session", "pi.\U0010ffff"]
BUILT_IN = sorted({namespace for namespace, _ in BUILT_IN_ADDRESSES})
NEVER_READ = (Action.DROP, Action.FAIL)


def _fill(path: Path, namespaces: list[str]) -> None:
    with empty_source(path) as connection:
        for namespace in namespaces:
            for kind in KINDS:
                if classify(namespace, kind) is not Action.FAIL:
                    for key in ("main", "other"):
                        (put_scalar if kind == "value" else put_element)(connection, namespace, key, "1")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("branch", [None, "main"], ids=["tree", "branch"])
def test_the_filter_reads_what_the_classifier_copies(tmp_path: Path, kind: Kind, branch: str | None) -> None:
    namespaces = [*BESIDE, *ODD, *DROPPED, *BUILT_IN]
    _fill(tmp_path / "source.sqlite", namespaces)
    connection = open_connection(str(tmp_path / "source.sqlite"), "read-only")
    read = {(row[1], row[2]) for row in AddressRows(connection, SOURCE, branch).rows(kind)}
    lanes = (Action.TIP, Action.CONFIG, Action.STATE)
    expected = {
        (namespace, key)
        for namespace in namespaces
        for key in ("main", "other")
        if (action := classify(namespace, kind)) not in NEVER_READ
        and (branch is None or action is not Action.APPLICATION)
        and (branch is None or action not in lanes or key == branch)
    }
    assert read == expected
    connection.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("branch", [None, "main"], ids=["tree", "branch"])
@pytest.mark.parametrize("namespace", [*FAILING, *BUILT_IN])
def test_what_the_classifier_refuses_is_found_unread(
    tmp_path: Path, namespace: str, branch: str | None, kind: Kind
) -> None:
    _fill(tmp_path / "source.sqlite", [*BESIDE, *DROPPED])
    with empty_source(tmp_path / "other.sqlite") as connection:
        for beside in (*BESIDE, *DROPPED):
            put_scalar(connection, beside, "", "1")
            put_element(connection, beside, "", "1")
        (put_scalar if kind == "value" else put_element)(connection, namespace, "", "1")
        if classify(namespace, kind) is not Action.FAIL:
            AddressRows(connection, SOURCE, branch)
            return
        with pytest.raises(UndeclaredNamespace) as refusal:
            AddressRows(connection, SOURCE, branch)
        assert (refusal.value.namespace, refusal.value.kind) == (namespace, kind)


def test_rows_of_other_sessions_are_not_looked_at(tmp_path: Path) -> None:
    with empty_source(tmp_path / "source.sqlite") as connection:
        put_scalar(connection, "pi.unknown", "", "1")
        put_element(connection, "garden.log", "", "1")
        rows = AddressRows(connection, "another", None)
        assert [list(rows.rows(kind)) for kind in KINDS] == [[], []]


REFUSALS = [
    (BranchFork("nowhere"), UnknownBranch),
    (BranchFork("\ud800"), UnknownBranch),
    (BranchFork(""), UnknownBranch),
    (BranchFork("bare"), DataOnlyBranch),
    (BranchFork("bare", "nowhere"), DataOnlyBranch),
    (BranchFork("garden", "nowhere"), EntryNotOnBranch),
    (BranchFork("garden", "\ud800"), EntryNotOnBranch),
    (BranchFork("garden", "bed-00000009"), EntryNotOnBranch),
]


@pytest.mark.parametrize(("options", "refusal"), REFUSALS)
def test_a_selection_is_refused(tmp_path: Path, options: BranchFork, refusal: type[Exception]) -> None:
    path = tmp_path / "source.sqlite"
    long_source(path, 10)
    connection = open_connection(str(path), "read-write")
    put_scalar(connection, "pi.branch.tip", "bare", '"bed-00000001"')
    connection.execute(
        "UPDATE scalar_values SET value = '\"bed-00000008\"' WHERE key = 'garden' AND namespace LIKE '%tip'"
    )
    stage = Stage(str(tmp_path))
    stage.open(open_connection)
    with pytest.raises(refusal):
        select(connection, SOURCE, options, stage.connection)
    stage.remove()
    connection.close()


def test_the_entries_of_a_selection_come_oldest_first(tmp_path: Path) -> None:
    path = tmp_path / "source.sqlite"
    long_source(path, 10)
    connection = open_connection(str(path), "read-only")
    stage = Stage(str(tmp_path))
    stage.open(open_connection)
    for options, count in ((TreeFork(), 10), (BranchFork("garden", "bed-00000004"), 5), (BranchFork("garden"), 10)):
        stage.connection.execute("DELETE FROM chain")
        selection = select(connection, SOURCE, options, stage.connection)
        assert [row[1] for row in selection.entries] == list(range(1, count + 1))
        assert all(row[0] > 200 for row in select(connection, SOURCE, TreeFork(), stage.connection).entries)
    stage.remove()
    connection.close()


@pytest.mark.parametrize("options", [TreeFork(), BranchFork("garden"), BranchFork("garden", "bed-00000004", "before")])
def test_no_statement_on_the_source_looks_through_a_session(tmp_path: Path, options: ForkOptions) -> None:
    """Each is by a key or an index with more than the session in it, but for the one that reads all entries."""
    path = tmp_path / "source.sqlite"
    long_source(path, 10)
    connection = open_connection(str(path), "read-write")
    put_scalar(connection, "pi.entry.label", "bed-00000002", '"label"')
    put_element(connection, "garden.log", "beds", "1")
    statements: dict[str, Any] = {}

    def keep(cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
        statements[statement] = bindings
        return True

    connection.exec_trace = keep
    stage = Stage(str(tmp_path))
    for _ in Staging(connection, str(path), SOURCE, options, stage, open_connection).batches(BatchLimits()):
        pass
    stage.remove()
    connection.exec_trace = None
    assert len(statements) >= 9
    for statement, bindings in statements.items():
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)]
        sorts = "segment.tip_seq DESC" in statement
        assert all(step.startswith("SEARCH") or (sorts and step.startswith("USE TEMP B-TREE")) for step in plan), plan
        whole = isinstance(options, TreeFork) and "ix_entry_seq" in statement
        assert whole or not any(step.endswith("(session_id=?)") for step in plan), plan
    connection.close()
