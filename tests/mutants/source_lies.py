"""Wrong backends on files and on databases: the reference's own source with one changed line.

A lie names a file of a backend, a line of it that stands there exactly once, and what stands there instead. The backend
is then loaded anew under a name of its own, with that one change; nothing else of it is touched, and the reference
itself stays as it is.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from forkproof.harness import Seams, SessionHarness

from .changed_source import load_changed


class SourceLie:
    """Base of the lies; about the backend on files of JSON lines, unless a subclass says otherwise.

    `file` is relative to the folder of the backend, and may be a data file of it; `lie` takes the place of `line`.
    """

    kills: ClassVar[str]
    file: ClassVar[str]
    line: ClassVar[str]
    lie: ClassVar[str]
    original: ClassVar[str] = "forkstore.jsonl"

    @classmethod
    def changed(cls, source: str) -> str:
        """The source of the file with the lie in it."""
        if source.count(cls.line) != 1:
            raise LookupError(f"{cls.__name__}: {cls.file} holds its line {source.count(cls.line)} times")
        return source.replace(cls.line, cls.lie)

    @classmethod
    def backend(cls) -> ModuleType:
        """The backend with the lie in it, under a package name of its own; loaded once."""
        return load_changed(
            cls.original,
            f"{cls.original.rpartition('.')[2]}_with_{cls.__name__}",
            lambda file, source: cls.changed(source) if file == cls.file else source,
        )

    @classmethod
    def target(cls) -> str:
        """How a child process finds the harness."""
        return f"{cls.__module__}:{cls.__qualname__}.harness"

    @classmethod
    def harness(cls, directory: Path) -> SessionHarness:
        """A harness of the reference's own shape around the lying backend."""
        backend = cls.backend()

        class LyingHarness(SessionHarness):
            name = cls.__name__
            target = cls.target()
            kinds = frozenset({"jsonl"})
            seams = frozenset({"clock", "probe", "raw-commit", "raw-files", "spy-files", "fault-injection"})
            durable = True
            cwd = "/srv/garden"

            def __init__(self, directory: Path) -> None:
                super().__init__(directory)
                self.sessions_root = directory / "sessions"

            async def open_repo(self, seams: Seams) -> Any:
                files = backend.LocalFiles()
                wrapped = files if seams.files is None else seams.files(files)
                return backend.JsonlSessionRepo(
                    self.sessions_root, now=seams.clock, fork_probe=seams.probe, files=wrapped
                )

        return LyingHarness(directory)


class SqlLie(SourceLie):
    """Base of the lies about the backend on SQLite databases, each session in a database of its own."""

    original = "forkstore.sqlite"

    @classmethod
    def place(cls, harness: SessionHarness) -> None:
        """Gives the harness its fact about the layout."""
        harness.database_directory = harness.directory / "sessions"

    @classmethod
    def harness(cls, directory: Path) -> SessionHarness:
        """A harness of the reference's own shape around the lying backend."""
        backend = cls.backend()

        class LyingHarness(SessionHarness):
            name = cls.__name__
            target = cls.target()
            kinds = frozenset({"sqlite"})
            seams = frozenset(
                {"clock", "probe", "raw-commit", "raw-files", "spy-sql", "fault-injection", "staging-dir"}
            )
            durable = True

            def __init__(self, directory: Path) -> None:
                super().__init__(directory)
                cls.place(self)

            async def open_repo(self, seams: Seams) -> Any:
                connect = backend.open_connection
                return backend.SqliteSessionRepo(
                    self.database_directory,
                    database_path=self.database_path,
                    now=seams.clock,
                    fork_probe=seams.probe,
                    connect=connect if seams.connect is None else seams.connect(connect),
                    staging_dir=seams.staging_dir,
                    stage_batch_rows=seams.stage_batch_rows,
                    stage_batch_bytes=seams.stage_batch_bytes,
                )

        return LyingHarness(directory)


class SharedSqlLie(SqlLie):
    """Base of the lies about that backend where all sessions share one database."""

    @classmethod
    def place(cls, harness: SessionHarness) -> None:
        """Gives the harness its fact about the layout."""
        harness.database_path = harness.directory / "store" / "sessions.sqlite"
