"""Numbers that change when they are read carelessly: in entries, scalars, lists and the ledger.

    −2^63 … 2^63−1   the limits, and the neighbours of 2^31, 2^32, 2^53
    0.1  1e16  1e-7  5e-324  1.7976931348623157e+308     every notation of a float
    1  1.0  true     three values        0.0  -0.0     two

    0 ── 1 ── 2 ── … ── n−1   main

Every number is the whole of a scalar and of a list element, whatever the size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import sentence
from forkgen.plan import Elements, Plan, Scalar, Transaction, in_order
from forkgen.tree import Tree, chain, numbered
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.records import Json, Record
from forkstore.contract.writes import ListAppend, UsageInsert, ValueSet

INTEGERS: Final = (
    *(sign * (2**power + step) for power in (0, 8, 31, 32, 53, 62) for step in (-1, 0, 1) for sign in (1, -1)),
    *(2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1),
)
FLOATS: Final = (
    0.0,
    -0.0,
    1.0,
    0.1,
    -0.5,
    1 / 3,
    2.5,
    100000.0,
    123456789.125,
    9999999999999998.0,
    1e16,
    1.5e16,
    1e22,
    1e23,
    0.0001,
    0.00001,
    1e-7,
    -1.25e-9,
    9007199254740993.0,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    2.2250738585072014e-308,
    5e-324,
)
PLAIN: Final = (True, False, None, 1, 1.0, 0, 0.0, -0.0)
NUMBERS: Final[tuple[Json, ...]] = (*INTEGERS, *FLOATS, *PLAIN)
NAMESPACE: Final = "garden.numbers"


class Numbers(Plan):
    """Numbers that change when they are read carelessly: the limits of integers, every notation of floats."""

    name = "numbers"
    own_namespaces = (NAMESPACE,)

    def tree(self) -> Tree:
        return Tree("numbers-entry-", self.size, chain, self._fields)

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        yield from map(self.append, range(self.entries.count))
        yield [ValueSet(*row) for row in self._value_rows()]
        yield [ListAppend(list_address(NAMESPACE), number) for number in NUMBERS]
        yield [UsageInsert(row) for row in self.usage_rows()]

    def scalars(self) -> Iterator[Scalar]:
        return iter(in_order([*self.home_rows(), *self._value_rows()]))

    def lists(self) -> Iterator[Elements]:
        yield list_address(NAMESPACE), iter(NUMBERS)

    def usage_rows(self) -> Iterator[Record]:
        """Rows whose sum is not that of any other order, with whole and broken numbers mixed."""
        for index, (spent, cost) in enumerate(((2**53, 0.1), (1, 0.2), (0.5, 0.3), (-(2**53), -0.0))):
            prices = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), cost)
            counts = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), spent)
            yield {
                "id": numbered("numbers-usage-", index),
                "usage": {**counts, "cost": prices, "reasoning": index},
                "adjustment": spent < 0,
            }

    def _fields(self, index: int) -> Record:
        draw = self.random.split("conversation").child(index)
        number = NUMBERS[index % len(NUMBERS)]
        if index % 5 == 4:
            return {
                "type": "compaction",
                "summary": sentence(draw),
                "retainedTail": [],
                "tokensBefore": draw.choice((0, 310, 310.5, 1e16, 2**62)),
                "fromHook": False,
                "details": number,
            }
        others = [draw.choice(NUMBERS) for _ in range(draw.below(6))]
        return {"type": "custom", "customType": "reading", "data": {"number": number, "others": others}}

    def _value_rows(self) -> list[Scalar]:
        return [(value_address(NAMESPACE, numbered("", place)), number) for place, number in enumerate(NUMBERS)]
