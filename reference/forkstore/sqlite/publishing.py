"""The publishing of a fork: from its stage into the destination, in one transaction (S-SQL-FORK-13).

SQLite moves the rows: the stage is attached to the destination's connection. The triggers of the schema are silent
meanwhile, since with one SQLite first copies all that is inserted into a temporary table. What they look at, the
staging has seen to: every parent came before its entry; and a new session has no usage rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final

import apsw

from forkstore.contract.errors import SessionExists

from .failing import database_failures
from .schema import make_schema
from .session_rows import insert_session_row, new_session_row
from .stage import CACHE_KIB, Stage
from .transactions import immediate

_IS_THERE: Final = "SELECT 1 FROM sessions WHERE id = ?"
# What fails takes the whole transaction back. (SQLite otherwise keeps the old pages of each statement, in memory where
# the destination's journal is in memory, so that it could take back that statement alone.)
_ENTRIES: Final = """
    INSERT OR ROLLBACK INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload)
    SELECT ?, id, parent_id, seq, type, custom_type, timestamp, CAST(payload AS TEXT)
    FROM stage.entries ORDER BY source_seq
"""
_OWN_INDEX_ROWS: Final = """
    INSERT OR ROLLBACK INTO branch_entries (session_id, branch_id, entry_id, entry_seq, entry_type)
    SELECT ?, first.id, entry.id, entry.seq, entry.type
    FROM stage.entries AS entry CROSS JOIN stage.entries AS first ON first.source_seq = entry.segment
    ORDER BY entry.source_seq
"""
# A segment that diverges also holds the path of its first entry's parent, down to the nearest compaction. One walk goes
# up from the first entry of each segment, and then on to the next segment: only one place of it is ever waiting.
_COPIED_INDEX_ROWS: Final = """
    WITH RECURSIVE walk (first, at, up) AS (
        VALUES (0, 0, NULL)
        UNION ALL
        SELECT
            iif(walk.up IS NULL, entry.source_seq, walk.first),
            entry.source_seq,
            iif(walk.up IS NOT NULL AND entry.type = 'compaction', NULL, entry.parent)
        FROM walk CROSS JOIN stage.entries AS entry
            ON entry.source_seq = ifnull(walk.up, (SELECT min(first) FROM stage.segments WHERE first > walk.first))
    )
    INSERT OR ROLLBACK INTO branch_entries (session_id, branch_id, entry_id, entry_seq, entry_type)
    SELECT ?, first.id, entry.id, entry.seq, entry.type
    FROM walk
    CROSS JOIN stage.entries AS first ON first.source_seq = walk.first
    CROSS JOIN stage.entries AS entry ON entry.source_seq = walk.at
    WHERE walk.at <> walk.first AND entry.type <> 'compaction'
"""
_SEGMENTS: Final = """
    INSERT OR ROLLBACK INTO branch_meta (session_id, branch_id, tip_entry_id, tip_seq, base_branch_id, base_seq)
    SELECT ?, first.id, tip.id, tip.seq, base.id, base_at.seq
    FROM stage.segments AS segment
    CROSS JOIN stage.entries AS first ON first.source_seq = segment.first
    CROSS JOIN stage.entries AS tip ON tip.source_seq = segment.tip
    LEFT JOIN stage.entries AS base ON base.source_seq = segment.base
    LEFT JOIN stage.entries AS base_at ON base_at.source_seq = segment.base_at
"""
_ROWS: Final = (
    """INSERT OR ROLLBACK INTO scalar_values (session_id, namespace, key, seq, value)
    SELECT ?, namespace, key, seq, CAST(value AS TEXT) FROM stage.scalar_values ORDER BY seq""",
    """INSERT OR ROLLBACK INTO list_values (session_id, namespace, key, seq, value)
    SELECT ?, namespace, key, seq, CAST(value AS TEXT) FROM stage.list_values ORDER BY seq""",
)


def publish(
    connection: apsw.Connection,
    stage: Stage,
    *,
    session_id: str,
    created_at: int,
    parent_session_id: str,
    path: str,
) -> None:
    """Writes the destination into the database of the connection, at `path`, which may be empty.

    Nobody sees anything of it before all of it is there. Raises SessionExists when the database has a session of that
    id, CorruptSession, StoreIOError; then nothing is written. Keeps S-SQL-FORK-13, S-SQL-FORK-14, S-FORK-DST-06.
    """
    row = replace(
        new_session_row(session_id, created_at, parent_session_id),
        message_count=stage.messages,
        next_seq=stage.entries + stage.rows + 1,
    )
    with database_failures("publish", path), _attached(connection, stage.path), immediate(connection):
        make_schema(connection)
        if connection.execute(_IS_THERE, (session_id,)).fetchone() is not None:
            raise SessionExists(session_id)
        insert_session_row(connection, row)
        for statement in (_ENTRIES, _OWN_INDEX_ROWS, _COPIED_INDEX_ROWS, _SEGMENTS, *_ROWS):
            connection.execute(statement, (session_id,))


@contextmanager
def _attached(connection: apsw.Connection, stage_path: str) -> Iterator[None]:
    """The stage is there under the name `stage`, and the connection is set for moving many rows."""
    cache_size = connection.execute("PRAGMA cache_size").get
    triggers = connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, -1)

    def let_go() -> None:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, triggers)
        connection.execute(f"PRAGMA cache_size = {cache_size}")
        connection.execute("DETACH DATABASE stage")

    try:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("ATTACH DATABASE ? AS stage", (stage_path,))
        yield
    except BaseException:
        with suppress(apsw.Error):  # what went wrong first is what matters (S-FORK-FAIL-07)
            let_go()
        raise
    let_go()
