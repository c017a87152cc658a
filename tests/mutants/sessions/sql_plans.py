"""Mutants of the suite `sql_plans`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

INDEX_OF_A_SCAN = '"ix_be_type" if by_type else "ix_be_seq"'


class ScansByTheOtherIndex(SqlLie):
    """Lie: a branch scan takes the index of types and sorts what it finds."""

    kills = "S-SQL-PLAN-01"
    file = "branches.py"
    line = INDEX_OF_A_SCAN
    lie = '"ix_be_type"'


class FiltersBehindTheWholePath(SharedSqlLie):
    """Lie: a scan that filters by type walks the whole path and drops the other types."""

    kills = "S-SQL-PLAN-01"
    file = "branches.py"
    line = INDEX_OF_A_SCAN
    lie = '"ix_be_seq"'


class SortsAScanOfStructures(SqlLie):
    """Lie: an oldest-first scan is sorted by the sequence in the entries, which the index does not know."""

    kills = "S-SQL-PLAN-01"
    file = "branches.py"
    line = "ORDER BY i.entry_seq {"
    lie = "ORDER BY e.seq {"


class LooksForEntriesByTheirSequence(SharedSqlLie):
    """Lie: the entries of a scan are found by their sequence in place of their id."""

    kills = "S-SQL-PLAN-01"
    file = "branches.py"
    line = "LEFT JOIN entries AS e ON e.session_id = i.session_id AND e.id = i.entry_id"
    lie = "LEFT JOIN entries AS e ON e.session_id = i.session_id AND e.seq = i.entry_seq"


class SortsListPages(SqlLie):
    """Lie: a page of a list is sorted by an expression that the primary key does not give."""

    kills = "S-SQL-PLAN-01"
    file = "reads.py"
    line = 'statement += f" ORDER BY seq {'
    lie = 'statement += f" ORDER BY +seq {'


class ReadsListsByTheirKeyAlone(SharedSqlLie):
    """Lie: a list is looked for by its key, whatever comes before that in the primary key."""

    kills = "S-SQL-PLAN-01"
    file = "reads.py"
    line = "FROM list_values WHERE session_id = ? AND namespace = ? AND key = ?"
    lie = "FROM list_values WHERE +session_id = ? AND +namespace = ? AND key = ?"


class SortsTheEntriesOfATree(SqlLie):
    """Lie: the entries of a tree fork are read by primary key and sorted by sequence."""

    kills = "S-SQL-PLAN-01"
    file = "source_entries.py"
    line = "INDEXED BY ix_entry_seq WHERE entry.session_id = ? ORDER BY entry.seq"
    lie = "WHERE entry.session_id = ? ORDER BY +entry.seq"


class SortsScalarsBySequence(SharedSqlLie):
    """Lie: scalars are read in the order of their sequences."""

    kills = "S-SQL-PLAN-01"
    file = "address_rows.py"
    line = 'ordered = f"ORDER BY {order}"'
    lie = 'ordered = "ORDER BY seq"'


class ReadsScalarsByTheirSpelling(SqlLie):
    """Lie: the rows of a namespace are compared without regard to the key's order, one by one."""

    kills = "S-SQL-PLAN-01"
    file = "address_rows.py"
    line = 'of_session = f"FROM {table} WHERE session_id = ?"'
    lie = 'of_session = f"FROM {table} WHERE +session_id = ?"'


class LooksThroughASegmentForAMember(SqlLie):
    """Lie: a segment is gone through for a member."""

    kills = "S-SQL-PLAN-01"
    file = "branch_path.py"
    line = 'entry_seq FROM branch_entries WHERE session_id = ? AND branch_id = ? AND entry_id = ?"'
    lie = 'entry_seq FROM branch_entries WHERE session_id = ? AND branch_id = ? AND +entry_id = ?"'


class ProbesWithAFunction(SharedSqlLie):
    """Lie: the probe for undeclared namespaces compares the beginning of each name."""

    kills = "S-SQL-PLAN-01"
    file = "address_rows.py"
    line = "AND namespace >= ? AND namespace < ? ORDER BY namespace LIMIT 1"
    lie = "AND substr(namespace, 1) >= ? AND substr(namespace, 1) < ? ORDER BY namespace LIMIT 1"
