"""Where files go: nothing is replaced unless asked, and what the system refuses is said in one line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import UsageError, described


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an OSError of the block into a UsageError that names the destination, not what is staged beside it."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or described(error)}") from error


def check_file(path: Path, *, force: bool) -> None:
    """Raises UsageError unless a file may appear under this name. A device or directory never makes way for one."""
    with writing(path):
        if not os.path.lexists(path):
            return
        if not path.is_file() and not path.is_symlink():
            raise UsageError(f"{path}: cannot be written: it is there, and no file")
        if not force:
            raise UsageError(f"{path}: exists; --force replaces it")


def check_directory(path: Path, *, force: bool) -> None:
    """Raises UsageError unless files may appear in this directory, which need not exist yet."""
    with writing(path):
        if not os.path.lexists(path):
            return
        if not path.is_dir():
            raise UsageError(f"{path}: cannot be written: it is no directory")
        if any(path.iterdir()) and not force:
            raise UsageError(f"{path}: is not empty; --force writes into it all the same")
