"""Mutants of the suite `delete_faults`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SourceLie


class ACancelledDeleteKeepsItsReservation(SourceLie):
    """Lie: a delete that is cancelled before it removes the file holds on to the session."""

    kills = "S-REPO-19"
    file = "repo.py"
    line = (
        "with self._reservations.reserve(named.key, SessionInUse(named.id)):\n"
        "            self._check_place(named)\n"
        "            await check_identity(self._files, named.path, named.id, named.cwd)\n"
    )
    lie = (
        "with self._reservations.reserve(named.key, SessionInUse(named.id)) as reservation:\n"
        "            self._check_place(named)\n"
        "            reservation._kept = True\n"
        "            await check_identity(self._files, named.path, named.id, named.cwd)\n"
        "            reservation._kept = False\n"
    )


class RowsAreDeletedTableByTable(SharedSqlLie):
    """Lie: the rows of a deleted session go from one table after the other, each in a transaction of its own."""

    kills = "S-REPO-19"
    file = "removing.py"
    line = """ as connection,
        immediate(connection),
    ):"""
    lie = """ as connection,
    ):"""
