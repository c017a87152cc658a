"""Mutants of the suite `sql_fork_selection`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

PROBE = "AND namespace >= ? AND namespace < ? ORDER BY namespace LIMIT 1"
BETWEEN = "AND namespace >= ? AND namespace < ? {ordered}"
FETCHES = "            fetch = to_fetch(namespace, kind, of_branch=self._branch is not None)\n"
INSERTS = "        insert_session_row(connection, row)\n"


class PicksThePathFromTheTree(SqlLie):
    """Lie: a branch fork reads every entry, and takes those that are on the path."""

    kills = "S-SQL-FORK-08"
    file = "selection.py"
    line = "        entries=path.rows(),\n"
    lie = "        entries=(row for row in all_entries(source, session_id) if path.holds(row[2])),\n"


class HoldsThePathInMemory(SharedSqlLie):
    """Lie: the ids of the path are collected, and labels are looked up in them."""

    kills = "S-SQL-FORK-08"
    file = "selection.py"
    line = "if tip_stays else selected, path.holds),"
    lie = "if tip_stays else selected, frozenset(row[2] for row in path.rows()).__contains__),"


class FetchesWhatIsDropped(SqlLie):
    """Lie: all reserved rows are fetched, and those that no fork copies are left out afterwards."""

    kills = "S-SQL-FORK-09"
    file = "address_rows.py"
    line = "if fetch is not Fetch.NOTHING:"
    lie = "if True:"


class FetchesEveryLane(SharedSqlLie):
    """Lie: a branch fork fetches the rows of all lanes, and takes those of its own."""

    kills = "S-SQL-FORK-09"
    file = "address_rows.py"
    line = "if fetch is Fetch.ROW_OF_BRANCH and self._branch is not None:"
    lie = "if False:"


class FetchesApplicationsForABranch(SqlLie):
    """Lie: a branch fork fetches the rows of applications like a tree fork, and drops them."""

    kills = "S-SQL-FORK-09"
    file = "address_rows.py"
    line = "        if self._branch is None:\n"
    lie = "        if True:\n"


class CopiesWhatItFetches(SharedSqlLie):
    """Lie: what the filter lets through is copied as it is, past the classifier."""

    kills = "S-SQL-FORK-09"
    file = "selection.py"
    line = "for write in self._driver.take(row):"
    lie = "for write in (row,):"


class ProbesScalarsOnly(SqlLie):
    """Lie: list rows in an undeclared namespace fail no fork; they are left out."""

    kills = "S-SQL-FORK-10"
    file = "address_rows.py"
    line = FETCHES
    lie = '            if kind == "list":\n                continue\n' + FETCHES


class ProbesInTreeScopeOnly(SharedSqlLie):
    """Lie: a branch fork leaves rows in undeclared namespaces out."""

    kills = "S-SQL-FORK-10"
    file = "address_rows.py"
    line = FETCHES
    lie = (
        "            try:\n                to_fetch(namespace, kind, of_branch=True)\n"
        "            except Exception:\n                if self._branch is not None:\n                    continue\n"
        f"{FETCHES}"
    )


class ProbesNamesWithADotOnly(SqlLie):
    """Lie: rows in the namespace that is exactly `pi` are not looked for."""

    kills = "S-SQL-FORK-10"
    file = "address_rows.py"
    line = "for start, end in RESERVED_RANGES:"
    lie = "for start, end in RESERVED_RANGES[1:]:"


class FetchesReservedRowsToJudgeThem(SharedSqlLie):
    """Lie: the namespaces of all reserved rows are fetched, and judged one by one."""

    kills = "S-SQL-FORK-10"
    file = "address_rows.py"
    line = "            while (found := self._of(_STATEMENTS[kind].probe, start, end).fetchone()) is not None:\n"
    lie = (
        "            self._of(_STATEMENTS[kind].between, start, end).fetchall()\n"
        "            while (found := self._of(_STATEMENTS[kind].probe, start, end).fetchone()) is not None:\n"
    )


class ComparesWithoutCase(SqlLie):
    """Lie: application namespaces are found in lower case, so those that look reserved then are left out."""

    kills = "S-SQL-FORK-11"
    file = "address_rows.py"
    line = BETWEEN
    lie = "AND lower(namespace) >= ? AND lower(namespace) < ? {ordered}"


class StartsBehindTheDigits(SharedSqlLie):
    """Lie: the range of application namespaces behind the reserved ones begins too late."""

    kills = "S-SQL-FORK-11"
    file = "address_rows.py"
    line = "_APPLICATION_FROM: Final = RESERVED_RANGES[1][1]"
    lie = '_APPLICATION_FROM: Final = "pi0"'


class ForgetsWhatStandsBeforeTheDot(SqlLie):
    """Lie: namespaces such as `pi-x`, between `pi` and `pi.`, are taken for reserved ones and left out."""

    kills = "S-SQL-FORK-11"
    file = "address_rows.py"
    line = ", (RESERVED_RANGES[0][1], RESERVED_RANGES[1][0]))"
    lie = ",)"


class FetchesAllEntriesOfATree(SharedSqlLie):
    """Lie: the entries of a tree are fetched at once, and then written in batches."""

    kills = "S-FORK-STR-03"
    file = "source_entries.py"
    line = "    return source.execute(_ALL, (session_id,))\n"
    lie = "    return iter(source.execute(_ALL, (session_id,)).fetchall())\n"


class FetchesAllEntriesOfAPath(SqlLie):
    """Lie: each segment of a path is fetched at once."""

    kills = "S-FORK-STR-03"
    file = "branch_path.py"
    line = "yield from self._source.execute(_ROWS, (self._session_id, branch_id, above, upto))"
    lie = "yield from list(self._source.execute(_ROWS, (self._session_id, branch_id, above, upto)))"


class ListsScalarsAndElements(SharedSqlLie):
    """Lie: a list is made of the cursor over the application rows."""

    kills = "S-FORK-STR-03"
    file = "address_rows.py"
    line = "                yield from self._of(statements.between, *bounds)\n"
    lie = "                yield from list(self._of(statements.between, *bounds))\n"


class ReadsTheStageWhole(SqlLie):
    """Lie: everything in the stage is read before the first row is published."""

    kills = "S-FORK-STR-03"
    file = "publishing.py"
    line = INSERTS
    lie = f'{INSERTS}        connection.execute("SELECT * FROM stage.entries").fetchall()\n'
