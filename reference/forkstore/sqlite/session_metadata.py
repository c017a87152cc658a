"""The metadata of a session in a database (spec section 11.1)."""

from __future__ import annotations

from forkstore.contract.store import SessionMetadata

from .session_rows import SessionRow


def session_metadata(row: SessionRow, path: str) -> SessionMetadata:
    """What the session's row says; `path` is the real path of its database (S-SQL-LAY-02)."""
    return SessionMetadata(id=row.id, created_at=row.created_at, parent_session_id=row.parent_session_id, path=path)
