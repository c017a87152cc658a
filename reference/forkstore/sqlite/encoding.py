"""The encoding of a database, which a table cannot change: the store reads and copies text as UTF-8."""

from __future__ import annotations

import apsw

from .failing import Damage


def check_encoding(connection: apsw.Connection) -> None:
    """Raises Damage for a database in UTF-16, which some other program must have made; apsw.Error."""
    encoding = connection.execute("PRAGMA encoding").get
    if encoding != "UTF-8":
        raise Damage(f"the database is encoded in {encoding}, and not in UTF-8")
