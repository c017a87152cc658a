"""Mutants of the suite `sql_fork_stage_leftovers`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

_REMOVE = "    finally:\n        await settled(in_thread(stage.remove))"


class TheStageStays(SqlLie):
    """Lie: a stage is left where it is when its fork has succeeded."""

    kills = "S-SQL-FORK-16"
    file = "fork.py"
    line = _REMOVE
    lie = "    except BaseException:\n        await settled(in_thread(stage.remove))\n        raise"


class CancelledForksLeaveTheirStage(SharedSqlLie):
    """Lie: a stage is removed when its fork ends, and not when it is cancelled."""

    kills = "S-SQL-FORK-16"
    file = "fork.py"
    line = _REMOVE
    lie = (
        "    except Exception:\n        await settled(in_thread(stage.remove))\n        raise\n"
        "    else:\n        await settled(in_thread(stage.remove))"
    )


class AStageThatFailsToCloseStays(SharedSqlLie):
    """Lie: a failure to close the stage is the end of its removal."""

    kills = "S-SQL-FORK-16"
    file = "stage.py"
    line = "        with suppress(apsw.Error):\n            self.close()\n        for suffix"
    lie = "        self.close()\n        for suffix"
