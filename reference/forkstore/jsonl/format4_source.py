"""A fork's source in format 4: records are found again by their ordinals, and copied as the text that they are."""

from __future__ import annotations

from bisect import bisect_left

from forkstore.contract.errors import SessionFileChanged
from forkstore.contract.forks import BranchFork, ForkOptions

from .format import Text, row_text, split_line
from .headers import Header
from .index import Numbers, StructuralIndex
from .selecting import Selection, select


class Format4Source:
    """A `fork.Source`. `boundary` is the next sequence of a source that is open."""

    def __init__(self, path: str, header: Header, options: ForkOptions, boundary: int | None) -> None:
        self._path = path
        self._lower_bound = header.next_seq or 1
        self._options = options
        branch = options.branch if isinstance(options, BranchFork) else None
        self._index = StructuralIndex(path, branch=branch, boundary=boundary)

    @property
    def next_seq(self) -> int:
        """Keeps S-JSONL-FMT-12."""
        return max(self._index.last_seq + 1, self._lower_bound)

    def take(self, line: bytes, number: int) -> None:
        """Keeps S-JSONL-FORK-04, S-JSONL-FORK-06."""
        self._index.take(line, number)

    def finish(self) -> None:
        """Nothing is left to be looked at."""

    def select(self) -> Format4Copies:
        """Keeps S-FORK-BR-01 to S-FORK-BR-10, S-FORK-CLS-01 to S-FORK-CLS-08."""
        return Format4Copies(self._path, select(self._index, self._options))


class Format4Copies:
    """The `fork.Copies` of a selection."""

    def __init__(self, path: str, selection: Selection) -> None:
        self._path = path
        self._ordinals = selection.ordinals
        self._rows = selection.rewritten
        self._rows_left = sorted(selection.rewritten, reverse=True)  # by ordinal, the next one last
        self._records_met = 0
        self._records_chosen = 0

    def of_line(self, line: bytes, number: int) -> tuple[list[Text], int]:
        """Keeps S-FORK-DST-05, S-JSONL-FORK-08.

        Views keep their whole line in memory, so only a line that is copied as a whole gives views.
        """
        records = self._split(line, number)
        first, self._records_met = self._records_met, self._records_met + len(records)
        chosen = self._choose()
        size = len(line) + 1 + self._rewrite(records, first)
        if len(chosen) < len(records):
            records = [bytes(records[ordinal - first]) for ordinal in chosen]
            size = sum(map(len, records)) + len(records)
        return records, size

    def after_lines(self) -> list[bytes]:
        """Every record comes of a line."""
        return []

    def _split(self, line: bytes, number: int) -> list[Text]:
        try:
            return [*split_line(line)]
        except (ValueError, IndexError, RecursionError) as error:
            raise SessionFileChanged(self._path, f"line {number} holds no transaction any more") from error

    def _choose(self) -> Numbers:
        """The selected ordinals among the records met last."""
        start = self._records_chosen
        self._records_chosen = bisect_left(self._ordinals, self._records_met, start)
        return self._ordinals[start : self._records_chosen]

    def _rewrite(self, records: list[Text], first: int) -> int:
        """Puts rows that are written anew in their places; gives the bytes that they may add."""
        added = 0
        while self._rows_left and self._rows_left[-1] < self._records_met:
            ordinal = self._rows_left.pop()
            row = self._rows[ordinal]
            records[ordinal - first] = record = row_text(row.kind, row.seq, row.namespace, row.key, row.text)
            added += len(record)
        return added
