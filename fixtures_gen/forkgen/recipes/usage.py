"""A ledger with a row for every entry, of every form.

    0 ── 1 ── 2 ── 3 ── … ── n−1   main
    $    $    $    $         $     plain · with cacheWrite1h · with reasoning · an adjustment downwards
                                   · of no entry · of an entry that does not exist, with details

Costs are exact ratios of small whole numbers. A fork begins with an empty ledger.
"""

from __future__ import annotations

from collections.abc import Iterator

from forkgen.content import usage
from forkgen.plan import Plan, Transaction
from forkgen.tree import numbered
from forkstore.contract.records import Record
from forkstore.contract.writes import UsageInsert


class Usage(Plan):
    """A ledger with a row for every entry, of every form."""

    name = "usage"

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        for index in range(self.entries.count):
            yield [*self.append(index), UsageInsert(self._row(index))]

    def usage_rows(self) -> Iterator[Record]:
        return map(self._row, range(self.entries.count))

    def _row(self, index: int) -> Record:
        draw = self.random.split("ledger").child(index)
        row: Record = {"id": numbered("usage-row-", index), "usage": usage(draw), "adjustment": False}
        match index % 6:
            case 1:
                row["usage"] |= {"cacheWrite1h": draw.below(100)}
            case 2:
                row["usage"] |= {"reasoning": draw.below(500)}
            case 3:
                row |= {"adjustment": True, "usage": _negative(row["usage"])}
            case 4:
                return row
            case 5:
                return {**row, "entryId": f"entry of {index}, forgotten", "details": {"price list": [2, None]}}
        return {**row, "entryId": self.entries.id(index)}


def _negative(spent: Record) -> Record:
    return {name: _negative(value) if name == "cost" else -value for name, value in spent.items()}
