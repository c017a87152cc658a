"""The session files of a store, past the store: found, read, planted, changed, and taken away again (seam raw-files).

What a case changes here is remembered. After the case these files are removed by the kit itself, because no store has
to delete a file that it cannot read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from forkproof.expect import ClauseBroken
from forkproof.instruments.clocks import START
from forkproof.oracle.file_names import directory_name, file_name
from forkstore.contract.store import SessionMetadata

Bytes = bytes | Iterable[bytes]


class Naming(TypedDict, total=False):
    """What a planted file is named for; see `RawFiles.plant`."""

    name: str | None
    id: str
    cwd: str | None
    created_at: int


@dataclass(frozen=True)
class _Facts:
    """What a planted file was named for: its metadata where the store does not list it."""

    id: str
    cwd: str
    created_at: int


class RawFiles:
    """The files under one sessions root. Every change that a case makes goes through here.

    >>> raw = RawFiles(Path("/data/sessions"), cwd="/srv/garden")
    >>> path = raw.plant(b'{"v":4,"kind":"header",...}', id="walk-1")
    >>> raw.append(path, b'{"kind":')
    >>> raw.take_away()
    """

    def __init__(self, root: Path, cwd: str) -> None:
        self.root = root
        self.cwd = cwd
        self._facts: dict[Path, _Facts] = {}
        self._changed: dict[Path, None] = {}
        self._made: list[Path] = []
        self._elsewhere: list[Path] = []

    def directory(self, cwd: str | None = None) -> Path:
        """The session directory of a cwd, made or not; that of the harness's cwd unless told."""
        return self.root / directory_name(self.cwd if cwd is None else cwd)

    def plant(
        self,
        data: Bytes,
        *,
        name: str | None = None,
        id: str = "planted",
        cwd: str | None = None,
        created_at: int = START,
    ) -> Path:
        """Puts a file where the session of that id, cwd and time belongs, or under another name beside it.

        A file that was planted there before is replaced. Raises FileExistsError for any other, and OSError.
        """
        facts = _Facts(id, self.cwd if cwd is None else cwd, created_at)
        directory = self.directory(facts.cwd)
        self._make(directory)
        path = directory / (file_name(created_at, id) if name is None else name)
        if path not in self._facts and os.path.lexists(path):
            raise FileExistsError(f"{path} was not planted: a case does not replace what a store has written")
        self._facts[path] = facts
        self.replace(path, data)
        return path

    def replace(self, path: Path, data: Bytes) -> None:
        """Gives the file this content; it stays the same file, if there is one."""
        self._changed[path] = None
        with path.open("wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)

    def append(self, path: Path, data: bytes) -> None:
        """Adds bytes to the end of the file."""
        self._changed[path] = None
        with path.open("ab") as file:
            file.write(data)

    def cut(self, path: Path, size: int) -> None:
        """Cuts the file to its first `size` bytes."""
        self._changed[path] = None
        os.truncate(path, size)

    def remove(self, path: Path) -> None:
        """Removes the file."""
        self._changed[path] = None
        path.unlink()

    def elsewhere(self) -> Path:
        """A new directory outside the store, for files that session files name."""
        self._elsewhere.append(Path(os.path.realpath(tempfile.mkdtemp(prefix="forkproof-elsewhere-"))))
        return self._elsewhere[-1]

    def metadata(self, path: Path, listed: Iterable[SessionMetadata] = ()) -> SessionMetadata:
        """The metadata of a planted file: the listed one with its path, else what its name was made of.

        Raises LookupError for a file that is neither listed nor planted.
        """
        place = os.path.realpath(path)
        for metadata in listed:
            if metadata.path == place:
                return metadata
        if path not in self._facts:
            raise LookupError(f"{path} is neither listed nor planted")
        facts = self._facts[path]
        modified_at = path.stat().st_mtime_ns // 1_000_000
        return SessionMetadata(
            id=facts.id, created_at=facts.created_at, cwd=facts.cwd, path=place, modified_at=modified_at
        )

    def take_away(self) -> None:
        """Removes every file that was planted or changed, and the directories made for them, if nothing else is there.

        Raises OSError.
        """
        for path in self._changed:
            path.unlink(missing_ok=True)
        for directory in reversed(self._made):
            if directory.is_dir() and not any(directory.iterdir()):
                directory.rmdir()
        for directory in self._elsewhere:
            shutil.rmtree(directory, ignore_errors=True)
        self._facts, self._changed, self._made, self._elsewhere = {}, {}, [], []

    def _make(self, directory: Path) -> None:
        missing = [one for one in (directory, *directory.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir()
            self._made.append(one)


def path_of(metadata: SessionMetadata) -> Path:
    """Where the session's file is. Breaks the clause when its metadata does not say (section 11.1)."""
    if not isinstance(metadata.path, str):
        of = f"the metadata of the session {metadata.id!r}"
        raise ClauseBroken(f"{of}\nexpected: the real path of its file\nseen:     {metadata.path!r}")
    return Path(metadata.path)
