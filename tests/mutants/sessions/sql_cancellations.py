"""Mutants of the suite `sql_cancellations`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class RowsOfACancelledCallStay(SharedSqlLie):
    """Lie: the rows of a call that was cancelled after it had written them stay."""

    kills = "S-FORK-FAIL-02"
    file = "destinations.py"
    line = "        if self._rows_written:\n"
    lie = "        if False:\n"


class StagesOfCancelledForksStay(SqlLie):
    """Lie: the stage of a fork is removed when the fork succeeds or fails, not when it is cancelled."""

    kills = "S-FORK-FAIL-02"
    file = "fork.py"
    line = "        yield stage\n    finally:\n        await settled(in_thread(stage.remove))\n"
    lie = (
        "        yield stage\n    except asyncio.CancelledError:\n        raise\n    except BaseException:\n"
        "        await settled(in_thread(stage.remove))\n        raise\n"
        "    else:\n        await settled(in_thread(stage.remove))\n"
    )
