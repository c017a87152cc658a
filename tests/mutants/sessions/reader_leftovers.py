"""Mutants of the suite `reader_leftovers`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class AFailedScanStaysOpen(SourceLie):
    """Lie: a reader is closed when its scan has come to its end."""

    kills = "S-FORK-FAIL-08"
    file = "scanning.py"
    line = "await settled(self._close() if error is None else self._close_after_failure())"
    lie = "await settled(self._close()) if error is None else None"


class AReaderThatIsOpenedTooLateStaysOpen(SourceLie):
    """Lie: a reader whose opening is cancelled when it is done belongs to nobody."""

    kills = "S-FORK-FAIL-05"
    file = "scanning.py"
    line = "await settled(self._open())"
    lie = "await __import__('asyncio').shield(self._open())"
