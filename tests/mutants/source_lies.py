"""Wrong backends on files: the reference's own source with one changed line.

A lie names a file of the JSONL backend, a line of it that stands there exactly once, and what stands there instead. The
backend is then loaded anew under a name of its own, with that one change; nothing else of it is touched, and the
reference itself stays as it is.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import forkstore
from forkproof.harness import Seams, SessionHarness

ORIGINAL = "forkstore.jsonl"
FOLDER = Path(forkstore.__file__).parent / "jsonl"


class SourceLie:
    """Base of the lies. `file` is relative to the folder of the JSONL backend; `lie` takes the place of `line`."""

    kills: ClassVar[str]
    file: ClassVar[str]
    line: ClassVar[str]
    lie: ClassVar[str]

    @classmethod
    def changed(cls, source: str) -> str:
        """The source of the file with the lie in it."""
        if source.count(cls.line) != 1:
            raise LookupError(f"{cls.__name__}: {cls.file} holds its line {source.count(cls.line)} times")
        return source.replace(cls.line, cls.lie)

    @classmethod
    def harness(cls, directory: Path) -> SessionHarness:
        """A harness of the reference's own shape around the lying backend."""
        backend = load(cls)

        class LyingHarness(SessionHarness):
            name = cls.__name__
            target = f"{cls.__module__}:{cls.__qualname__}.harness"  # how a child process finds it
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


def load(lie: type[SourceLie]) -> ModuleType:
    """The backend with the lie in it, under a package name of its own; loaded once."""
    finder = _LyingFinder(lie)
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module(finder.package)
    finally:
        sys.meta_path.remove(finder)


class _LyingFinder(MetaPathFinder, InspectLoader):
    """Finds the modules of one lying backend, and loads them from the reference's files."""

    def __init__(self, lie: type[SourceLie]) -> None:
        self._lie = lie
        self.package = f"jsonl_with_{lie.__name__}"

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.package and not fullname.startswith(f"{self.package}."):
            return None
        return spec_from_loader(fullname, self, is_package=self.is_package(fullname))

    def is_package(self, fullname: str) -> bool:
        return self._folder(fullname).is_dir()

    def get_source(self, fullname: str) -> str:
        folder = self._folder(fullname)
        path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        source = path.read_text()
        if path.relative_to(FOLDER).as_posix() == self._lie.file:
            source = self._lie.changed(source)
        return source.replace(ORIGINAL, self.package)

    def _folder(self, fullname: str) -> Path:
        return FOLDER.joinpath(*fullname.removeprefix(self.package).split(".")[1:])
