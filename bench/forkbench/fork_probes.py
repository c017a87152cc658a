"""What looks at a fork while it runs: the end of its copying, in time and in memory, and the moments of publishing."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Final

from forkproof.instruments.memory import MemoryMeter
from forkproof.instruments.watched_files import FileCall, ReaderUse, WatchedFiles
from forkstore.contract.files import Files

from .figures import WrongAnswer
from .rounds import Turn

UNTOLD: Final = "a fork did not tell its probe of `before_publish`"


class StopsTurn:
    """A fork probe that ends the time of a turn at `before_publish`."""

    def __init__(self) -> None:
        self._turn: Turn | None = None

    def next(self, turn: Turn) -> Turn:
        """The turn that the next fork ends."""
        self._turn = turn
        return turn

    async def before_publish(self) -> None:
        if self._turn is not None:
            self._turn.stop()
        self._turn = None

    def check(self) -> None:
        """Raises WrongAnswer when the last fork did not tell: then its time went to the end of the call."""
        if self._turn is not None:
            raise WrongAnswer(UNTOLD)


class ReadsPeak:
    """A fork probe that reads the peak of a meter at `before_publish`."""

    def __init__(self, meter: MemoryMeter) -> None:
        self._meter = meter
        self.peak: int | None = None

    async def before_publish(self) -> None:
        self.peak = self._meter.read_peak()


class CopyingEnd:
    """A fork probe that notes when the copying ended."""

    def __init__(self) -> None:
        self.copied_ns = 0

    async def before_publish(self) -> None:
        self.copied_ns = perf_counter_ns()

    def since(self, begun_ns: int) -> int:
        """Nanoseconds from the beginning of the last fork. Raises WrongAnswer when it did not tell of its end."""
        if self.copied_ns < begun_ns:
            raise WrongAnswer(UNTOLD)
        return self.copied_ns - begun_ns


class PublishingTimes(CopyingEnd):
    """A fork probe and a record of file calls in one: when the copying ended, and when the file got its name."""

    def __init__(self) -> None:
        super().__init__()
        self.named_ns = 0

    def wrap(self, files: Files) -> Files:
        """The capability to hand to the store in place of `files`."""
        return WatchedFiles(files, self)

    def begin(self, name: str, path: str, target: str | None = None, size: int | None = None) -> FileCall:
        """A file call takes its first step; for the wrapped capability."""
        if name in ("publish_file", "rename_file"):
            self.named_ns = perf_counter_ns()
        return FileCall(name, path, target, size)

    def opened(self, call: FileCall) -> ReaderUse:
        """A line reader was opened; for the wrapped capability."""
        return ReaderUse(call.path)
