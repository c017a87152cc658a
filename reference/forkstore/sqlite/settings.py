"""The constructor options of the repository that only this backend has, checked once (spec section 2.5)."""

from __future__ import annotations

import os
from urllib.parse import parse_qs, unquote, urlsplit

from forkstore.contract.errors import InvalidArgument
from forkstore.contract.text import text_fault

from .connect import Connect, open_connection


def checked_path(field: str, path: object) -> str:
    """The absolute path that an option names. Raises InvalidArgument, for an in-memory name too (S-SQL-LAY-11)."""
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        text = None
    if type(text) is not str or text_fault(text, allow_nul=False) is not None:
        raise InvalidArgument(field, "is not a path")
    if is_in_memory(text):
        raise InvalidArgument(field, "names a database in memory, which no second connection could open")
    return os.path.abspath(text)  # noqa: PTH100 - links are followed when the path is used


def checked_path_or_none(field: str, path: object) -> str | None:
    """The absolute path that an option names, if it is given. Raises InvalidArgument."""
    return None if path is None else checked_path(field, path)


def checked_bound(field: str, bound: object) -> int:
    """A bound of one stage batch: an int of at least 1. Raises InvalidArgument."""
    if type(bound) is not int or bound < 1:
        raise InvalidArgument(field, "is not an int of at least 1")
    return bound


def checked_connect(connect: Connect | None) -> Connect:
    """The function that opens connections. Raises InvalidArgument."""
    if connect is None:
        return open_connection
    if not callable(connect):
        raise InvalidArgument("connect", "is not callable")
    return connect


def is_in_memory(name: str) -> bool:
    """Whether SQLite would take the name for a database that is no file: the empty one, `:memory:`, or a URI of one."""
    if name in ("", ":memory:"):
        return True
    if not name.startswith("file:"):
        return False
    uri = urlsplit(name)
    asked = parse_qs(uri.query)
    return unquote(uri.path) in ("", ":memory:") or "memory" in asked.get("mode", ()) or "memdb" in asked.get("vfs", ())
