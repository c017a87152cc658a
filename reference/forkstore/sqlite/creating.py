"""A new session: the schema, as far as it is missing, and one row (S-SQL-SCH-01, S-SQL-SCH-02)."""

from __future__ import annotations

import apsw

from forkstore.contract.errors import SessionExists

from .schema import make_schema
from .session_rows import SessionRow, insert_session_row
from .transactions import immediate


def write_new_session(connection: apsw.Connection, row: SessionRow) -> None:
    """Writes it in one transaction. Raises SessionExists when a session has the id (S-OWN-04), apsw.Error."""
    with immediate(connection):
        make_schema(connection)
        if connection.execute("SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?)", (row.id,)).get:
            raise SessionExists(row.id)
        insert_session_row(connection, row)
