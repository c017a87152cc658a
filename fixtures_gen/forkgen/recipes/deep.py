"""Values nested to the limit, in every place that takes one.

    [[[[ … 200 … ]]]]   {"n":{"n": … }}   and both in turn; beside them shallow ones of depth 0, 1, 2, 100, 199

    0 ── 1 ── 2 ── … ── n−1   main     data of custom entries, messages, details and retained tails of compactions
    garden.deep                        a scalar and a list element of every depth

The first entry is as deep as can be, in every session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import message_fields, sentence, user_message
from forkgen.plan import Elements, Plan, Scalar, Transaction, in_order
from forkgen.tree import Tree, chain, numbered
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.records import Json, Record
from forkstore.contract.writes import ListAppend, ValueSet

LIMIT: Final = 200
"""The greatest depth of a payload field, and of a message of a retained tail (S-VAL-09)."""
DEPTHS: Final = (0, 1, 2, 100, LIMIT - 1, LIMIT)
NAMESPACE: Final = "garden.deep"


def nested(depth: int, form: int) -> Json:
    """A value of this depth: arrays (form 0), objects (1), or both in turn (2)."""
    value: Json = "bottom"
    for level in range(depth):
        array = form == 0 or (form == 2 and level % 2)
        value = [value] if array else {"n": value}
    return value


class Deep(Plan):
    """Values nested to the limit of 200, in every place that takes one."""

    name = "deep"
    own_namespaces = (NAMESPACE,)

    def tree(self) -> Tree:
        return Tree("deep-entry-", self.size, chain, self._fields)

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        yield from map(self.append, range(self.entries.count))
        yield [ValueSet(*row) for row in self._value_rows()]
        yield [ListAppend(list_address(NAMESPACE), value) for value in _values()]

    def scalars(self) -> Iterator[Scalar]:
        return iter(in_order([*self.home_rows(), *self._value_rows()]))

    def lists(self) -> Iterator[Elements]:
        yield list_address(NAMESPACE), _values()

    def _fields(self, index: int) -> Record:
        draw = self.random.split("conversation").child(index)
        depth, form = draw.choice(DEPTHS), draw.below(3)
        match index % 3:
            case 0:
                return {"type": "custom", "customType": "nest", "data": nested(LIMIT if index == 0 else depth, form)}
            case 1:
                return message_fields({**user_message(sentence(draw), index), "extra": nested(LIMIT - 1, form)})
        return {
            "type": "compaction",
            "summary": sentence(draw),
            "retainedTail": [{**user_message(sentence(draw), index), "extra": nested(LIMIT - 1, form)}],
            "tokensBefore": 310,
            "fromHook": True,
            "details": nested(depth, form),
        }

    def _value_rows(self) -> list[Scalar]:
        return [(value_address(NAMESPACE, numbered("", place)), value) for place, value in enumerate(_values())]


def _values() -> Iterator[Json]:
    return (nested(depth, form) for depth in DEPTHS for form in range(3))
