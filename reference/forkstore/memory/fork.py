"""The fork of a memory session: one pass over the source, as one job.

Records are immutable, so a destination shares them with its source and only the containers are copied: nothing is
decoded, encoded or duplicated (S-FORK-STR-07), and the source's sequences are kept.
"""

from __future__ import annotations

from forkstore.contract.addresses import BRANCH_TIP, LANE_CONFIG, LANE_STATE
from forkstore.contract.codec import decode
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.policy import ForkDriver, SelectedBranch, check_lane, select_branch
from forkstore.contract.records import Json
from forkstore.state import SessionState, TextRecord


def fork_state(source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
    """The destination of a fork, and the number of writes it holds.

    Raises UnknownBranch, DataOnlyBranch, EntryNotOnBranch, UndeclaredNamespace; the source is never changed.
    """
    destination = SessionState()
    destination.next_seq = source.next_seq
    if isinstance(options, BranchFork):
        selection = _select(source, options)
        _copy_path(source, destination, selection.tip)
        driver = ForkDriver(selection, destination.entries.__contains__)
    else:
        _copy_entries(source, destination)
        driver = ForkDriver(options, destination.entries.__contains__)
    count = len(destination.entries)
    for source_row in source.fork_rows():
        for row in driver.take(source_row):
            destination.put(row.kind, row.namespace, row.key, TextRecord(row.seq, row.text))
            count += 1
    return destination, count


def _select(source: SessionState, options: BranchFork) -> SelectedBranch:
    def is_ancestor(entry_id: str, tip: Json) -> bool:
        return any(entry.id == entry_id for entry in source.path(tip))

    def parent_of(entry_id: Json) -> str | None:
        entry = next(source.path(entry_id), None)
        return None if entry is None else entry.parent_id

    tip = source.scalar(BRANCH_TIP, options.branch)
    config, state = source.scalar(LANE_CONFIG, options.branch), source.scalar(LANE_STATE, options.branch)
    check_lane(options.branch, tip=tip is not None, config=config is not None, state=state is not None)
    return select_branch(options, None if tip is None else decode(tip.text), is_ancestor, parent_of)


def _copy_entries(source: SessionState, destination: SessionState) -> None:
    destination.entries = source.entries.copy()
    destination.entry_order = source.entry_order.copy()
    destination.message_count = source.message_count


def _copy_path(source: SessionState, destination: SessionState, tip: Json) -> None:
    destination.entry_order = list(source.path(tip))
    destination.entry_order.reverse()
    destination.entries = {entry.id: entry for entry in destination.entry_order}
    destination.message_count = sum(entry.type == "message" for entry in destination.entry_order)
