"""What the author of a backend builds with: everything that `forkstore` gives besides its callers' names.

A backend is a `Storage` and a `SessionRepo`. `Session` puts sessions, branches and scopes on any storage,
`Reservations` and `Closing` keep a repository's promises about ids and endings, `prepare` and `place` check and
number commits, the queries check and answer reads, `select_branch` and `ForkDriver` decide what a fork takes, and
`encode` and `decode` are the one codec. `SessionState` and `StateReads` hold a session's data in memory and
answer every read from it. `forkstore.memory` shows all of them at work.
"""

from __future__ import annotations

from .closing import Closing
from .contract.addresses import BRANCH_TIP, LANE_CONFIG, LANE_STATE
from .contract.codec import UndecodableText, decode, encode
from .contract.forks import check_fork_options
from .contract.ids import check_session_id, encoded_session_id, session_database_name
from .contract.policy import ForkDriver, ForkRow, SelectedBranch, check_lane, select_branch
from .contract.queries import (
    BranchArguments,
    BranchQuery,
    EntryArguments,
    EntryQuery,
    ListArguments,
    ListQuery,
    UsageArguments,
    UsageQuery,
    check_address,
    check_entry_ids,
)
from .contract.records import Json, NewEntry, NewUsageRow, Record, copy_usage, entry_structure, zero_usage
from .contract.writes import AddressWrite, Placement, PreparedWrite, place, prepare
from .options import (
    Clock,
    Probe,
    check_metadata,
    check_parent_session_id,
    checked_generator,
    new_identity,
    refuse_cwd,
)
from .reservations import Reservation, Reservations
from .session import Session
from .settling import settled
from .state import EntryRecord, SessionState, TextRecord
from .state_reads import StateReads

__all__ = [
    "BRANCH_TIP",
    "LANE_CONFIG",
    "LANE_STATE",
    "AddressWrite",
    "BranchArguments",
    "BranchQuery",
    "Clock",
    "Closing",
    "EntryArguments",
    "EntryQuery",
    "EntryRecord",
    "ForkDriver",
    "ForkRow",
    "Json",
    "ListArguments",
    "ListQuery",
    "NewEntry",
    "NewUsageRow",
    "Placement",
    "PreparedWrite",
    "Probe",
    "Record",
    "Reservation",
    "Reservations",
    "SelectedBranch",
    "Session",
    "SessionState",
    "StateReads",
    "TextRecord",
    "UndecodableText",
    "UsageArguments",
    "UsageQuery",
    "check_address",
    "check_entry_ids",
    "check_fork_options",
    "check_lane",
    "check_metadata",
    "check_parent_session_id",
    "check_session_id",
    "checked_generator",
    "copy_usage",
    "decode",
    "encode",
    "encoded_session_id",
    "entry_structure",
    "new_identity",
    "place",
    "prepare",
    "refuse_cwd",
    "select_branch",
    "session_database_name",
    "settled",
    "zero_usage",
]
