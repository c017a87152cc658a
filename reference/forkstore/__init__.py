"""forkstore: the reference session store.

The contract (`forkstore.contract`), sessions over any storage (`forkstore.session`), and the backends. All public
names can be imported from here; a backend is loaded when its name is first used, so importing `forkstore` costs none
of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .contract.addresses import (
    Address,
    branch_tip,
    branch_tip_prefix,
    entry_label,
    lane_config,
    lane_state,
    list_address,
    operation_meta,
    operation_preparation,
    operation_preparation_prefix,
    operation_result,
    operation_state,
    operation_tool_args,
    operation_tool_args_prefix,
    operation_tool_memo,
    operation_tool_memo_prefix,
    pending_assistant_frames,
    pending_entry,
    pending_tool_output,
    pending_tool_output_prefix,
    session_name,
    value_address,
)
from .contract.errors import (
    BranchExists,
    CommitAlreadyAttempted,
    CorruptSession,
    DataOnlyBranch,
    DuplicateId,
    EntryNotOnBranch,
    ForeignSession,
    InvalidAddress,
    InvalidArgument,
    InvalidBranchName,
    InvalidForkOptions,
    InvalidQuery,
    InvalidSessionId,
    InvalidValue,
    LegacyEntryId,
    LegacySourceOpen,
    PendingMessage,
    RepoClosed,
    ScopeEnded,
    SessionClosed,
    SessionExists,
    SessionFileChanged,
    SessionInUse,
    SessionNotFound,
    SessionStoreError,
    StoreIOError,
    UndeclaredNamespace,
    UnknownBranch,
    UnknownEntry,
    UnknownParent,
    UnsupportedVersion,
)
from .contract.files import FileError, FileInfo, Files, LineReader
from .contract.forks import (
    BranchFork,
    ForkOptions,
    ForkProbe,
    TreeFork,
    fork_options_from_wire,
    fork_options_to_wire,
)
from .contract.ids import IdGenerator, Uuid7Generator
from .contract.records import ABSENT, SessionStats
from .contract.store import ListElement, SessionMetadata, SessionRepo, Storage, ValueRow
from .contract.writes import (
    CommitResult,
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
)

if TYPE_CHECKING:
    from .jsonl import JsonlSessionRepo, LocalFiles
    from .memory import MemorySessionRepo
    from .session import Branch, Session
    from .sqlite import SqliteSessionRepo, open_connection

_LAZY = {
    "JsonlSessionRepo": ".jsonl",
    "LocalFiles": ".jsonl",
    "MemorySessionRepo": ".memory",
    "Branch": ".session",
    "Session": ".session",
    "SqliteSessionRepo": ".sqlite",
    "open_connection": ".sqlite",
}

__all__ = [
    "ABSENT",
    "Address",
    "Branch",
    "BranchExists",
    "BranchFork",
    "CommitAlreadyAttempted",
    "CommitResult",
    "CorruptSession",
    "DataOnlyBranch",
    "DuplicateId",
    "EntryInsert",
    "EntryNotOnBranch",
    "FileError",
    "FileInfo",
    "Files",
    "ForeignSession",
    "ForkOptions",
    "ForkProbe",
    "IdGenerator",
    "InvalidAddress",
    "InvalidArgument",
    "InvalidBranchName",
    "InvalidForkOptions",
    "InvalidQuery",
    "InvalidSessionId",
    "InvalidValue",
    "JsonlSessionRepo",
    "LegacyEntryId",
    "LegacySourceOpen",
    "LineReader",
    "ListAppend",
    "ListDelete",
    "ListElement",
    "LocalFiles",
    "MemorySessionRepo",
    "PendingMessage",
    "RepoClosed",
    "ScopeEnded",
    "Session",
    "SessionClosed",
    "SessionExists",
    "SessionFileChanged",
    "SessionInUse",
    "SessionMetadata",
    "SessionNotFound",
    "SessionRepo",
    "SessionStats",
    "SessionStoreError",
    "SqliteSessionRepo",
    "Storage",
    "StoreIOError",
    "TreeFork",
    "UndeclaredNamespace",
    "UnknownBranch",
    "UnknownEntry",
    "UnknownParent",
    "UnsupportedVersion",
    "UsageInsert",
    "Uuid7Generator",
    "ValueDelete",
    "ValueRow",
    "ValueSet",
    "Write",
    "branch_tip",
    "branch_tip_prefix",
    "entry_label",
    "fork_options_from_wire",
    "fork_options_to_wire",
    "lane_config",
    "lane_state",
    "list_address",
    "open_connection",
    "operation_meta",
    "operation_preparation",
    "operation_preparation_prefix",
    "operation_result",
    "operation_state",
    "operation_tool_args",
    "operation_tool_args_prefix",
    "operation_tool_memo",
    "operation_tool_memo_prefix",
    "pending_assistant_frames",
    "pending_entry",
    "pending_tool_output",
    "pending_tool_output_prefix",
    "session_name",
    "value_address",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
