"""A session described twice: as the writes that make it, and as what must be there when they are done.

The second description is a recipe's own knowledge of how its story ends, row by row; nothing replays the first. A plan
is a pure function of seed and size: every call gives the same, and nothing is kept that grows with the size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from heapq import merge
from typing import ClassVar, Final, Protocol

from forkstore.contract.addresses import (
    BUILT_IN_ADDRESSES,
    Address,
    branch_tip,
    lane_config,
    lane_state,
)
from forkstore.contract.records import Json, Record
from forkstore.contract.writes import EntryInsert, ValueDelete, ValueSet, Write

from .content import conversation_fields, idle_state, lane_configuration
from .random import Generator
from .tree import Entries, Tree, chain

Transaction = list[Write]
Scalar = tuple[Address, Json]
Elements = tuple[Address, Iterator[Json]]
"""A list: its address, and its surviving elements, oldest first."""

BUILT_IN_NAMESPACES: Final = tuple(namespace for namespace, kind in BUILT_IN_ADDRESSES if kind == "value")


class Holdings(Protocol):
    """What a session holds. Scalars and lists come by namespace and then key, both by code point."""

    @property
    def entries(self) -> Entries: ...
    @property
    def members(self) -> Collection[int]:
        """The indexes of the entries that are there, rising."""
        ...

    def scalars(self) -> Iterator[Scalar]: ...
    def lists(self) -> Iterator[Elements]: ...
    def usage_rows(self) -> Iterator[Record]: ...
    def namespaces(self) -> list[str]:
        """The namespaces of all scalars that were ever there, here or in a source, and the built-in ones; sorted."""
        ...

    def touched_lists(self) -> Iterator[Address]:
        """The addresses of all lists that were ever there, here or in a source; sorted."""
        ...


class Plan(ABC):
    """The base of all recipes: a conversation on one lane, and nothing else, unless a recipe says more.

    `home` names that lane. `unit` says what `size` counts. A subclass with application scalars lists their namespaces
    in `own_namespaces`.
    """

    name: ClassVar[str]
    unit: ClassVar[str] = "entries"
    own_namespaces: ClassVar[tuple[str, ...]] = ()

    def __init__(self, seed: int, size: int, home: str = "main") -> None:
        self.size = size
        self.home = home
        self.random = Generator(seed).split(self.name)
        self.entries: Entries = self.tree()

    def tree(self) -> Entries:
        """The entries: here one linear conversation of `size` entries."""
        return self.conversation(self.size)

    def conversation(self, count: int) -> Tree:
        """A linear conversation."""
        draw = self.random.split("conversation")
        return Tree(f"{self.name}-entry-", count, chain, lambda index: conversation_fields(draw.child(index), index))

    @property
    def members(self) -> Collection[int]:
        """All entries."""
        return range(self.entries.count)

    @abstractmethod
    def transactions(self) -> Iterator[Transaction]:
        """The writes, transaction by transaction."""

    def scalars(self) -> Iterator[Scalar]:
        """The current scalars at the end."""
        return iter(self.home_rows())

    def lists(self) -> Iterator[Elements]:
        """The lists at the end."""
        return iter(())

    def usage_rows(self) -> Iterator[Record]:
        """The usage ledger."""
        return iter(())

    def namespaces(self) -> list[str]:
        """Where scalars were ever set, and the built-in namespaces."""
        return sorted({*BUILT_IN_NAMESPACES, *self.own_namespaces})

    def touched_lists(self) -> Iterator[Address]:
        """Where lists ever were: those of `lists` unless a recipe deletes some."""
        return (address for address, _ in self.lists())

    @property
    def last_id(self) -> str:
        """The id of the last entry."""
        return self.entries.id(self.entries.count - 1)

    def insert(self, index: int) -> EntryInsert:
        """The write of one entry."""
        return EntryInsert(self.entries.new_entry(index))

    def append(self, index: int) -> Transaction:
        """What an append to the home lane commits: the entry and the tip."""
        return [self.insert(index), ValueSet(branch_tip(self.home), self.entries.id(index))]

    def open_home(self) -> Transaction:
        """The first writes of the home lane: no tip yet."""
        return lane_writes(self.home, None)

    def home_rows(self) -> list[Scalar]:
        """The rows of the home lane at the end: configured, idle, at the last entry."""
        return lane_rows(self.home, self.last_id)


def lane_writes(branch: str, tip: str | None, config: Record | None = None, state: Record | None = None) -> Transaction:
    """The three sets of a lane."""
    return [ValueSet(address, value) for address, value in lane_rows(branch, tip, config, state)]


def lane_rows(branch: str, tip: str | None, config: Record | None = None, state: Record | None = None) -> list[Scalar]:
    """The three rows of a lane, by namespace; configured plainly and idle unless given otherwise."""
    return [
        (branch_tip(branch), tip),
        (lane_config(branch), lane_configuration() if config is None else config),
        (lane_state(branch), idle_state() if state is None else state),
    ]


def lane_removal(branch: str) -> Transaction:
    """The three deletes of a lane."""
    return [ValueDelete(address) for address, _ in lane_rows(branch, None)]


def place(scalar: Scalar) -> tuple[str, str]:
    """What scalars are sorted by."""
    return scalar[0].namespace, scalar[0].key


def in_order(rows: Iterable[Scalar]) -> list[Scalar]:
    """A few rows, sorted."""
    return sorted(rows, key=place)


def merged(*rows: Iterable[Scalar]) -> Iterator[Scalar]:
    """Sorted families of rows as one; streams."""
    return merge(*rows, key=place)


def in_groups(items: Iterable[Transaction], writes: int) -> Iterator[Transaction]:
    """Small transactions put together until one has at least so many writes."""
    group: Transaction = []
    for item in items:
        group += item
        if len(group) >= writes:
            yield group
            group = []
    if group:
        yield group
