"""Labels on entries that a fork takes and on entries that it leaves, and a session with a name.

    0 ─ 1 ─ 2 ─ 3 ─ 4 ─ 5 ─ 7 ─ 8 ─ … ─ n−1   main
        ◆           ◇   └ 6     ◆
                          ◆
    ◆ labelled once · ◇ labelled, then relabelled or cleared · and labels of entries that do not exist

Every seventh entry is a side arm off the path. The name of the session is set, cleared and set again.
"""

from __future__ import annotations

from collections.abc import Iterator

from forkgen.content import conversation_fields, sentence
from forkgen.plan import Plan, Scalar, Transaction, in_groups, in_order, lane_rows, lane_writes, merged
from forkgen.tree import Tree, numbered
from forkstore.contract.addresses import entry_label, session_name
from forkstore.contract.writes import ValueDelete, ValueSet

_ONCE = 3
"""Entries with a fate below have no label."""
_DANGLING = 3


def _with_side_arms(index: int) -> int | None:
    if index == 0:
        return None
    return index - 2 if index % 7 == 0 else index - 1


class Labels(Plan):
    """Labels on entries that a fork takes and on entries that it leaves, dangling, changed and cleared ones too."""

    name = "labels"

    def tree(self) -> Tree:
        draw = self.random.split("conversation")
        return Tree(
            "labels-entry-", self.size, _with_side_arms, lambda index: conversation_fields(draw.child(index), index)
        )

    def transactions(self) -> Iterator[Transaction]:
        yield [*self.open_home(), ValueSet(session_name(), "beds")]
        yield from in_groups(map(self._labelled, range(self.entries.count)), 20)
        yield lane_writes(self.home, self._tip)
        yield from in_groups(map(self._revised, range(self.entries.count)), 20)
        yield [ValueDelete(session_name())]
        dangling = [ValueSet(address, value) for address, value in self._dangling()]
        yield [*dangling, ValueDelete(entry_label("never labelled")), ValueSet(session_name(), self._name)]

    def scalars(self) -> Iterator[Scalar]:
        labels = (
            (entry_label(self.entries.id(index)), label)
            for index in range(self.entries.count)
            if (label := self._label(index)) is not None
        )
        return merged(
            in_order([*lane_rows(self.home, self._tip), *self._dangling(), (session_name(), self._name)]), labels
        )

    @property
    def _tip(self) -> str:
        last = self.entries.count - 1
        return self.entries.id(last - 1 if last % 7 == 6 else last)

    @property
    def _name(self) -> str:
        return f"The garden — {sentence(self.random.split('name'))}"

    def _fate(self, index: int) -> int:
        return self.random.split("fates").at(index) % 7

    def _text(self, index: int, revision: int) -> str:
        return sentence(self.random.split(f"text {revision}").child(index))

    def _label(self, index: int) -> str | None:
        """The label of an entry at the end."""
        match self._fate(index):
            case 3:
                return self._text(index, 0)
            case 4:
                return self._text(index, 1)
            case 6:
                return ""
        return None

    def _labelled(self, index: int) -> Transaction:
        """The entry, with its first label."""
        if self._fate(index) < _ONCE:
            return [self.insert(index)]
        return [self.insert(index), ValueSet(entry_label(self.entries.id(index)), self._text(index, 0))]

    def _revised(self, index: int) -> Transaction:
        """What happens to the first label."""
        address = entry_label(self.entries.id(index))
        match self._fate(index):
            case 4:
                return [ValueSet(address, "for now"), ValueSet(address, self._text(index, 1))]
            case 5:
                return [ValueDelete(address)]
            case 6:
                return [ValueSet(address, "")]
        return []

    def _dangling(self) -> list[Scalar]:
        """Labels of entries that do not exist; some would be the next ones."""
        ids = ["", "no such entry", *(numbered("labels-entry-", self.size + more) for more in range(_DANGLING))]
        return [(entry_label(entry_id), f"of nothing: {entry_id}") for entry_id in ids]
