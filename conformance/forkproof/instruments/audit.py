"""Sees every file that this process opens for writing, renames, removes or changes, without a seam.

Python reports such calls as audit events, whatever thread or library makes them. What it does not report, the spy
cannot see: bytes written through a file that was open before, calls of compiled libraries and of other processes, and
names relative to a directory's descriptor (under Linux these are seen, but for `os.open`). A `ByteGuard` on the same
paths sees what such calls leave behind; the spy also sees what is undone in time.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Final, Self

from forkproof.expect import ClauseBroken
from forkproof.instruments.audit_events import Change, Place, change_of

OFFENCES_KEPT: Final = 50

_LIBRARY: Final = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_INSTALLED: Final = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib"))

_active: tuple[AuditSpy, ...] = ()
_lock = threading.Lock()
_hooked = False


class AuditSpy:
    """Watches paths while its block runs; a directory stands for everything beneath it.

    >>> with AuditSpy(source.path, of="the source of the fork") as audit:
    ...     await repo.fork(source, TreeFork())
    >>> audit.offences
    []

    Leaving the block breaks the clause when there was an offence. A file whose name contains that of a guarded file
    counts too, such as a lock or a temporary file beside it; so does a move or a removal of a directory above it.
    """

    def __init__(self, *paths: str | os.PathLike[str], of: str = "the guarded files") -> None:
        if not paths:
            raise TypeError("an AuditSpy needs a path to guard")
        self.of = of
        self.offences: list[str] = []
        """What was done, in words and in order, with the place in the code; the first ones."""
        self.count = 0
        """The number of all offences."""
        self._guarded = tuple(dict.fromkeys(form for path in paths for form in _forms(os.fspath(path))))
        self._directories = frozenset(path for path in self._guarded if os.path.isdir(path))  # noqa: PTH112
        self._inodes = {inode for path in self._guarded if (inode := _inode(path)) is not None}

    def __enter__(self) -> Self:
        global _active, _hooked  # noqa: PLW0603 - a hook cannot be removed: the process has one
        with _lock:
            if not _hooked:
                sys.addaudithook(_hook)
                _hooked = True
            _active = (*_active, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        global _active  # noqa: PLW0603
        with _lock:
            _active = tuple(spy for spy in _active if spy is not self)
        if error is None:
            self.check()

    def check(self, of: str | None = None) -> None:
        """Breaks the clause when there was an offence. `of` names what is guarded."""
        if not self.count:
            return
        left_out = self.count - len(self.offences)
        told = "\n".join([*self.offences, *([f"… and {left_out} more"] if left_out else [])])
        raise ClauseBroken(f"{of or self.of}\nexpected: opened for reading only\nseen:     {told}")

    def notice(self, change: Change) -> None:
        """Notes a change if it is one to a guarded path; for the hook."""
        if any(self._is_guarded(place, change) for place in change.places):
            self.count += 1
            if len(self.offences) < OFFENCES_KEPT:
                self.offences.append(f"{change.what}{_origin(inspect.currentframe())}")

    def _is_guarded(self, place: Place, change: Change) -> bool:
        path, directory = place
        if isinstance(path, int):
            return _inode(path) in self._inodes
        return any(self._concerns(form, one, change) for form in _forms(path, directory) for one in self._guarded)

    def _concerns(self, path: str, guarded: str, change: Change) -> bool:
        if path == guarded:
            return not change.makes_only
        if path.startswith(guarded.rstrip(os.sep) + os.sep):
            return True
        if guarded.startswith(path.rstrip(os.sep) + os.sep):
            return change.takes_along
        (directory, name), (place, found) = os.path.split(guarded), os.path.split(path)
        return guarded not in self._directories and place == directory and name in found


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    """The audit hook of the process. It must not raise: that would fail the call that it only watches."""
    if not _active:
        return
    change = change_of(event, arguments)
    if change is not None:
        for spy in _active:
            spy.notice(change)


def _forms(path: Any, directory: Any = -1) -> Iterator[str]:
    """The ways to say one path absolutely: as it was said, with the links of its directory followed, and with all links
    followed. Nothing for what is no path.
    """
    try:
        text = os.path.join(_directory(directory), os.fsdecode(path))  # noqa: PTH118 - a Path would cost more than the call
        parent, name = os.path.split(os.path.abspath(text))  # noqa: PTH100
        yield os.path.join(parent, name)  # noqa: PTH118
        yield os.path.join(os.path.realpath(parent), name)  # noqa: PTH118
        yield os.path.realpath(text)
    except (TypeError, ValueError, OSError):
        return


def _directory(descriptor: Any) -> str:
    """The directory that a descriptor stands for, where the system tells."""
    return os.readlink(f"/proc/self/fd/{descriptor}") if isinstance(descriptor, int) and descriptor >= 0 else ""  # noqa: PTH115


def _inode(path: str | int) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - a descriptor is no Path
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _origin(frame: FrameType | None) -> str:
    """The innermost place that is neither this module's nor that of Python's library."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name != __file__ and (name.startswith(_INSTALLED) or not name.startswith(("<frozen", *_LIBRARY))):
            return f"\n  at {name}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return ""
