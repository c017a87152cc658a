"""What a damaged file is: its bytes, and what a right store makes of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from forkgen.publishing import publish
from forkgen.verdict import Verdict
from forkstore.contract.records import Record

Change = Callable[[Iterable[bytes]], Iterator[bytes]]
"""Takes the lines of a file, each with its LF, and gives the chunks of another."""


@dataclass(frozen=True)
class Damaged:
    """One variant of a good file, with its verdict.

    A variant that opens has the state of the good file, to which the `added` records come, or with `OPENS_BEFORE` the
    state of the good file without its last line; `next_seq` is the sequence that its next commit takes. `line` is the
    1-based line that CorruptSession names, `version` what UnsupportedVersion names, `cause` the class that a commit
    would have raised for the fault, where one would. `repaired` says that `open` rewrites the file: it then holds
    `after_open()`; otherwise no byte may change.
    """

    name: str
    verdict: Verdict
    clauses: tuple[str, ...]
    line: int | None = None
    cause: str | None = None
    added: tuple[Record, ...] = ()
    next_seq: int | None = None
    version: str | None = None
    repaired: bool = False
    _lines: Callable[[], Iterator[bytes]] = field(repr=False, compare=False, default=lambda: iter(()))
    _change: Change = field(repr=False, compare=False, default=iter)

    def chunks(self) -> Iterator[bytes]:
        """The bytes of the damaged file, made anew on each call; a line of the good file at most is held at a time."""
        return self._change(self._lines())

    def after_open(self) -> Iterator[bytes]:
        """The bytes that the file holds after `open`: for a torn tail all up to the last LF, without a byte-order mark
        (S-JSONL-TAIL-02); for every other variant what it held before.
        """
        return _complete_lines(self.chunks()) if self.repaired else self.chunks()

    def write_to(self, path: str | os.PathLike[str]) -> None:
        """Publishes the damaged file under `path`. Raises OSError, and then nothing has appeared."""
        publish(path, self.chunks())


def _complete_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    first = True
    for line in split_lines(chunks):
        if line.endswith(b"\n"):
            yield line.removeprefix(b"\xef\xbb\xbf") if first else line
        first = False


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    r"""The lines of a stream of bytes, each with its LF; the last one may lack it. Only LF ends a line.

    >>> list(split_lines([b"no", b"rth\nso", b"uth"]))
    [b'north\n', b'south']
    """
    begun: list[bytes] = []
    for chunk in chunks:
        start = 0
        while end := chunk.find(b"\n", start) + 1:
            begun.append(chunk[start:end])
            yield b"".join(begun)
            begun.clear()
            start = end
        if start < len(chunk):
            begun.append(chunk[start:])
    if begun:
        yield b"".join(begun)
