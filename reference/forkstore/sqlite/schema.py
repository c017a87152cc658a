"""The schema of a database: the text of `schema.sql`, brought into a connection (spec section 27.1)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import apsw

TABLES = (
    "sessions",
    "entries",
    "scalar_values",
    "list_values",
    "usage_ledger",
    "branch_entries",
    "branch_meta",
)
"""The seven tables. All but `sessions` name their session in a column `session_id`."""


@cache
def schema_text() -> str:
    """The statements of the schema."""
    return files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")


def make_schema(connection: apsw.Connection) -> None:
    """Makes what is missing of the schema, inside the caller's write transaction. Keeps S-SQL-SCH-01."""
    connection.execute(schema_text(), can_cache=False)
