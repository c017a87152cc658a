"""The snapshot that a fork reads: a deferred read transaction, begun by the first read inside it (spec section 19.1).

It is a module of its own because two parties start it: the commit queue of an open source, where a commit lies wholly
before it or wholly behind it, and the fork itself when its source is closed.
"""

from __future__ import annotations

import apsw


def begin_snapshot(connection: apsw.Connection) -> None:
    """Begins the read transaction of a fork's reader and fixes what it sees. Keeps S-SQL-FORK-01, S-SQL-FORK-02."""
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def end_snapshot(connection: apsw.Connection) -> None:
    """Ends it, if it is there. Keeps S-SQL-FORK-12."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
