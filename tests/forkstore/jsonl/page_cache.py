"""A page cache that has what a test says, so that both ways of reading a chunk are proven on every machine."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Sequence

import pytest

from forkstore.contract.files import CHUNK

HAS: dict[str, Callable[[int], int]] = {
    "everything": lambda offset: CHUNK,
    "nothing": lambda offset: 0,
    "every-other-chunk": lambda offset: CHUNK if offset // CHUNK % 2 else 0,
    "some-pieces": lambda offset: offset % 7 * 1000,
}
"""How many bytes a cache has from an offset on."""


class PageCache:
    """Stands in for `os.preadv` and `os.pread`, the first of which must ask for what need not be waited for.

    `asked` are the offsets that it was asked for; `given` counts the bytes that both have given, and `threads` are
    those in which `os.pread` was called.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, has: Callable[[int], int]) -> None:
        self.asked: list[int] = []
        self.given = 0
        self.threads: set[int] = set()
        self._has = has
        self._preadv, self._pread = os.preadv, os.pread
        monkeypatch.setattr(os, "preadv", self._read_what_it_has)
        monkeypatch.setattr(os, "pread", self._read)

    def _read_what_it_has(self, descriptor: int, buffers: Sequence[bytearray], offset: int, flags: int) -> int:
        assert flags == os.RWF_NOWAIT
        self.asked.append(offset)
        most = self._has(offset)
        if not most:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        size = self._preadv(descriptor, [memoryview(buffers[0])[:most]], offset)
        self.given += size
        return size

    def _read(self, descriptor: int, size: int, offset: int) -> bytes:
        data = self._pread(descriptor, size, offset)
        self.threads.add(threading.get_ident())
        self.given += len(data)
        return data
