"""The atomic publisher: a file appears under its name when it is complete, or not at all (spec section 24).

A temporary file beside the destination takes everything that is written, and is then renamed. What a publication has
made it takes away again when its block fails: the temporary file, the published file of a new session too, and
directories, unless somebody has put something into them meanwhile (S-FORK-FAIL-02, S-FORK-FAIL-05). Cleaning up, and
every step whose outcome decides about it, runs to its end whatever cancels the caller (S-FORK-FAIL-06).
"""

from __future__ import annotations

from collections.abc import Awaitable, Hashable
from contextlib import suppress
from dataclasses import replace
from secrets import token_hex
from types import TracebackType
from typing import Final, Self

from forkstore.contract.errors import SessionExists, SessionFileChanged
from forkstore.contract.files import FileError, FileInfo, Files
from forkstore.settling import settled

from .failing import file_failures, look_again, store_error
from .hold import Hold, hold_file

BATCH_BYTES: Final = 256 * 1024
"""What is written at a time, about; one record may have more."""
_ATTEMPTS: Final = 3
"""How often the temporary file is tried while directories vanish: a call that made one takes it away when it fails."""


class Publication:
    """One destination on its way: `write` all of it, then `publish` it as a new session or `replace` a file by it.

    A new session is opened inside the block of its publication, so that nothing is left when opening fails. Raises
    StoreIOError; a failure while cleaning up does not take the place of the first one (S-FORK-FAIL-07).
    """

    def __init__(self, files: Files, path: str) -> None:
        self.path: Final = path
        self._files = files
        self._directory = _parent(files, path)
        self._draft = f"{path}.{token_hex(8)}.tmp"
        self._draft_is_there = False
        self._made_directories: list[str] = []
        self._published: Hashable | None = None  # the identity of the file that is to appear under the path

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            await settled(self._take_back())

    async def write(self, data: bytes) -> None:
        """Adds to the temporary file. The first call makes it, and the directories that are missing on its way."""
        if self._draft_is_there:
            with file_failures("append_file"):
                await self._files.append_file(self._draft, data)
        else:
            await self._make_draft(data)

    async def publish(self, session_id: str) -> None:
        """The file of a new session appears. Raises SessionExists when a file of its name stands (S-JSONL-PUB-05)."""
        await _synced(self._files.sync_file(self._draft), "sync_file")
        self._published = (await self._info(self._draft)).identity
        try:
            await settled(self._files.publish_file(self._draft, self.path))
        except FileError as error:
            if error.code == "exists":
                raise SessionExists(session_id) from error
            raise store_error(error, "publish_file") from error
        await _synced(self._files.sync_dir(self._directory), "sync_dir")

    async def replace(self, expected: FileInfo) -> tuple[FileInfo, Hold]:
        """The file takes the place of the one that is expected there. Gives what is known of it then, held.

        Raises SessionFileChanged when another file, or one of another size, stands there by now.

        There is no way back to the old file. So a directory that cannot be synced afterwards is no failure: only a loss
        of power could undo the renaming, and to survive that is not promised.
        """
        if self._made_directories:
            raise SessionFileChanged(self.path, "its directory is gone")
        await _synced(self._files.sync_file(self._draft), "sync_file")
        new = await self._info(self._draft)
        hold = await hold_file(self._files, new)
        try:
            old = await self._expected(expected)  # the last call before the renaming
            await settled(self._take_over(new))
            with suppress(FileError):
                await self._files.sync_dir(self._directory)
        except BaseException:
            await settled(hold.let_go())
            raise
        return replace(new, name=old.name, path=old.path), hold

    async def _expected(self, expected: FileInfo) -> FileInfo:
        old = await look_again(self._files, self.path)
        if (old.identity, old.size) != (expected.identity, expected.size):
            raise SessionFileChanged(self.path, "it was written or replaced while its successor was made")
        return old

    async def _info(self, path: str) -> FileInfo:
        with file_failures("file_info"):
            return await self._files.file_info(path)

    async def _make_draft(self, data: bytes) -> None:
        for attempts_left in reversed(range(_ATTEMPTS)):
            self._draft_is_there = True  # a call that fails may have made it all the same
            try:
                await self._files.write_file(self._draft, data)
                return
            except FileError as error:
                if error.code != "not_found" or not attempts_left:
                    raise store_error(error, "write_file") from error
            with file_failures("make_dir"):
                await settled(self._make_directories(self._directory))

    async def _make_directories(self, path: str) -> None:
        """Makes a directory, its parents first where they are missing too."""
        try:
            await self._make_directory(path)
        except FileError as error:
            parent = _parent(self._files, path)
            if error.code != "not_found" or parent == path:
                raise
            await self._make_directories(parent)
            await self._make_directory(path)

    async def _make_directory(self, path: str) -> None:
        """Makes a directory that was missing; one that fails may have been made all the same."""
        self._made_directories.append(path)
        try:
            await self._files.make_dir(path)
        except FileError as error:
            if error.code in ("exists", "not_found"):
                self._made_directories.remove(path)
            if error.code != "exists":
                raise

    async def _take_over(self, new: FileInfo) -> None:
        try:
            await self._files.rename_file(self._draft, self.path)
        except FileError as error:
            if not await self._is_there(new.identity):
                raise store_error(error, "rename_file") from error
        self._draft_is_there = False

    async def _take_back(self) -> None:
        if self._published is not None and await self._is_there(self._published):
            await _tried(self._files.remove_file(self.path))
        if self._draft_is_there:
            await _tried(self._files.remove_file(self._draft))
        for directory in reversed(self._made_directories):
            await _tried(self._files.remove_dir(directory))

    async def _is_there(self, identity: Hashable) -> bool:
        """Whether this very file stands under the path: a renaming that failed may have been done all the same."""
        try:
            return (await self._files.file_info(self.path)).identity == identity
        except FileError:
            return False


def _parent(files: Files, path: str) -> str:
    return files.absolute_path(files.join_path(path, ".."))


async def _synced(call: Awaitable[None], operation: str) -> None:
    """Where files or directories cannot be synced, none are."""
    try:
        await call
    except FileError as error:
        if error.code != "not_supported":
            raise store_error(error, operation) from error


async def _tried(call: Awaitable[None]) -> None:
    """What fails in a clean-up is left as it is."""
    with suppress(FileError):
        await call
