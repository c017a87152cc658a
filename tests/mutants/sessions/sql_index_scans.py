"""Mutants of the suite `sql_index_scans`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class ALimitIsCountedInEachSegment(SqlLie):
    """Lie: every segment gives as many entries as the limit says."""

    kills = "S-SQL-IDX-02"
    file = "branches.py"
    line = "limited(query.limit, count)"
    lie = "limited(query.limit)"


class AStopEndsItsSegmentOnly(SqlLie):
    """Lie: the walk goes on in the next segment behind its stop."""

    kills = "S-SQL-IDX-02"
    file = "branches.py"
    line = "if stop is not None or len(records) == query.limit:"
    lie = "if len(records) == query.limit:"


class SegmentsComeNewestFirst(SharedSqlLie):
    """Lie: whatever the order of the entries, segments come newest first."""

    kills = "S-SQL-IDX-02"
    file = "branches.py"
    line = "else reversed([first, *links])"
    lie = "else iter([first, *links])"


class ACursorIsInclusiveInSegments(SqlLie):
    """Lie: newest first, the entry at the cursor is given again."""

    kills = "S-SQL-IDX-02"
    file = "branches.py"
    line = "min(upto, cursor - 1)"
    lie = "min(upto, cursor)"


class StopsAreSoughtInTheNewestSegment(SqlLie):
    """Lie: a stop is looked for among the first entries of a path only."""

    kills = "S-SQL-IDX-02"
    file = "branches.py"
    line = "stop = _stop(connection, session_id, link, query)"
    lie = "stop = None if records else _stop(connection, session_id, link, query)"


class TheFirstSegmentIsAll(SqlLie):
    """Lie: a walk with a type ends with its first segment."""

    kills = "S-SQL-IDX-02"
    file = "branches.py"
    line = "if stop is not None or len(records) == query.limit:"
    lie = "if stop is not None or len(records) == query.limit or query.type is not None:"
