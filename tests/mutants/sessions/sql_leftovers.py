"""Mutants of the suite `sql_leftovers`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

_TAKE_BACK = "        else:\n            await settled(self._take_all_back())"


class CancelledCallsLeaveTheirDatabase(SqlLie):
    """Lie: what a call has made is taken back when it fails, not when it is cancelled."""

    kills = "S-FORK-FAIL-05"
    file = "destinations.py"
    line = _TAKE_BACK
    lie = "        elif isinstance(error, Exception):\n            await settled(self._take_all_back())"


class CancelledCallsLeaveTheirRows(SharedSqlLie):
    """Lie: the same in a container."""

    kills = "S-FORK-FAIL-05"
    file = "destinations.py"
    line = _TAKE_BACK
    lie = "        elif isinstance(error, Exception):\n            await settled(self._take_all_back())"


class AFailedDestinationStays(SqlLie):
    """Lie: a destination that was published stays when it cannot be opened."""

    kills = "S-FORK-FAIL-08"
    file = "draft.py"
    line = "        with suppress(OSError):\n            if self._written is not None and"
    lie = "        with suppress(OSError):\n            if self._written is None and"


class FailedRowsStay(SharedSqlLie):
    """Lie: the rows of a destination stay in the container when it cannot be handed out."""

    kills = "S-FORK-FAIL-08"
    file = "destinations.py"
    line = "if self._rows_written:"
    lie = "if not self._rows_written:"
