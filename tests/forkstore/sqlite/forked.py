"""What the tests of a fork share: a source that is written past the store, in a fraction of the time of commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from forkstore.contract.store import SessionMetadata
from forkstore.sqlite.connect import open_connection
from forkstore.sqlite.schema import make_schema
from forkstore.sqlite.session_rows import insert_session_row, new_session_row
from forkstore.sqlite.transactions import immediate

SOURCE = "source"
LANE = ("pi.branch.tip", '"{tip}"'), ("pi.lane.config", "{}"), ("pi.lane.state", "{}")


@contextmanager
def empty_source(path: Path) -> Iterator[apsw.Connection]:
    """A database with an empty session, open for more; closed at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = open_connection(str(path), "create")
    try:
        with immediate(connection):
            make_schema(connection)
            insert_session_row(connection, new_session_row(SOURCE, 1, None))
        yield connection
    finally:
        connection.close()


def long_source(path: Path, entries: int) -> SessionMetadata:
    """A closed session with a lane `garden` at the end of one path, in one segment of the branch index."""
    ids = [f"bed-{number:08d}" for number in range(entries)]
    payload = '{"message":{"role":"user","content":"' + "x" * 200 + '","timestamp":1}}'
    with empty_source(path) as connection, immediate(connection):
        connection.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?, 'message', NULL, 1, ?)",
            ((SOURCE, ids[n], ids[n - 1] if n else None, n + 1, payload) for n in range(entries)),
        )
        connection.executemany(
            "INSERT INTO branch_entries VALUES (?, ?, ?, ?, 'message')",
            ((SOURCE, ids[0], ids[n], n + 1) for n in range(entries)),
        )
        connection.execute(
            "INSERT INTO branch_meta VALUES (?, ?, ?, ?, NULL, NULL)", (SOURCE, ids[0], ids[-1], entries)
        )
        for number, (namespace, text) in enumerate(LANE):
            value = text.replace("{tip}", ids[-1])
            put_scalar(connection, namespace, "garden", value, entries + 1 + number)
        connection.execute("UPDATE sessions SET next_seq = ?, message_count = ?", (entries + 4, entries))
    return metadata_at(path)


def wide_source(path: Path, entries: int) -> SessionMetadata:
    """A closed session whose entries all have one parent, so that each begins a segment; without its branch index."""
    payload = '{"message":{"role":"user","content":"' + "x" * 200 + '","timestamp":1}}'
    with empty_source(path) as connection, immediate(connection):
        connection.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?, 'message', NULL, 1, ?)",
            ((SOURCE, f"bed-{n:08d}", "bed-00000000" if n else None, n + 1, payload) for n in range(entries)),
        )
    return metadata_at(path)


def put_scalar(connection: apsw.Connection, namespace: Any, key: Any, value: str, seq: int = 1) -> None:
    connection.execute("INSERT INTO scalar_values VALUES (?, ?, ?, ?, ?)", (SOURCE, namespace, key, seq, value))


def put_element(connection: apsw.Connection, namespace: Any, key: Any, value: str, seq: int = 1) -> None:
    connection.execute("INSERT INTO list_values VALUES (?, ?, ?, ?, ?)", (SOURCE, namespace, key, seq, value))


def metadata_at(path: Path) -> SessionMetadata:
    return SessionMetadata(id=SOURCE, created_at=1, storage_version=1, path=str(path.resolve()))
