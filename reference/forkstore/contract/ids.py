"""Generated ids and acceptable session ids (spec sections 3.5, 11.2, 22.4, 29.1).

A generated id is a UUID of version 7. Behind the 48-bit millisecond prefix stands a counter that the whole process
shares and that only rises, then random bits. So ids never repeat in a process, and ids for one given time rise
whatever other ids are made in between (S-ENT-13). A child process made by fork starts with a counter of its own.
"""

from __future__ import annotations

import base64
import itertools
import os
import random
import re
import threading
import time
from typing import Final, Protocol
from urllib.parse import quote

from .errors import InvalidArgument, InvalidSessionId
from .text import text_fault

LONGEST_ENCODED_ID: Final = 200
"""Characters of a session id's encoded form or database name; longer ids are refused (S-REPO-04)."""

_LATEST_TIME: Final = 2**48 - 1
_COUNTER_BITS: Final = 42  # of the 74 free bits; starts in the lower half, so 2**41 ids fit before it could run over
_RANDOM_BITS: Final = 74 - _COUNTER_BITS
_PLAIN_DATABASE_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")


class IdGenerator(Protocol):
    """What mints ids: the repository option `id_generator`."""

    def next(self, timestamp_ms: int | None = None) -> str:
        """A fresh id, with the given time in its prefix or the generator's own."""
        ...


class _Mint:
    """The process-wide state behind every generator: the counter, the random bits and the highest time handed out."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.restart()

    def restart(self) -> None:
        self.random = random.Random(os.urandom(16))
        self.counter = itertools.count(self.random.getrandbits(_COUNTER_BITS - 1))
        self.latest = 0

    def number(self, timestamp_ms: int | None) -> int:
        with self.lock:
            if timestamp_ms is None:
                timestamp_ms = self.latest = max(self.latest, time.time_ns() // 1_000_000)
            free = next(self.counter) << _RANDOM_BITS | self.random.getrandbits(_RANDOM_BITS)
        # Version 7 sits between the upper 12 and the lower 62 free bits, variant 10 above the latter.
        return timestamp_ms << 80 | 0x7 << 76 | (free >> 62) << 64 | 0b10 << 62 | free & (1 << 62) - 1


_mint = _Mint()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_mint.restart)


class Uuid7Generator:
    """The built-in id generator. It reads the system clock, never the repository's `now` (S-ENT-15).

    Without a given time the prefix never falls, even when the system clock does.
    """

    def next(self, timestamp_ms: int | None = None) -> str:
        """A UUID of version 7 in lower-case hexadecimal with dashes (S-ENT-12).

        `timestamp_ms` (Unix milliseconds, 0 … 2^48−1) goes into the prefix unchanged; anything else raises
        InvalidArgument (S-ENT-14).
        """
        if timestamp_ms is not None and not (type(timestamp_ms) is int and 0 <= timestamp_ms <= _LATEST_TIME):
            raise InvalidArgument("timestamp_ms", "is not an integer in 0 … 2^48−1")
        digits = f"{_mint.number(timestamp_ms):032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def encoded_session_id(session_id: str) -> str:
    """The id as it stands in a file name: percent-encoded UTF-8 (spec section 22.4)."""
    return quote(session_id, safe="-_.!~*'()")


def session_database_name(session_id: str) -> str:
    """The name, without extension, of the database of a session (spec section 29.1)."""
    if _PLAIN_DATABASE_NAME.fullmatch(session_id):
        return session_id
    return "~" + base64.urlsafe_b64encode(session_id.encode("utf-16-le")).rstrip(b"=").decode()


def check_session_id(session_id: object) -> str:
    """The id, if every backend could keep a session under it. Raises InvalidSessionId (S-REPO-04)."""
    fault = text_fault(session_id, allow_nul=True)
    if fault is not None or not isinstance(session_id, str):
        raise InvalidSessionId(session_id, fault or "is not a string")
    if max(len(encoded_session_id(session_id)), len(session_database_name(session_id))) > LONGEST_ENCODED_ID:
        raise InvalidSessionId(session_id, f"takes more than {LONGEST_ENCODED_ID} characters in a file name")
    return session_id
