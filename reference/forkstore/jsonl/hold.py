"""Keeping hold of the file of an open session.

A system likes to give the identity of a file to the next one as soon as the file is removed, so a file that was
replaced could pass for the same (S-JSONL-FMT-16). It cannot while somebody has the file open.
"""

from __future__ import annotations

from contextlib import suppress

from forkstore.contract.errors import SessionFileChanged, StoreIOError
from forkstore.contract.files import FileError, FileInfo, Files, LineReader
from forkstore.settling import settled

from .failing import file_failures, gone_or_failed, look_again


class Hold:
    """A reader of a file that is not read from. Raises StoreIOError."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._reader: LineReader | None = None

    async def take(self, info: FileInfo) -> None:
        """Takes hold of this very file. Raises SessionFileChanged when another one stands there by now."""
        try:
            await settled(self._open(info.path))
        except FileError as error:
            raise gone_or_failed(error, info.path, "open_line_reader") from error
        if (await look_again(self._files, info.path)).identity != info.identity:
            raise SessionFileChanged(info.path, "another file stands in its place")

    async def close(self) -> None:
        """Lets go of the file."""
        reader, self._reader = self._reader, None
        if reader is not None:
            with file_failures("close"):
                await settled(reader.close())

    async def let_go(self) -> None:
        """Lets go of the file where a failure to do so is of no account: another one is under way (S-FORK-FAIL-07), or
        nobody needs the file any more.
        """
        with suppress(StoreIOError):
            await self.close()

    async def _open(self, path: str) -> None:
        self._reader = await self._files.open_line_reader(path)


async def hold_file(files: Files, info: FileInfo) -> Hold:
    """Takes hold of this very file. Raises SessionFileChanged and StoreIOError."""
    hold = Hold(files)
    try:
        await hold.take(info)
    except BaseException:
        await settled(hold.let_go())
        raise
    return hold
