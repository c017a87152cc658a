"""The kit's own reading of section 16: what a fork does with one current scalar or one surviving list element."""

from __future__ import annotations

from typing import Any

from forkproof.oracle.state import Location

SESSION_NAME = "pi.session.name"
ENTRY_LABEL = "pi.entry.label"
BRANCH_TIP = "pi.branch.tip"
LANE_CONFIG = "pi.lane.config"
LANE_STATE = "pi.lane.state"
RESULT = "pi.result"
SCALARS_ONLY = (SESSION_NAME, ENTRY_LABEL, BRANCH_TIP, LANE_CONFIG, LANE_STATE, RESULT)
WORK = ("pi.op.", "pi.pending.")


class ForkRefused(Exception):
    """The model's answer to a fork that the contract refuses: the name of the error class, and its attributes."""

    def __init__(self, refusal: str, **attributes: Any) -> None:
        self.refusal = refusal
        self.attributes = attributes
        super().__init__(f"{refusal}({', '.join(f'{name}={value!r}' for name, value in attributes.items())})")


def idle_state() -> dict[str, Any]:
    """The state of a lane that does nothing (section 4.2)."""
    return {"currentOperationId": None, "lastOperationId": None, "inbox": []}


def is_reserved(namespace: str) -> bool:
    """Whether the namespace belongs to the store: exactly `pi`, or below `pi.`, compared with case."""
    return namespace == "pi" or namespace.startswith("pi.")


def is_work(namespace: str) -> bool:
    """Operation rows and pending work, which no fork takes along, whatever their kind."""
    return namespace.startswith(WORK)


def refuse_undeclared(namespace: str, kind: str) -> None:
    """Raises `ForkRefused` for a row that no fork may meet."""
    if not is_reserved(namespace) or is_work(namespace):
        return
    if namespace not in SCALARS_ONLY or kind == "list":
        raise ForkRefused("UndeclaredNamespace", namespace=namespace, kind=kind)


def scalar_in_tree_fork(location: Location, value: Any, entries: set[str]) -> tuple[bool, Any]:
    """Whether a tree fork takes the scalar, and its value there."""
    namespace, key = location
    if namespace == RESULT or is_work(namespace):
        return False, None
    if namespace == ENTRY_LABEL:
        return key in entries, value
    return True, idle_state() if namespace == LANE_STATE else value


def scalar_in_branch_fork(
    location: Location, value: Any, entries: set[str], branch: str, tip: str | None
) -> tuple[bool, Any]:
    """Whether a branch fork takes the scalar, and its value there."""
    namespace, key = location
    if namespace == SESSION_NAME:
        return True, value
    if namespace == ENTRY_LABEL:
        return key in entries, value
    if key != branch or namespace not in (BRANCH_TIP, LANE_CONFIG, LANE_STATE):
        return False, None
    return True, {BRANCH_TIP: tip, LANE_CONFIG: value, LANE_STATE: idle_state()}[namespace]
