"""How the instruments of one case come between a store and its files: the spy outermost, the faults under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forkproof.instruments.file_spy import FileSpy
from forkstore.contract.files import Files

if TYPE_CHECKING:
    from forkproof.instruments.file_faults import FileFaults


class FileWrapping:
    """What a harness gets as `seams.files`: one for each repository, over the same instruments.

    >>> FileWrapping(spy, faults)(LocalFiles())

    A call that a fault strikes is seen by the spy, with its failure.
    """

    def __init__(self, spy: FileSpy | None, faults: FileFaults | None) -> None:
        self._spy = spy
        self._faults = faults
        self.is_used = False

    @property
    def is_asked_for(self) -> bool:
        """Whether there is an instrument at all."""
        return self._spy is not None or self._faults is not None

    def __call__(self, files: Files) -> Files:
        self.is_used = True
        if self._faults is not None:
            files = self._faults.wrap(files)
        return files if self._spy is None else self._spy.wrap(files)
