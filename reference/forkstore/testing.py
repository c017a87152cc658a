"""The harnesses of the reference backends, registered with the kit as a third party registers its own.

The kit takes any object with these attributes, so this module needs nothing of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forkstore


class MemoryHarness:
    """The memory backend as the kit sees it: not durable, and with the seams that need no file and no database."""

    name = "memory"
    family = "sessions"
    kinds = frozenset({"memory"})
    seams = frozenset({"clock", "probe", "raw-commit"})

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    async def open_repo(self, seams: Any) -> forkstore.MemorySessionRepo:
        """A repository with the instruments that a case asked for."""
        return forkstore.MemorySessionRepo(now=seams.clock, fork_probe=seams.probe)


class JsonlHarness:
    """The backend on files of JSON lines, with every seam that needs a file."""

    name = "jsonl"
    family = "sessions"
    kinds = frozenset({"jsonl"})
    seams = frozenset({"clock", "probe", "raw-commit", "raw-files", "spy-files", "fault-injection"})
    durable = True
    cwd = "/srv/garden"

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.sessions_root = directory / "sessions"

    async def open_repo(self, seams: Any) -> forkstore.JsonlSessionRepo:
        """A repository on the harness's one directory."""
        files = forkstore.LocalFiles() if seams.files is None else seams.files(forkstore.LocalFiles())
        return forkstore.JsonlSessionRepo(self.sessions_root, now=seams.clock, fork_probe=seams.probe, files=files)


class SqliteHarness:
    """The backend on SQLite with a database per session, and with every seam that needs a database."""

    name = "sqlite"
    family = "sessions"
    kinds = frozenset({"sqlite"})
    seams = frozenset({"clock", "probe", "raw-commit", "raw-files", "spy-sql", "fault-injection", "staging-dir"})
    durable = True

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.database_directory = directory / "sessions"

    async def open_repo(self, seams: Any) -> forkstore.SqliteSessionRepo:
        """A repository on the harness's one directory."""
        return _sqlite_repo(seams, directory=self.database_directory)


class SqliteSharedHarness:
    """The backend on SQLite with all sessions in one container, and with the same seams."""

    name = "sqlite-shared"
    family = "sessions"
    kinds = frozenset({"sqlite"})
    seams = SqliteHarness.seams
    durable = True

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.database_path = directory / "store" / "sessions.sqlite"

    async def open_repo(self, seams: Any) -> forkstore.SqliteSessionRepo:
        """A repository on the harness's one container."""
        return _sqlite_repo(seams, database_path=self.database_path)


def _sqlite_repo(
    seams: Any, *, directory: Path | None = None, database_path: Path | None = None
) -> forkstore.SqliteSessionRepo:
    connect = forkstore.open_connection
    return forkstore.SqliteSessionRepo(
        directory,
        database_path=database_path,
        now=seams.clock,
        fork_probe=seams.probe,
        connect=connect if seams.connect is None else seams.connect(connect),
        staging_dir=seams.staging_dir,
        stage_batch_rows=seams.stage_batch_rows,
        stage_batch_bytes=seams.stage_batch_bytes,
    )
