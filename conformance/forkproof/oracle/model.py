"""The model of one session: what it must hold after every commit and every fork, in dictionaries and lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from forkproof.expect import ClauseBroken
from forkproof.oracle import classifier
from forkproof.oracle.classifier import ForkRefused
from forkproof.oracle.ledger import summed
from forkproof.oracle.state import Location, LogicalState, Record, copied, without_seq
from forkstore.contract.addresses import Address
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.writes import (
    CommitResult,
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
)


@dataclass
class Placed:
    """A stored value and the sequence it was given; None where the contract leaves the sequence to the store (in a
    fork).
    """

    value: Any
    seq: int | None


@dataclass
class SessionModel:
    """What a session must hold.

    >>> model = SessionModel()
    >>> model.apply([ValueSet(value_address("app"), 1)], result)
    >>> model.state().scalars
    {('app', ''): 1}
    """

    parent_session_id: str | None = None
    entries: dict[str, Placed] = field(default_factory=dict)
    """Stored entries by id, in order; without `seq`, with `timestamp`."""
    ledger: dict[str, Placed] = field(default_factory=dict)
    scalars: dict[Location, Placed] = field(default_factory=dict)
    lists: dict[Location, list[Placed]] = field(default_factory=dict)
    next_seq: int | None = 1
    """The next sequence; None right after a fork, until the first commit tells."""
    touched: set[Location] = field(default_factory=set)
    """Every location that was ever written here or in a source: a full reading looks there for what must be absent."""

    def apply(self, writes: Sequence[Write], result: CommitResult) -> None:
        """Follows a commit that succeeded. Raises `ClauseBroken` when its result does not number its writes."""
        if len(result.seqs) != len(writes):
            raise ClauseBroken(
                f"the result of a commit\nexpected: {len(writes)} sequences, one a write\nseen:     {result.seqs!r}"
            )
        for write, seq in zip(writes, result.seqs, strict=True):
            self._apply_one(write, seq, result.timestamp)
        self.next_seq = (result.seqs[-1] + 1) if writes else result.first_seq

    def _apply_one(self, write: Write, seq: int, timestamp: int) -> None:
        if isinstance(write, EntryInsert):
            self.entries[write.entry["id"]] = Placed({**copied(write.entry), "timestamp": timestamp}, seq)
            return
        if isinstance(write, UsageInsert):
            self.ledger[write.row["id"]] = Placed(copied(write.row), seq)
            return
        location = (write.address.namespace, write.address.key)
        self.touched.add(location)
        if isinstance(write, ValueSet):
            self.scalars[location] = Placed(copied(write.value), seq)
        elif isinstance(write, ValueDelete):
            self.scalars.pop(location, None)
        elif isinstance(write, ListAppend):
            self.lists.setdefault(location, []).append(Placed(copied(write.value), seq))
        elif isinstance(write, ListDelete):
            self.lists.pop(location, None)

    def fork(self, options: ForkOptions, source_id: str) -> SessionModel:
        """The model of the destination. Raises `ForkRefused` with the refusal that the contract asks for."""
        if isinstance(options, BranchFork):
            return self._branch_fork(options, source_id)
        self._refuse_undeclared()
        taken = set(self.entries)
        choices = {
            location: classifier.scalar_in_tree_fork(location, row.value, taken)
            for location, row in self.scalars.items()
        }
        lists = {location: rows for location, rows in self.lists.items() if not classifier.is_reserved(location[0])}
        return self._destination(source_id, taken, choices, lists)

    def _branch_fork(self, options: BranchFork, source_id: str) -> SessionModel:
        tip = self._selected_tip(options)
        self._refuse_undeclared()
        taken = {entry["id"] for entry in self.path(tip)}
        choices = {
            location: classifier.scalar_in_branch_fork(location, row.value, taken, options.branch, tip)
            for location, row in self.scalars.items()
        }
        return self._destination(source_id, taken, choices, {})

    def _selected_tip(self, options: BranchFork) -> str | None:
        branch = options.branch
        if (classifier.BRANCH_TIP, branch) not in self.scalars:
            raise ForkRefused("UnknownBranch", name=branch)
        lane = (classifier.LANE_CONFIG, classifier.LANE_STATE)
        if any((namespace, branch) not in self.scalars for namespace in lane):
            raise ForkRefused("DataOnlyBranch", name=branch)
        tip = self.tip(branch)
        point = tip if options.entry_id is None else options.entry_id
        if point is None:
            return None
        # A tip that names no entry is a tip all the same: its content is not checked, and nothing lies below it.
        if point != tip and point not in [entry["id"] for entry in self.path(tip)]:
            raise ForkRefused("EntryNotOnBranch", entry_id=point, branch=branch)
        path = self.path(point)
        parent: str | None = path[0]["parentId"] if path else None
        return point if options.position == "at" else parent

    def _refuse_undeclared(self) -> None:
        for namespace, _ in self.scalars:
            classifier.refuse_undeclared(namespace, "value")
        for namespace, _ in self.lists:
            classifier.refuse_undeclared(namespace, "list")

    def _destination(
        self,
        source_id: str,
        taken: set[str],
        choices: dict[Location, tuple[bool, Any]],
        lists: dict[Location, list[Placed]],
    ) -> SessionModel:
        return SessionModel(
            parent_session_id=source_id,
            entries={id: Placed(copied(row.value), None) for id, row in self.entries.items() if id in taken},
            scalars={location: Placed(copied(value), None) for location, (kept, value) in choices.items() if kept},
            lists={at: [Placed(copied(row.value), None) for row in rows] for at, rows in lists.items() if rows},
            next_seq=None,
            touched=set(self.touched),
        )

    def state(self) -> LogicalState:
        """The logical state that every reading of the session must show."""
        return LogicalState(
            parent_session_id=self.parent_session_id,
            entries=[row.value for row in self.entries.values()],
            scalars={location: row.value for location, row in self.scalars.items()},
            lists={location: [row.value for row in rows] for location, rows in self.lists.items()},
            ledger=[without_seq(row.value) for row in self.ledger.values()],
            message_count=sum(1 for row in self.entries.values() if row.value["type"] == "message"),
            usage=summed(row.value for row in self.ledger.values()),
        )

    def entry(self, entry_id: str) -> Record:
        """A stored entry as a read must show it, `seq` included where it is known."""
        row = self.entries[entry_id]
        entry = copied(row.value)
        timestamp = entry.pop("timestamp")
        return {**entry, **({} if row.seq is None else {"seq": row.seq}), "timestamp": timestamp}

    def path(self, tip: str | None) -> list[Record]:
        """The entries from a tip to its root, newest first, without `seq`."""
        found: list[Record] = []
        while isinstance(tip, str) and tip in self.entries:
            found.append(self.entries[tip].value)
            tip = found[-1]["parentId"]
        return found

    def tip(self, branch: str) -> str | None:
        """The tip of a branch; None for a null tip and for no branch."""
        row = self.scalars.get((classifier.BRANCH_TIP, branch))
        return None if row is None else row.value

    def branches(self) -> list[str]:
        """The names of all branches, by code point."""
        return sorted(key for namespace, key in self.scalars if namespace == classifier.BRANCH_TIP)

    def value(self, address: Address) -> Any:
        """The value at a scalar address. Raises KeyError when nothing is there."""
        return copied(self.scalars[address.namespace, address.key].value)

    def elements(self, address: Address) -> list[Any]:
        """The surviving values of a list, oldest first."""
        return [copied(row.value) for row in self.lists.get((address.namespace, address.key), [])]

    def look_at(self, locations: Iterable[Location]) -> None:
        """Has full readings look at these locations too."""
        self.touched.update(locations)
