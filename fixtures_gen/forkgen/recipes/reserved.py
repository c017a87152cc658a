"""Rows in reserved namespaces that nobody declared. While one of them is there, every fork is refused.

    pi   pi.   pi.unknown   pi.op   pi.pending   pi.results   pi.result.x   pi.session   …      scalars and lists
    pi.branch.tip   pi.session.name   …                                                       lists only: the wrong kind

                     reserved        reserved_dead
    set, kept           ●                 ✕ deleted at the end
    set, deleted        ○ ✕               ○ ✕

    0 ── 1 ── 2 ── … ── n−1   main

`reserved_dead` is the same session, one commit later: all of them are deleted, their records stay in a file, and forks
succeed (S-FORK-CLS-07).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import json_value
from forkgen.plan import Elements, Plan, Scalar, Transaction, in_order
from forkstore.contract.addresses import Address, list_address, value_address
from forkstore.contract.records import Json
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet

UNDECLARED: Final = (
    "pi",
    "pi.",
    "pi.unknown",
    "pi.op",
    "pi.pending",
    "pi.results",
    "pi.result.x",
    "pi.session",
    "pi.session.name.x",
    "pi.entry",
    "pi.branch",
    "pi.lane",
)
SCALARS_ONLY: Final = (
    "pi.branch.tip",
    "pi.entry.label",
    "pi.lane.config",
    "pi.lane.state",
    "pi.result",
    "pi.session.name",
)
LISTS: Final = (*UNDECLARED, *SCALARS_ONLY)
_KEY: Final = "kept"
_GONE: Final = "gone"


class Reserved(Plan):
    """Live rows in undeclared reserved namespaces, beside deleted ones: every fork of it is refused."""

    name = "reserved"
    own_namespaces = UNDECLARED

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        for namespace in UNDECLARED:
            yield [ValueSet(value_address(namespace, key), "new") for key in (_KEY, _GONE)]
        for namespace in LISTS:
            yield [ListAppend(list_address(namespace, key), "first") for key in (_KEY, _GONE)]
        yield from map(self.append, range(self.entries.count))
        yield [ValueDelete(value_address(namespace, _GONE)) for namespace in UNDECLARED]
        yield [ListDelete(list_address(namespace, _GONE)) for namespace in LISTS]
        yield [ValueSet(*row) for row in self._kept()]
        yield [ListAppend(list_address(namespace, _KEY), "second") for namespace in LISTS]

    def scalars(self) -> Iterator[Scalar]:
        return iter(in_order([*self.home_rows(), *self._kept()]))

    def lists(self) -> Iterator[Elements]:
        for namespace in sorted(LISTS):
            elements: list[Json] = ["first", "second"]
            yield list_address(namespace, _KEY), iter(elements)

    def touched_lists(self) -> Iterator[Address]:
        return (list_address(namespace, key) for namespace in sorted(LISTS) for key in (_GONE, _KEY))

    def _kept(self) -> list[Scalar]:
        draw = self.random.split("values")
        return [(value_address(namespace, _KEY), json_value(draw)) for namespace in UNDECLARED]


class ReservedDead(Reserved):
    """The session of `reserved` after all undeclared rows were deleted: it can be forked."""

    name = "reserved_dead"

    def transactions(self) -> Iterator[Transaction]:
        yield from super().transactions()
        scalars = [ValueDelete(value_address(namespace, _KEY)) for namespace in UNDECLARED]
        yield [*scalars, *(ListDelete(list_address(namespace, _KEY)) for namespace in LISTS)]

    def scalars(self) -> Iterator[Scalar]:
        return iter(self.home_rows())

    def lists(self) -> Iterator[Elements]:
        return iter(())
