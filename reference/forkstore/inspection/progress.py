"""How far a long reading has come, on a terminal: one line that is written over, and wiped in the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from .lines import Progress


@contextmanager
def progress_on(stream: TextIO, doing: str) -> Iterator[Progress]:
    """Gives what is to be told of every step while the block runs. Where there is no terminal, nothing is shown.

    What is read in one step is done before a line could be read, so the line appears with the second step.
    """
    if not stream.isatty():
        yield lambda done, total: None
        return
    shown = ""

    def show(done: int, total: int) -> None:
        nonlocal shown
        percent = f"{doing}: {done * 100 // total} %"
        if percent != shown and (shown or done < total):
            shown = percent
            stream.write(f"\r{percent}")
            stream.flush()

    try:
        yield show
    finally:
        if shown:
            stream.write(f"\r{' ' * len(shown)}\r")
            stream.flush()
