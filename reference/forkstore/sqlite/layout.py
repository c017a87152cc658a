"""Where sessions live: a database each in one directory, or all of them in one container (spec section 29.1)."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Final, Protocol

from forkstore.contract.errors import InvalidArgument
from forkstore.contract.ids import session_database_name

from .connect import Connect
from .destinations import ContainerDestination, Destination, PerFileDestination
from .failing import database_failures
from .groundwork import Groundwork
from .removing import delete_database, delete_rows
from .settings import checked_path, checked_path_or_none

SUFFIX: Final = ".sqlite"


class Layout(Protocol):
    """Where the database of a session is, which databases there are, and how sessions are made and removed there."""

    def place_of(self, session_id: str) -> str:
        """The real path of the database that holds the session, or would. Never suspends (S-SQL-LAY-02)."""
        ...

    def databases(self) -> list[str]:
        """The real paths of what may be databases of the layout, in order. It blocks. Raises StoreIOError."""
        ...

    def destination(self, connect: Connect, groundwork: Groundwork, path: str, session_id: str) -> Destination:
        """Where a session is to be made; `path` is its place."""
        ...

    def delete(self, connect: Connect, path: str, session_id: str) -> None:
        """Removes a session for good. It blocks. Raises SessionNotFound, UnsupportedVersion, StoreIOError."""
        ...


class PerFileLayout:
    """One database per session in a directory. Keeps S-SQL-LAY-01."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def place_of(self, session_id: str) -> str:
        """The name is the session's alone; a link that has it leads nowhere that is this repository's."""
        return str(PurePath(os.path.realpath(self._directory), session_database_name(session_id) + SUFFIX))

    def databases(self) -> list[str]:
        """The files, and no links, directories or pipes, whose name ends like that of a database (S-SQL-LAY-06)."""
        directory = os.path.realpath(self._directory)
        with database_failures("list_dir", directory):
            try:
                with os.scandir(directory) as entries:
                    names = [entry.name for entry in entries if entry.name.endswith(SUFFIX) and _is_file(entry)]
            except (FileNotFoundError, NotADirectoryError):
                return []
        return [str(PurePath(directory, name)) for name in sorted(names)]

    def destination(self, connect: Connect, groundwork: Groundwork, path: str, session_id: str) -> Destination:
        """A database of its own."""
        return PerFileDestination(connect, groundwork, path, session_id)

    def delete(self, connect: Connect, path: str, session_id: str) -> None:
        """Its database and the side files. Keeps S-SQL-LAY-07."""
        delete_database(connect, path, session_id)


class SharedLayout:
    """All sessions in one container. Keeps S-SQL-LAY-01."""

    def __init__(self, database_path: str) -> None:
        self._database_path = database_path

    def place_of(self, session_id: str) -> str:
        """The container, behind whatever links lead to it."""
        return os.path.realpath(self._database_path)

    def databases(self) -> list[str]:
        """The container, if it is there."""
        path = os.path.realpath(self._database_path)
        with database_failures("list", path):
            return [path] if Path(path).is_file() else []

    def destination(self, connect: Connect, groundwork: Groundwork, path: str, session_id: str) -> Destination:
        """Rows in the container."""
        return ContainerDestination(connect, groundwork, path, session_id)

    def delete(self, connect: Connect, path: str, session_id: str) -> None:
        """Its rows in all tables. Keeps S-SQL-LAY-08."""
        delete_rows(connect, path, session_id)


def chosen_layout(directory: object, database_path: object) -> PerFileLayout | SharedLayout:
    """The layout that the repository's options ask for. Raises InvalidArgument (S-SQL-LAY-11)."""
    checked_directory = checked_path_or_none("directory", directory)
    if database_path is not None:
        return SharedLayout(checked_path("database_path", database_path))
    if checked_directory is None:
        raise InvalidArgument("directory", "is missing, and so is database_path; give one of them")
    return PerFileLayout(checked_directory)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False
