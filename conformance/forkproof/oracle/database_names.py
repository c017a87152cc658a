"""What a session's database is called in per-file layout: section 29.1 of the contract, written down by the judge."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Final

SUFFIX: Final = ".sqlite"
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def database_name(id: str) -> str:
    """The name of the database of a session.

    >>> database_name("walk-1"), database_name("été"), database_name("")
    ('walk-1.sqlite', '~6QB0AOkA.sqlite', '~.sqlite')
    """
    return f"{encoded_id(id)}{SUFFIX}"


def encoded_id(id: str) -> str:
    """A session id as it stands in the name of its database. Raises UnicodeEncodeError for a lone surrogate.

    >>> encoded_id("a/b")
    '~YQAvAGIA'
    """
    if id and _PLAIN.issuperset(id):
        return id
    return f"~{urlsafe_b64encode(id.encode('utf-16-le')).decode('ascii').rstrip('=')}"
