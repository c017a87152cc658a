"""Mutants of the suite `sql_index`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class NoSegmentHasABase(SqlLie):
    """Lie: a compaction is no base; the whole path is copied."""

    kills = "S-SQL-IDX-01"
    file = "branch_inserts.py"
    line = "AND entry_type = 'compaction'"
    lie = "AND entry_type = 'none'"


class TheOldestCompactionIsTheBase(SqlLie):
    """Lie: of several compactions in a segment the oldest is the base."""

    kills = "S-SQL-IDX-01"
    file = "branch_inserts.py"
    line = "SELECT max(entry_seq)"
    lie = "SELECT min(entry_seq)"


class TheBaseIsTheParentsSegment(SqlLie):
    """Lie: a segment hangs on the one it diverges from, wherever its compaction lies."""

    kills = "S-SQL-IDX-01"
    file = "branch_inserts.py"
    line = "                return link.branch_id, compaction"
    lie = """                first = next(chain(self._connection, self._session_id, parent_id))
                return first.branch_id, compaction"""


class TheCompactionIsCopiedToo(SqlLie):
    """Lie: the copied rows begin with the compaction itself."""

    kills = "S-SQL-IDX-01"
    file = "branch_inserts.py"
    line = "if compaction is None else compaction\n"
    lie = "if compaction is None else compaction - 1\n"


class ASiblingJoinsTheSegment(SqlLie):
    """Lie: every entry with a parent moves the tip of the segment that was last written."""

    kills = "S-SQL-IDX-01"
    file = "branch_inserts.py"
    line = "if self._segment is None or parent_id != self._tip_id:"
    lie = "if self._segment is None or parent_id is None:"


class AForkHasNoBases(SharedSqlLie):
    """Lie: the segments of a fork hang on nothing."""

    kills = "S-SQL-IDX-01"
    file = "publishing.py"
    line = "tip.seq, base.id, base_at.seq"
    lie = "tip.seq, NULL, NULL"


class AForkCopiesBeyondTheCompaction(SqlLie):
    """Lie: a diverging segment of a fork holds its whole path."""

    kills = "S-SQL-IDX-01"
    file = "publishing.py"
    line = "iif(walk.up IS NOT NULL AND entry.type = 'compaction', NULL, entry.parent)"
    lie = "entry.parent"


class AForkBeginsASegmentAtEveryTurn(SqlLie):
    """Lie: in a fork an entry that does not follow the one before begins a segment, at a tip too."""

    kills = "S-SQL-IDX-01"
    file = "lineage.py"
    line = "if place is None or tip != parent:"
    lie = "if True:"
