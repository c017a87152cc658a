"""A fork's source in legacy form: entries are copied as they are normalized, and the derived rows after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from forkstore.contract.addresses import BRANCH_TIP, LANE_CONFIG, LANE_STATE
from forkstore.contract.errors import LegacyEntryId
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.ids import IdGenerator
from forkstore.contract.policy import ForkDriver, ForkRow, SelectedBranch, check_lane, select_branch
from forkstore.contract.records import Json

from .format import Text, row_text
from .legacy import LegacyIndex, LegacyTexts
from .selecting import ELSEWHERE


class LegacySource:
    """A `fork.Source`. Raises LegacyEntryId when the options name an entry (S-V3-24)."""

    def __init__(self, path: str, session_id: str, options: ForkOptions, id_generator: IdGenerator) -> None:
        if isinstance(options, BranchFork) and options.entry_id is not None:
            raise LegacyEntryId(session_id, options.entry_id)
        self._options = options
        self._index = LegacyIndex(path, id_generator)

    @property
    def next_seq(self) -> int:
        """Keeps S-V3-09."""
        return self._index.next_seq

    def take(self, line: bytes, number: int) -> None:
        """Keeps S-V3-05, S-V3-06, S-V3-12."""
        self._index.take(line, number)

    def finish(self) -> None:
        """Keeps S-V3-10."""
        self._index.finish()

    def select(self) -> LegacyCopies:
        """Keeps S-V3-25, S-V3-26."""
        rows = self._current_rows()
        parents = {entry.id: entry.parent_id for entry in self._index.entries}
        selection: ForkOptions | SelectedBranch = self._options
        is_member: Callable[[str], bool] = parents.__contains__
        if isinstance(selection, BranchFork):
            selection = self._selected_branch(selection, rows, parents)
            is_member = set(_path(parents, selection.tip)).__contains__
        driver = ForkDriver(selection, is_member)
        taken = [row for found in rows.values() for row in driver.take(found)]
        return LegacyCopies(self._index.texts(), is_member, {row.seq: row for row in taken})

    def _current_rows(self) -> dict[tuple[str, str], ForkRow]:
        """The derived writes, folded as replay folds them."""
        rows: dict[tuple[str, str], ForkRow] = {}
        for write in self._index.derived:
            if write.op == "set":
                place = write.namespace, write.key
                rows[place] = ForkRow(write.namespace, write.key, "value", write.seq, ELSEWHERE)
            else:
                rows.pop((write.namespace, write.key), None)
        return rows

    def _selected_branch(
        self, options: BranchFork, rows: dict[tuple[str, str], ForkRow], parents: dict[str, str | None]
    ) -> SelectedBranch:
        branch = options.branch
        tip, config = (BRANCH_TIP, branch) in rows, (LANE_CONFIG, branch) in rows
        check_lane(branch, tip=tip, config=config, state=(LANE_STATE, branch) in rows)
        # Nobody can name an entry, so nobody asks for ancestors.
        return select_branch(options, self._index.tip, lambda entry_id, tip: False, parents.get)


class LegacyCopies:
    """The `fork.Copies` of the members and of the rows, which are given by their sequences."""

    def __init__(self, texts: LegacyTexts, is_member: Callable[[str], bool], rows: dict[int, ForkRow]) -> None:
        self._texts = texts
        self._is_member = is_member
        self._rows = rows

    def of_line(self, line: bytes, number: int) -> tuple[list[Text], int]:
        """Keeps S-V3-08, S-V3-11."""
        entry = self._texts.take(line, number)
        if entry is None or not self._is_member(entry.id):
            return [], 0
        return [entry.text], len(entry.text) + 1

    def after_lines(self) -> Iterator[bytes]:
        """Keeps S-V3-13, S-V3-14."""
        for write, text in self._texts.derived():
            row = self._rows.get(write.seq)
            if row is not None:
                yield row_text("value", write.seq, write.namespace, write.key, row.text or text)


def _path(parents: dict[str, str | None], entry_id: Json) -> Iterator[str]:
    while entry_id is not None:
        yield entry_id
        entry_id = parents[entry_id]
