"""Mutants of the suite `sql_kills`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class StagesHaveOneName(SharedSqlLie):
    """Lie: every stage is called the same, and must be new."""

    kills = "S-FORK-FAIL-09"
    file = "stage.py"
    line = 'f".fork-stage-{token_hex(8)}.tmp"'
    lie = '".fork-stage-0.tmp"'


class DraftsTakeTheId(SqlLie):
    """Lie: an id is taken by every file whose name begins like that of its database."""

    kills = "S-FORK-FAIL-09"
    file = "destinations.py"
    line = "        if os.path.lexists(self.path):"
    lie = (
        "        names = os.listdir(self.directory) if os.path.isdir(self.directory) else []\n"
        "        if any(name.startswith(PurePath(self.path).name) for name in names):"
    )
