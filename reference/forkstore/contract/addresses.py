"""Where a scalar or a list lives: a namespace, a key and a kind (spec section 4).

An address is taken as it is: no trimming, no case folding, no Unicode normalization, no length limit (S-ADDR-02).
Building one in a reserved namespace is legal (S-ADDR-06); what a fork makes of it is the business of
`forkstore.contract.policy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from .errors import InvalidAddress
from .text import text_fault

Kind = Literal["value", "list"]


@dataclass(frozen=True, slots=True)
class Address:
    """One location of a session. Addresses with equal namespace, key and kind name one location (S-ADDR-03).

    Raises InvalidAddress for an empty namespace, a namespace or key that is not a str or holds U+0000 or a lone
    surrogate (S-ADDR-01), and for a kind other than `value` and `list`.
    """

    namespace: str
    key: str
    kind: Kind

    def __post_init__(self) -> None:
        for field, text in (("namespace", self.namespace), ("key", self.key)):
            fault = text_fault(text, allow_nul=False)
            if fault is not None:
                raise InvalidAddress(field, fault)
        if not self.namespace:
            raise InvalidAddress("namespace", "is empty")
        if self.kind not in ("value", "list"):
            raise InvalidAddress("kind", "is neither 'value' nor 'list'")


def value_address(namespace: str, key: str = "") -> Address:
    """The address of a scalar. Raises InvalidAddress."""
    return Address(namespace, key, "value")


def list_address(namespace: str, key: str = "") -> Address:
    """The address of a list. Raises InvalidAddress."""
    return Address(namespace, key, "list")


def is_reserved(namespace: str) -> bool:
    """Whether a namespace belongs to the contract: exactly `pi`, or any name that starts with `pi.` (S-ADDR-05)."""
    return namespace == "pi" or namespace.startswith("pi.")


RESERVED_RANGES: Final = (("pi", "pi\0"), ("pi.", "pi/"))
"""The reserved namespaces by code point: from the one, below the other. No namespace holds U+0000."""

BRANCH_TIP: Final = "pi.branch.tip"
LANE_CONFIG: Final = "pi.lane.config"
LANE_STATE: Final = "pi.lane.state"
OPERATION_RESULT: Final = "pi.result"
OPERATION_META: Final = "pi.op.meta"
OPERATION_STATE: Final = "pi.op.state"
OPERATION_TOOL_ARGS: Final = "pi.op.tool_args"
OPERATION_TOOL_MEMO: Final = "pi.op.tool_memo"
OPERATION_PREPARATION: Final = "pi.op.preparation"
PENDING_ENTRY: Final = "pi.pending.entry"
PENDING_TOOL_OUTPUT: Final = "pi.pending.tool_output"
PENDING_ASSISTANT_FRAME: Final = "pi.pending.assistant_frame"
SESSION_NAME: Final = "pi.session.name"
ENTRY_LABEL: Final = "pi.entry.label"

BUILT_IN_ADDRESSES: Final[tuple[tuple[str, Kind], ...]] = (
    (BRANCH_TIP, "value"),
    (LANE_CONFIG, "value"),
    (LANE_STATE, "value"),
    (OPERATION_RESULT, "value"),
    (OPERATION_META, "value"),
    (OPERATION_STATE, "value"),
    (OPERATION_TOOL_ARGS, "value"),
    (OPERATION_TOOL_MEMO, "value"),
    (OPERATION_PREPARATION, "value"),
    (PENDING_ENTRY, "value"),
    (PENDING_TOOL_OUTPUT, "value"),
    (PENDING_ASSISTANT_FRAME, "list"),
    (SESSION_NAME, "value"),
    (ENTRY_LABEL, "value"),
)
"""Namespace and kind of the fourteen built-in addresses, in the order of section 4.1 (S-ADDR-07)."""


def branch_tip(branch: str) -> Address:
    """The tip of a branch: an entry id or null."""
    return value_address(BRANCH_TIP, branch)


def lane_config(branch: str) -> Address:
    """The configuration of a lane."""
    return value_address(LANE_CONFIG, branch)


def lane_state(branch: str) -> Address:
    """The state of a lane."""
    return value_address(LANE_STATE, branch)


def operation_result(operation: str) -> Address:
    """The result of an ended operation."""
    return value_address(OPERATION_RESULT, operation)


def operation_meta(operation: str) -> Address:
    """What an operation was started with."""
    return value_address(OPERATION_META, operation)


def operation_state(operation: str) -> Address:
    """Where an open operation stands."""
    return value_address(OPERATION_STATE, operation)


def operation_tool_args(operation: str, step: str | int, source_index: str | int) -> Address:
    """The arguments of one tool call of an operation's step."""
    return value_address(OPERATION_TOOL_ARGS, _joined(operation=operation, step=step, source_index=source_index))


def operation_tool_memo(operation: str, invocation: str, name: str) -> Address:
    """A named memo of one tool invocation."""
    return value_address(OPERATION_TOOL_MEMO, _joined(operation=operation, invocation=invocation, name=name))


def operation_preparation(operation: str, task: str) -> Address:
    """The preparation of a summary task."""
    return value_address(OPERATION_PREPARATION, _joined(operation=operation, task=task))


def pending_entry(entry_id: str) -> Address:
    """An entry that waits to be placed in the tree."""
    return value_address(PENDING_ENTRY, entry_id)


def pending_tool_output(operation: str, invocation: str) -> Address:
    """The output of a tool invocation that is not placed yet."""
    return value_address(PENDING_TOOL_OUTPUT, _joined(operation=operation, invocation=invocation))


def pending_assistant_frames(operation: str, response_entry_id: str) -> Address:
    """The frames of an assistant message that still streams: a list."""
    return list_address(PENDING_ASSISTANT_FRAME, _joined(operation=operation, response_entry_id=response_entry_id))


def session_name() -> Address:
    """The name of the session."""
    return value_address(SESSION_NAME)


def entry_label(entry_id: str) -> Address:
    """The label of an entry."""
    return value_address(ENTRY_LABEL, entry_id)


def branch_tip_prefix() -> Address:
    """Scan prefix of all branch tips."""
    return value_address(BRANCH_TIP)


def operation_tool_args_prefix(operation: str, step: str | int | None = None) -> Address:
    """Scan prefix of the tool arguments of an operation, or of one of its steps."""
    parts = {"operation": operation} if step is None else {"operation": operation, "step": step}
    return value_address(OPERATION_TOOL_ARGS, _joined(**parts) + ":")


def operation_tool_memo_prefix(operation: str, invocation: str | None = None) -> Address:
    """Scan prefix of the tool memos of an operation, or of one of its invocations."""
    parts = {"operation": operation} if invocation is None else {"operation": operation, "invocation": invocation}
    return value_address(OPERATION_TOOL_MEMO, _joined(**parts) + ":")


def operation_preparation_prefix(operation: str) -> Address:
    """Scan prefix of the preparations of an operation."""
    return value_address(OPERATION_PREPARATION, _joined(operation=operation) + ":")


def pending_tool_output_prefix(operation: str) -> Address:
    """Scan prefix of the pending tool outputs of an operation."""
    return value_address(PENDING_TOOL_OUTPUT, _joined(operation=operation) + ":")


def _joined(**parts: str | int) -> str:
    """The parts of a compound key, joined with colons; positions are whole numbers or text."""
    for field, part in parts.items():
        if type(part) is not str and type(part) is not int:
            raise InvalidAddress(field, "is not a string")
    return ":".join(map(str, parts.values()))
