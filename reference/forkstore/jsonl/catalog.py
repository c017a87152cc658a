"""What stands in the session directories: listing, and whether an id is taken.

A file is looked at one at a time, and no more than its first 64 KiB (S-REPO-14); nothing is held from one file to the
next (S-REPO-15).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container
from pathlib import PurePath
from typing import Final

from forkstore.contract.errors import CorruptSession, UnsupportedVersion
from forkstore.contract.files import CHUNK, FileError, FileErrorCode, FileInfo, Files
from forkstore.contract.store import SessionMetadata

from .failing import store_error
from .headers import Header, LegacyHeader, read_header
from .naming import (
    SUFFIX,
    file_name_ending,
    is_session_directory_name,
    names_session,
    session_directory_name,
)

_PASSED_OVER: Final[frozenset[FileErrorCode]] = frozenset(
    {"not_found", "permission_denied", "not_directory", "is_directory", "invalid"}
)
"""Failures that say something about the one file, which is then no session that can be recognised (S-REPO-13)."""
_FILES_PER_TURN: Final = 20
"""Files that are looked at before other tasks get a turn; a bounded read does not suspend by itself."""


class Catalog:
    """The session directories under a root. Raises StoreIOError."""

    def __init__(self, files: Files, root: str) -> None:
        self._files = files
        self._root = root

    def directory_of(self, cwd: str) -> str:
        """The session directory of a working directory; it need not exist."""
        return self._files.join_path(self._root, session_directory_name(cwd))

    async def sessions(self, cwd: str | None) -> list[SessionMetadata]:
        """Metadata of every session that can be recognised, latest first (S-REPO-11 to S-REPO-16)."""
        found: list[SessionMetadata] = []
        for name in await self._directories() if cwd is None else [session_directory_name(cwd)]:
            found += [metadata async for metadata in self._in_directory(name) if cwd in (None, metadata.cwd)]
        return sorted(found, key=lambda metadata: (-metadata.created_at, metadata.id, metadata.cwd or ""))

    async def is_taken(self, session_id: str, cwd: str) -> bool:
        """Whether a file has this id in this working directory, or might have it (spec section 22.4)."""
        ending = file_name_ending(session_id)
        for info in await self._in(self.directory_of(cwd)):
            if names_session(info.name, ending) and await self._may_be_of(info.path, cwd):
                return True
        return False

    async def _may_be_of(self, path: str, cwd: str) -> bool:
        try:
            return (await read_bounded_header(self._files, path)).cwd == cwd
        except (CorruptSession, UnsupportedVersion):
            return True
        except FileError as error:
            if error.code in _PASSED_OVER:
                return error.code != "not_found"
            raise store_error(error, "read_bytes") from error

    async def _directories(self) -> list[str]:
        return [info.name for info in await self._in(self._root) if is_session_directory_name(info.name)]

    async def _in(self, directory: str, passed_over: Container[str] = ("not_found", "not_directory")) -> list[FileInfo]:
        """What stands in a directory; nothing when it is missing, or fails in a way that is passed over."""
        try:
            return await self._files.list_dir(directory)
        except FileError as error:
            if error.code in passed_over:
                return []
            raise store_error(error, "list_dir") from error

    async def _in_real(self, directory: str) -> list[FileInfo]:
        """What stands in a session directory, under real paths; one that cannot be read holds nothing to list."""
        try:
            real = self._files.real_path(directory)
        except FileError:
            return []
        return await self._in(real, _PASSED_OVER)

    async def _in_directory(self, name: str) -> AsyncIterator[SessionMetadata]:
        """The sessions in a session directory whose working directory is kept under this very name: a file that lies
        elsewhere cannot be opened, and one that is reached by two names is one session (S-REPO-11).
        """
        directory = self._files.join_path(self._root, name)
        for count, info in enumerate(await self._in_real(directory), 1):
            if count % _FILES_PER_TURN == 0:
                await asyncio.sleep(0)
            metadata = await self._recognised(info) if info.kind == "file" and info.name.endswith(SUFFIX) else None
            if metadata is None or metadata.cwd is None:
                continue
            if session_directory_name(metadata.cwd) == name:
                yield metadata

    async def _recognised(self, info: FileInfo) -> SessionMetadata | None:
        """The session in a file; None when there is none that can be read."""
        try:
            return await metadata_of(self._files, await read_bounded_header(self._files, info.path), info)
        except (CorruptSession, UnsupportedVersion):
            return None
        except FileError as error:
            if error.code in _PASSED_OVER:
                return None
            raise store_error(error, "read_bytes") from error


async def metadata_of(files: Files, header: Header | LegacyHeader, info: FileInfo) -> SessionMetadata:
    """Metadata of a session file; `info` is that of its real path. Never fails for a parent (S-V3-03, S-V3-18)."""
    parent_id, parent_path = await _parent_of(files, header, info.path)
    return SessionMetadata(
        id=header.id,
        created_at=header.created_at,
        parent_session_id=parent_id,
        cwd=header.cwd,
        legacy_parent_session_path=parent_path,
        path=info.path,
        modified_at=info.modified_at,
    )


async def read_bounded_header(files: Files, path: str) -> Header | LegacyHeader:
    """The header in the first 64 KiB of a file. Raises CorruptSession, UnsupportedVersion and FileError."""
    line, line_feed, _ = (await files.read_bytes(path, CHUNK)).partition(b"\n")
    if not line_feed:
        raise CorruptSession(path, 1, f"the first {CHUNK} bytes hold no complete line")
    return read_header(line, path)


async def _parent_of(files: Files, header: Header | LegacyHeader, path: str) -> tuple[str | None, str | None]:
    """Id and legacy path of the parent, never both (S-V3-17)."""
    if isinstance(header, Header):
        return header.parent_session_id, header.legacy_parent_session_path
    if header.parent_session is None:
        return None, None
    try:
        parent = files.real_path(files.join_path(str(PurePath(path).parent), header.parent_session))
        if (await files.file_info(parent)).kind == "file":
            return (await read_bounded_header(files, parent)).id, None
    except (CorruptSession, UnsupportedVersion, FileError):
        pass  # the parent is not there, or not to be read; its path is all that is known
    return None, header.parent_session
