"""Mutants of the suite `sql_fork_memory`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class FetchesAllEntries(SqlLie):
    """Lie: the entries of the source are fetched at once."""

    kills = "S-FORK-STR-05"
    file = "staging.py"
    line = "Batches(self._selection.entries,"
    lie = "Batches(iter([*self._selection.entries]),"


class RemembersWhatItCopied(SharedSqlLie):
    """Lie: the rows of entries are kept when they are in the stage."""

    kills = "S-FORK-STR-05"
    file = "lineage.py"
    line = "            self.entries += 1\n"
    lie = '            self.entries += 1\n            vars(self).setdefault("kept", []).append((entry_id, payload))\n'
