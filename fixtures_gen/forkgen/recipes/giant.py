"""Few entries, one of them a text of 16 MiB.

    0 ── 1 ── ██████████ ── 3 ── … ── n−1   main

The giant is the middle entry, and goes in together with its neighbours. Its text is exactly 16 MiB of UTF-8, letters of
one, two, three and four bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import conversation_fields, message_fields, user_message
from forkgen.plan import Plan, Transaction
from forkgen.tree import Tree, chain
from forkstore.contract.addresses import branch_tip
from forkstore.contract.records import Record
from forkstore.contract.writes import ValueSet

BYTES: Final = 16 * 2**20
"""The size of the giant's text in UTF-8."""
_PIECES: Final = ("beans 🌱 — für x", "水 for the peas!", "the north bed is", "Überlege: später")
_PIECE_BYTES: Final = 128


class Giant(Plan):
    """Few entries, one of them a text of 16 MiB."""

    name = "giant"

    def tree(self) -> Tree:
        return Tree("giant-entry-", self.size, chain, self._fields)

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        middle = range(max(0, self._giant - 1), min(self._giant + 2, self.entries.count))
        yield from map(self.append, range(middle.start))
        yield [*map(self.insert, middle), ValueSet(branch_tip(self.home), self.entries.id(middle[-1]))]
        yield from map(self.append, range(middle.stop, self.entries.count))

    @property
    def _giant(self) -> int:
        return self.size // 2

    def _fields(self, index: int) -> Record:
        draw = self.random.split("conversation").child(index)
        if index != self._giant:
            return conversation_fields(draw, index)
        pieces = [*_PIECES]
        draw.shuffle(pieces)
        piece = "".join(pieces)
        piece += "." * (_PIECE_BYTES - len(piece.encode()))
        return message_fields(user_message(piece * (BYTES // (_PIECE_BYTES)), index))
