"""Holds files to their bytes, and directory trees to what is in them.

A store that must not touch a file is asked here whether it did: content, size, modification time, inode, and the
neighbours in its directory. Nothing is needed of the store, so any store on files can be asked. A database is held to
its bytes like any file, which is fair when nobody has it open; its side files are not counted while it stands.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from forkproof.expect import ClauseBroken
from forkproof.instruments.file_picture import FilePicture, is_side_file, picture

SHOWN = 12
KEPT_IN_TREES = 64 * 1024
"""Up to this many bytes of a file are kept in the picture of a tree."""


class ByteGuard:
    """Guards files from the moment it is made.

    >>> with ByteGuard("sessions/walk.jsonl", of="the source of the fork") as guard:
    ...     fork = await repo.fork(source.metadata, TreeFork())
    ...     guard.allow(fork.metadata.path)

    Leaving the block breaks the clause when a file changed in content, size, modification time or inode, or when
    something appeared in, or vanished from, a directory that holds one; `difference` keeps saying what. Without a
    block, `difference` and `check()` compare with the present. A path at which nothing stands is held to that. `root`
    names a directory whose whole tree of names is guarded too.
    """

    def __init__(
        self,
        *paths: str | os.PathLike[str],
        root: str | os.PathLike[str] | None = None,
        of: str = "the guarded files",
    ) -> None:
        if not paths and root is None:
            raise TypeError("a ByteGuard needs a path to guard")
        self.of = of
        self._paths = tuple(dict.fromkeys(path for given in paths for path in _with_target(Path(given))))
        self._directories = tuple(dict.fromkeys(path.parent for path in self._paths))
        self._root = None if root is None else Path(root)
        self._allowed: set[Path] = set()
        self._files = [picture(path) for path in self._paths]
        self._names = self._listing()
        self._has_left = False
        self._at_leaving: str | None = None

    def allow(self, *paths: str | os.PathLike[str]) -> None:
        """Names what may appear beside the guarded files, or vanish: such as the file of a fork."""
        self._allowed.update(_absolute(Path(path)) for path in paths)

    @property
    def difference(self) -> str | None:
        """What is not as it was, in words; None when everything is. After a block: as it was at its end."""
        return self._at_leaving if self._has_left else self._now()

    def check(self, of: str | None = None) -> None:
        """Breaks the clause unless everything is as it was. `of` names what is guarded."""
        difference = self.difference
        if difference is not None:
            raise ClauseBroken(f"{of or self.of}\nexpected: not a byte changed, no neighbour\nseen:     {difference}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._at_leaving, self._has_left = self._now(), True
        if error is None:
            self.check()

    def _now(self) -> str | None:
        return "\n".join(self._differences()) or None

    def _differences(self) -> Iterator[str]:
        for was in self._files:
            for difference in was.differences(picture(was.path)):
                yield f"{was.path}: {difference}"
        was_there, now_there = self._names, self._listing()
        yield from _shown(f"new: {path}" for path in sorted(now_there - was_there) if not self._is_allowed(path))
        yield from _shown(f"gone: {path}" for path in sorted(was_there - now_there) if not self._is_told(path))

    def _listing(self) -> set[Path]:
        names = {path for directory in self._directories if directory.is_dir() for path in directory.iterdir()}
        beneath = set() if self._root is None else set(_beneath(self._root))
        return beneath | {path for path in names if not is_side_file(path)}

    def _is_allowed(self, path: Path) -> bool:
        """Whether it was named, leads to what was named, or is guarded itself and already told of."""
        place = _absolute(path)
        return path in self._paths or any(place == one or place in one.parents for one in self._allowed)

    def _is_told(self, path: Path) -> bool:
        return path in self._paths or _absolute(path) in self._allowed


@dataclass(frozen=True)
class Tree:
    """A directory with all that is in it, as it was: names, kinds, sizes and bytes."""

    root: Path
    files: dict[str, FilePicture]

    def difference(self, now: Tree | None = None) -> str | None:
        """What is not as it was: new, gone, changed; None when nothing is. Compares with the present unless told.

        >>> before = tree("sessions")
        >>> await asyncio.gather(cancelled_fork, return_exceptions=True)
        >>> before.difference()
        'new: --srv-garden--/ (a directory)'
        """
        return "\n".join(_shown(self._differences(now or tree(self.root)))) or None

    def check(self, of: str = "the file tree") -> None:
        """Breaks the clause unless the tree is as it was."""
        difference = self.difference()
        if difference is not None:
            raise ClauseBroken(f"{of}\nexpected: as it was\nseen:     {difference}")

    def _differences(self, now: Tree) -> Iterator[str]:
        for name in sorted(self.files.keys() | now.files.keys()):
            was, there = self.files.get(name), now.files.get(name)
            if was is None and there is not None:
                yield f"new: {_told(name, there)}"
            elif was is not None and there is None:
                yield f"gone: {_told(name, was)}"
            elif was is not None and there is not None:
                yield from (f"{name}: {difference}" for difference in was.differences(there, touched=False))


def tree(directory: str | os.PathLike[str]) -> Tree:
    """The directory with all that is in it, itself included; empty when there is none. Links are not followed.

    Raises OSError when something cannot be read.
    """
    root = Path(directory)
    found = {"": picture(root)} | {
        path.relative_to(root).as_posix(): picture(path, keep=KEPT_IN_TREES) for path in _beneath(root)
    }
    return Tree(root, {name: file for name, file in found.items() if file.kind != "nothing"})


def _beneath(root: Path) -> Iterator[Path]:
    for directory, directories, files in os.walk(root):
        paths = (Path(directory, name) for name in (*directories, *files))
        yield from (path for path in paths if not is_side_file(path))


def _with_target(path: Path) -> Iterator[Path]:
    """The path, and for a link what it leads to: that is where the bytes are."""
    yield path
    if path.is_symlink():
        yield path.resolve()


def _absolute(path: Path) -> Path:
    """The path with the links of its directory followed, so that two ways to one place compare equal."""
    return path.parent.resolve() / path.name


def _told(name: str, file: FilePicture) -> str:
    what = f"{file.size:,} bytes" if file.kind == "file" else f"a {file.kind}"
    return f"{name or '.'}{'/' if file.kind == 'directory' else ''} ({what})"


def _shown(lines: Iterable[str]) -> Iterator[str]:
    """The first lines, and how many more there are."""
    more = 0
    for number, line in enumerate(lines):
        if number < SHOWN:
            yield line
        else:
            more += 1
    if more:
        yield f"… and {more} more"
