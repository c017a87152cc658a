"""What a store can ask of a database that may go wrong, by name: the operations of SQLite beneath it, and `connect`.

Names and patterns only, without SQLite: suites and child processes import them.
"""

from __future__ import annotations

from typing import Final

CHANGES: Final = frozenset({"write", "truncate"})
"""The operations that can be done in part."""
TAKES_ROOM: Final = frozenset({"write"})
"""Those that a full disk refuses."""
OPERATIONS: Final = CHANGES | {"connect", "open", "read", "sync", "size", "lock", "close", "delete", "access"}
"""Every operation that is counted. `connect` is the store's own function; the others are what its connections ask of
the operating system, as far as SQLite tells when they fail (see `sqlite_shim`).
"""
WAL: Final = "*-wal"
"""The write-ahead logs, as `paths` of `Faults.arm`."""
JOURNAL: Final = "*-journal"
"""The rollback journals."""
STAGE: Final = "*/.fork-stage-*.tmp*"
"""The stage files of forks (section 32) and what belongs to them."""
