"""What a file is at one moment, in a form that can be compared later and says where the bytes part.

Small files are kept whole; of large ones a digest for every 64 KiB is kept, so that a picture of a gigabyte takes less
than a megabyte and the first chunk that differs can still be named.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Literal

CHUNK = 64 * 1024
KEPT_WHOLE = 1024 * 1024
"""Up to this many bytes a picture keeps the content itself."""
WINDOW = 16
"""Bytes in a row of a hex window."""
SIDE_SUFFIXES = ("-wal", "-shm")
"""What the names of a database's side files end in (section 29.1)."""
DATABASE_HEADER = b"SQLite format 3\0"
"""What every SQLite database begins with."""

Kind = Literal["nothing", "file", "directory", "link", "other"]


@dataclass(frozen=True)
class FilePicture:
    """A path as it was. `content` holds the bytes of a small file (the target of a link), `chunks` the digests."""

    path: Path
    kind: Kind
    size: int = 0
    mtime_ns: int = 0
    inode: tuple[int, int] = (0, 0)
    chunks: tuple[bytes, ...] = ()
    content: bytes | None = None

    def differences(self, now: FilePicture, *, touched: bool = True) -> Iterator[str]:
        """One text for each thing that is not as it was; content first. `touched` also asks for the same inode and
        modification time.

        >>> print(*picture(path).differences(picture(path)), sep="\\n")
        """
        if now.kind != self.kind:
            yield f"was {_article(self.kind)}, is {_article(now.kind)}"
            return
        if now.chunks != self.chunks or now.content != self.content or now.size != self.size:
            yield _content_difference(self, now)
        if touched and now.inode != self.inode:
            yield f"another {self.kind} stands there: inode {self.inode[1]} became {now.inode[1]}"
        if touched and now.mtime_ns != self.mtime_ns:
            yield f"modification time: was {_moment(self.mtime_ns)}, is {_moment(now.mtime_ns)}"


def picture(path: str | os.PathLike[str], *, keep: int = KEPT_WHOLE) -> FilePicture:
    """The path as it is now; a link is not followed. Files of up to `keep` bytes are kept whole. Raises OSError.

    >>> picture("walk.jsonl").size
    301
    """
    path = Path(path)
    try:
        found = path.lstat()
        kind = _kind(found.st_mode)
        if kind == "file":
            return _file_picture(path, keep)
        content = os.fsencode(path.readlink()) if kind == "link" else None
    except (FileNotFoundError, NotADirectoryError):
        return FilePicture(path, "nothing")
    return FilePicture(path, kind, 0, found.st_mtime_ns, (found.st_dev, found.st_ino), content=content)


def is_side_file(path: Path) -> bool:
    """Whether the file is the write-ahead log, or the index of it, of a database that stands beside it: no neighbour of
    its own.

    >>> is_side_file(Path("walk.sqlite-wal"))
    True
    """
    suffix = next((one for one in SIDE_SUFFIXES if path.name.endswith(one)), None)
    if suffix is None:
        return False
    try:
        with path.with_name(path.name.removesuffix(suffix)).open("rb") as database:
            return database.read(len(DATABASE_HEADER)) == DATABASE_HEADER
    except OSError:
        return False


def _file_picture(path: Path, keep: int) -> FilePicture:
    digests: list[bytes] = []
    kept: list[bytes] = []
    size = 0
    with path.open("rb", buffering=0) as file:
        while chunk := _whole_chunk(file.fileno()):
            digests.append(_digest(chunk))
            size += len(chunk)
            if size <= keep:
                kept.append(chunk)
        # After the reading: a picture says what was read, and when that had last been written.
        found = os.fstat(file.fileno())
    content = b"".join(kept) if size <= keep else None
    return FilePicture(path, "file", size, found.st_mtime_ns, (found.st_dev, found.st_ino), tuple(digests), content)


def _whole_chunk(descriptor: int) -> bytes:
    """The next 64 KiB, or what is left of the file: a short read in the middle would move all later chunks."""
    parts: list[bytes] = []
    missing = CHUNK
    while missing and (part := os.read(descriptor, missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _digest(chunk: bytes) -> bytes:
    return blake2b(chunk, digest_size=16).digest()


def _content_difference(was: FilePicture, now: FilePicture) -> str:
    sizes = f"{was.size:,} bytes" if was.size == now.size else f"{was.size:,} bytes, now {now.size:,}"
    if was.content is not None and now.content is not None:
        at = _first_difference(was.content, now.content)
        return f"content ({sizes}) differs first at byte {at:,}\n{hex_window(was.content, now.content, at)}"
    pairs = zip(was.chunks, now.chunks, strict=False)
    chunk = next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(was.chunks), len(now.chunks)))
    return f"content ({sizes}) differs first in bytes {chunk * CHUNK:,} to {(chunk + 1) * CHUNK - 1:,}"


def _first_difference(was: bytes, now: bytes) -> int:
    """The offset of the first byte that differs; the shorter length where one begins the other."""
    shorter = min(len(was), len(now))
    low = 0
    while low < shorter and was[low : low + CHUNK] == now[low : low + CHUNK]:
        low += CHUNK
    return next((at for at in range(low, shorter) if was[at] != now[at]), shorter)


def hex_window(was: bytes, now: bytes, at: int) -> str:
    r"""The rows of 16 bytes around an offset, as they were and as they are; bytes that differ stand in brackets.

    >>> print(hex_window(b"the north bed\n", b"the south bed\n", 4))
      was 00000000   74  68  65  20 [6e][6f] 72  74  68  20  62  65  64  0a          the north bed.
      now 00000000   74  68  65  20 [73][6f] 75  74  68  20  62  65  64  0a          the south bed.
    """
    start = max(0, at - at % WINDOW - WINDOW)
    rows = range(start, start + 3 * WINDOW, WINDOW)
    shown = [
        f"  {side} {_row(mine, other, row)}"
        for row in rows
        for side, mine, other in (("was", was, now), ("now", now, was))
        if row < len(mine) or (row <= at < row + WINDOW)
    ]
    return "\n".join(shown)


def _row(mine: bytes, other: bytes, start: int) -> str:
    part = mine[start : start + WINDOW]
    cells = [
        f"[{byte:02x}]" if other[start + place : start + place + 1] != bytes((byte,)) else f" {byte:02x} "
        for place, byte in enumerate(part)
    ]
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
    return f"{start:08x}  {''.join(cells):<{4 * WINDOW}}  {text or '(the end)'}"


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def _article(kind: Kind) -> str:
    return {"nothing": "nothing", "other": "something else"}.get(kind, f"a {kind}")


def _moment(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
