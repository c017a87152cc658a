"""Publications as tests make them: as a new session, in the place of another file, and failing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from forkstore.contract.files import FileInfo, Files
from forkstore.jsonl.files import LocalFiles
from forkstore.jsonl.publishing import Publication

FILES: Files = LocalFiles()
Step = Callable[[Publication], object]
"""What a block does with its publication; awaited where that is needed."""


class Stopped(Exception):
    """What a block fails with."""


async def published(path: Path, *pieces: bytes, files: Files = FILES) -> None:
    """A new session's file."""
    async with Publication(files, str(path)) as publication:
        for piece in pieces:
            await publication.write(piece)
        await publication.publish("walk-1")


async def replaced(path: Path, *pieces: bytes, files: Files = FILES, expected: FileInfo | None = None) -> FileInfo:
    """A file in the place of another: of the one that stands there now, unless another is expected."""
    expected = await FILES.file_info(str(path)) if expected is None else expected
    async with Publication(files, str(path)) as publication:
        for piece in pieces:
            await publication.write(piece)
        return await replace_and_let_go(publication, expected)


async def replace_and_let_go(publication: Publication, expected: FileInfo) -> FileInfo:
    info, hold = await publication.replace(expected)
    await hold.close()
    return info


async def failed(path: Path, *steps: Step, files: Files = FILES) -> None:
    """A block that writes a line, takes its steps, and then fails."""
    with pytest.raises(Stopped):
        await _failing(path, steps, files)


async def _failing(path: Path, steps: Sequence[Step], files: Files) -> None:
    async with Publication(files, str(path)) as publication:
        await publication.write(b"one\n")
        for step in steps:
            outcome = step(publication)
            if isinstance(outcome, Awaitable):
                await outcome
        raise Stopped


def publish(publication: Publication) -> Awaitable[None]:
    return publication.publish("walk-1")
