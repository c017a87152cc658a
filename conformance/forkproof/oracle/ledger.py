"""The kit's own sum over a usage ledger (section 3.3 and S-ENT-10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

REQUIRED = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
COSTS = ("input", "output", "cacheRead", "cacheWrite", "total")
OPTIONAL = ("cacheWrite1h", "reasoning")


def zero_usage() -> dict[str, Any]:
    """The usage of an empty ledger, in the contract's member order."""
    return {**dict.fromkeys(REQUIRED, 0), "cost": dict.fromkeys(COSTS, 0)}


def summed(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The field-by-field sum over ledger rows, in their order. An optional number appears only if a row has it."""
    total = zero_usage()
    for row in rows:
        usage = row["usage"]
        for name in REQUIRED:
            total[name] = total[name] + usage[name]
        for name in COSTS:
            total["cost"][name] = total["cost"][name] + usage["cost"][name]
        for name in OPTIONAL:
            if name in usage:
                total[name] = total.get(name, 0) + usage[name]
    return total
