"""All shapes in one session: the shared source of S-FORK-EQ-02.

    main            linear             garden.*   scalars, lists, dead_history, numbers, deep
    bushy           limbs, islands     pi.op.*    an open operation, pending entries, frames, checkpoints
    lanes           every condition    ledger     usage, numbers
    labels, operations, usage, compacted, unicode, numbers, deep, wide, reserved_dead: a home lane each

The parts share the size out evenly and follow each other. Left out are `benchmark`, which is `linear` again; `giant`,
whose 16 MiB every use would pay for; and `reserved`, because this source can be forked.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import chain
from typing import Final

from forkgen.plan import Elements, Plan, Scalar, Transaction, merged
from forkgen.tree import Forest
from forkstore.contract.addresses import Address
from forkstore.contract.records import Record

from .bushy import Bushy
from .compacted import Compacted
from .dead_history import DeadHistory
from .deep import Deep
from .labels import Labels
from .lanes import Lanes
from .linear import Linear
from .lists import Lists
from .numbers import Numbers
from .operations import Operations
from .reserved import ReservedDead
from .scalars import Scalars
from .unicode import Unicode
from .usage import Usage
from .wide import Wide

PARTS: Final[tuple[type[Plan], ...]] = (
    Linear,
    Bushy,
    Lanes,
    Labels,
    Scalars,
    Lists,
    DeadHistory,
    Operations,
    Usage,
    Compacted,
    Unicode,
    Numbers,
    Deep,
    Wide,
    ReservedDead,
)


class Everything(Plan):
    """All shapes in one session that can be forked: the shared source of S-FORK-EQ-02."""

    name = "everything"
    unit = "entries, elements, addresses and branches together, about"

    def __init__(self, seed: int, size: int, home: str = "main") -> None:
        share = max(1, size // len(PARTS))
        self._parts = [
            part(seed, share, home if number == 0 else f"home of {part.name}") for number, part in enumerate(PARTS)
        ]
        super().__init__(seed, size, home)

    def tree(self) -> Forest:
        return Forest([part.entries for part in self._parts])

    def transactions(self) -> Iterator[Transaction]:
        return chain.from_iterable(part.transactions() for part in self._parts)

    def scalars(self) -> Iterator[Scalar]:
        return merged(*(part.scalars() for part in self._parts))

    def lists(self) -> Iterator[Elements]:
        return merge(*(part.lists() for part in self._parts), key=lambda found: _place(found[0]))

    def usage_rows(self) -> Iterator[Record]:
        return chain.from_iterable(part.usage_rows() for part in self._parts)

    def namespaces(self) -> list[str]:
        return sorted({namespace for part in self._parts for namespace in part.namespaces()})

    def touched_lists(self) -> Iterator[Address]:
        return merge(*(part.touched_lists() for part in self._parts), key=_place)


def _place(address: Address) -> tuple[str, str]:
    return address.namespace, address.key
