"""What becomes of a row in a fork: forkgen's own reading of section 16, for its expectations.

It shares nothing with the store's classifier, so that a fault there shows against it.
"""

from __future__ import annotations

import enum
from typing import Final

from forkstore.contract.addresses import (
    BRANCH_TIP,
    ENTRY_LABEL,
    LANE_CONFIG,
    LANE_STATE,
    OPERATION_RESULT,
    SESSION_NAME,
    Address,
    is_reserved,
)


class Fate(enum.Enum):
    """What a fork does with a current row."""

    KEPT = "in every fork"
    WITH_ITS_ENTRY = "where its entry goes"
    LANE = "with its lane"
    APPLICATION = "in tree forks"
    LEFT = "in no fork"
    REFUSED = "fails the fork"


_DECLARED: Final = {
    SESSION_NAME: Fate.KEPT,
    ENTRY_LABEL: Fate.WITH_ITS_ENTRY,
    BRANCH_TIP: Fate.LANE,
    LANE_CONFIG: Fate.LANE,
    LANE_STATE: Fate.LANE,
    OPERATION_RESULT: Fate.LEFT,
}


def fate(address: Address) -> Fate:
    """The fate of a current row at an address."""
    if not is_reserved(address.namespace):
        return Fate.APPLICATION
    if address.namespace.startswith("pi.op.") or address.namespace.startswith("pi.pending."):
        return Fate.LEFT
    if address.kind == "list":
        return Fate.REFUSED
    return _DECLARED.get(address.namespace, Fate.REFUSED)
