"""forkgen's own sum over a usage ledger, for its expectations (spec section 3.3, S-ENT-10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from forkstore.contract.records import Record

_NUMBERS: Final = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
_COSTS: Final = ("input", "output", "cacheRead", "cacheWrite", "total")
_OPTIONAL: Final = ("cacheWrite1h", "reasoning")


def summed(rows: Iterable[Record]) -> Record:
    """The field-by-field sum in the order of the rows; an optional number is there if any row has it."""
    numbers, costs, optional = dict.fromkeys(_NUMBERS, 0), dict.fromkeys(_COSTS, 0), dict[str, int]()
    for row in rows:
        usage = row["usage"]
        for name in _NUMBERS:
            numbers[name] += usage[name]
        for name in _COSTS:
            costs[name] += usage["cost"][name]
        for name in _OPTIONAL:
            if name in usage:
                optional[name] = optional.get(name, 0) + usage[name]
    return {**numbers, "cost": costs, **optional}
