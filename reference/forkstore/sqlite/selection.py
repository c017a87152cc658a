"""What a fork copies of a SQLite source: the path of a branch, or the whole tree (spec sections 14 to 16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import apsw

from forkstore.contract.addresses import BRANCH_TIP, LANE_CONFIG, LANE_STATE, Kind
from forkstore.contract.codec import UndecodableText, decode
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.policy import ForkDriver, ForkRow, SelectedBranch, check_lane, select_branch
from forkstore.contract.records import Json

from .address_rows import AddressRows
from .batches import SizedRow
from .binding import any_text
from .branch_path import BranchPath
from .failing import Damage
from .source_entries import all_entries, parent_of, seq_of

_SCALAR: Final = "SELECT CAST(value AS BLOB) FROM scalar_values WHERE session_id = ? AND namespace = ? AND key = ?"


@dataclass(frozen=True, slots=True)
class Selection:
    """The entries and the rows that a fork reads, as streams, and what becomes of the rows.

    `path_tip` is the last entry of the path of a branch fork, None when the path is empty. `tip_stays` says that a row
    of a tip is copied as it stands: another writer may have made one that no commit would take.
    """

    entries: Iterator[SizedRow]
    is_path: bool
    path_tip: str | None
    tip_stays: bool
    _address_rows: AddressRows
    _driver: ForkDriver

    def source_rows(self, kind: Kind) -> Iterator[SizedRow]:
        """The rows of one kind that are read."""
        return self._address_rows.rows(kind)

    def writes(self, rows: Iterator[SizedRow], kind: Kind) -> Iterator[ForkRow]:
        """The destination writes of rows of one kind: each row passes the classifier (S-SQL-FORK-09)."""
        for _, namespace, key, seq, text in rows:
            if type(namespace) is not str or type(key) is not str:
                raise Damage(f"row {namespace!r}, {key!r}: its address is no text")
            row = ForkRow(namespace, key, kind, seq, text)
            for write in self._driver.take(row):
                yield row if self.tip_stays and namespace == BRANCH_TIP else write


def select(source: apsw.Connection, session_id: str, options: ForkOptions, stage: apsw.Connection) -> Selection:
    """The selection of a fork, made inside the snapshot; the chain of a branch's path goes into the stage.

    Raises UnknownBranch, DataOnlyBranch, EntryNotOnBranch, UndeclaredNamespace, and Damage where the branch index is
    broken (S-SQL-FORK-08). Keeps S-FORK-BR-01 to S-FORK-BR-11.
    """
    if isinstance(options, BranchFork):
        return _of_branch(source, session_id, options, stage)

    def is_entry(entry_id: str) -> bool:
        return seq_of(source, session_id, entry_id) is not None

    return Selection(
        entries=all_entries(source, session_id),
        is_path=False,
        path_tip=None,
        tip_stays=True,
        _address_rows=AddressRows(source, session_id, None),
        _driver=ForkDriver(options, is_entry),
    )


def _of_branch(source: apsw.Connection, session_id: str, options: BranchFork, stage: apsw.Connection) -> Selection:
    tip = _current_tip(source, session_id, options.branch)
    path = BranchPath(source, session_id, stage)
    path.follow(tip)
    selected = select_branch(
        options, tip, lambda entry_id, _: path.holds(entry_id), partial(parent_of, source, session_id)
    )
    tip_stays = selected.tip == tip
    if not tip_stays:
        path.end_at(selected.tip)
    return Selection(
        entries=path.rows(),
        is_path=True,
        path_tip=None if path.is_empty else selected.tip,
        tip_stays=tip_stays,
        _address_rows=AddressRows(source, session_id, options.branch),
        _driver=ForkDriver(SelectedBranch(options.branch, None) if tip_stays else selected, path.holds),
    )


def _current_tip(source: apsw.Connection, session_id: str, branch: str) -> Json:
    """The tip of a branch that can be forked. Raises UnknownBranch, DataOnlyBranch."""
    tip, config, state = (
        source.execute(_SCALAR, (session_id, namespace, any_text(branch))).get
        for namespace in (BRANCH_TIP, LANE_CONFIG, LANE_STATE)
    )
    check_lane(branch, tip=tip is not None, config=config is not None, state=state is not None)
    try:
        return decode(tip)
    except UndecodableText as error:
        raise Damage(f"scalar_values row {BRANCH_TIP!r}, {branch!r}: {error}") from error
