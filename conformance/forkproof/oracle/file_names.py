"""Where a session file belongs and what it is called: section 22.4 of the contract, written down by the judge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()")
_SEPARATORS: Final = str.maketrans(dict.fromkeys("/\\:", "-"))
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def session_path(root: Path, cwd: str, created_at: int, id: str) -> Path:
    """The path of a session's file under the root of its store.

    >>> str(session_path(Path("/data"), "/srv/garden", 1_760_000_000_123, "walk 1"))
    '/data/--srv-garden--/2025-10-09T08-53-20-123Z_walk%201.jsonl'
    """
    return root / directory_name(cwd) / file_name(created_at, id)


def directory_name(cwd: str) -> str:
    """The name of the directory that holds the sessions of a cwd, and perhaps of others."""
    inner = cwd[1:] if cwd.startswith(("/", "\\")) else cwd
    return f"--{inner.translate(_SEPARATORS)}--"


def file_name(created_at: int, id: str) -> str:
    """The name of a session's file; `created_at` in Unix milliseconds, before the year 10000."""
    return f"{stamp(created_at)}_{encoded_id(id)}.jsonl"


def stamp(created_at: int) -> str:
    """The 24 characters that stand for the time.

    >>> stamp(0)
    '1970-01-01T00-00-00-000Z'
    """
    moment = _EPOCH + timedelta(milliseconds=created_at)
    date, time = moment.isoformat(timespec="milliseconds").removesuffix("+00:00").split("T")
    return f"{date}T{time.replace(':', '-').replace('.', '-')}Z"


def encoded_id(id: str) -> str:
    """A session id as it stands in a file name. Raises UnicodeEncodeError for a lone surrogate.

    >>> encoded_id("süß/#1")
    's%C3%BC%C3%9F%2F%231'
    """
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in id.encode())
