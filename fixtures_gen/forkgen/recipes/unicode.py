"""Text that careless readers cut, fold, reorder or lose: in messages, member names, ids, branch names, labels and keys.

    "before\\u2028after"   line and paragraph separators, U+0085, VT, FF, CR: no end of a line
    "a\\0b"                NUL, other controls, DEL
    "\\ufeffmark"          a byte-order mark inside text
    "אבג 123"             right-to-left runs and their marks
    "e\\u0301" "é"         the same letter twice, not the same text
    "👩‍🌾 𝄞 \\U0010ffff"     astral letters, joiners, the last code point, noncharacters

    0 ── 1 ── 2 ── … ── n−1   ветка · 枝 · فرع · "de\\u0301" · "dé" and main

Whatever the size, every text is a scalar and a list element, and stands in their keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import message_fields, user_message
from forkgen.plan import Elements, Plan, Scalar, Transaction, in_order, lane_rows
from forkgen.random import Generator
from forkgen.tree import Tree, chain
from forkstore.contract.addresses import entry_label, list_address, value_address
from forkstore.contract.records import Record
from forkstore.contract.writes import ListAppend, ValueSet

TEXTS: Final = (
    "before\u2028after\u2029end\u0085next",
    "tab\tvt\x0bff\x0ccr\rlf\ncrlf\r\n",
    "a\0b\x01\x1b[0m\x7f\x80",
    "\ufeffmark \ufffe\uffff",
    "\u05d0\u05d1\u05d2 123 \u200f(\u0661\u0662)\u200e \u202ereversed\u202c",
    "e\u0301 \u00e9 \u1112\u1161\u11ab \ud55c \ufb00 \u212b",
    "\U0001f469\u200d\U0001f33e \U0001d11e \U0010ffff \U000e0041",
    'quote " backslash \\ slash / \\u0041 </script>',
    "",
    " \u00a0\u3000\u200b ",
    "\u0130\u0131\u017f\u212a \u00df \u1e9e",
)
_ID_ENDINGS: Final = ("", "-é", "-e\u0301", "-枝", "-\u2028", "-\0", "-👩‍🌾", "- ", "-\u202e", "-\ufeff", '-"\\')
BRANCHES: Final = ("ветка", "枝", "فرع", "de\u0301", "d\u00e9", " ", "\u2028", "\U0001f33f", "a/b:c")
NAMESPACE: Final = "сад.\u200dключи"


class Unicode(Plan):
    """Text that careless readers cut, fold, reorder or lose, everywhere that text can be."""

    name = "unicode"
    own_namespaces = (NAMESPACE,)

    def tree(self) -> Tree:
        return Tree("unicode-entry-", self.size, chain, self._fields, _ending)

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        yield from map(self.append, range(self.entries.count))
        for row in (*self._branch_rows(), *self._label_rows(), *self._value_rows()):
            yield [ValueSet(*row)]
        yield [ListAppend(list_address(NAMESPACE, _without_nul(text)), text) for text in TEXTS]

    def scalars(self) -> Iterator[Scalar]:
        return iter(in_order([*self.home_rows(), *self._branch_rows(), *self._label_rows(), *self._value_rows()]))

    def lists(self) -> Iterator[Elements]:
        for key, text in sorted((_without_nul(text), text) for text in TEXTS):
            yield list_address(NAMESPACE, key), iter([text])

    def _fields(self, index: int) -> Record:
        draw = self.random.split("conversation").child(index)
        if index % 4 == 3:
            return {
                "type": "custom",
                "customType": f"type {_text(draw)}",
                "data": {_text(draw): [_text(draw), draw.below(9)]},
            }
        return message_fields(user_message(f"{TEXTS[index % len(TEXTS)]}|{_text(draw)}", index))

    def _branch_rows(self) -> list[Scalar]:
        draw = self.random.split("branches")
        return [row for name in BRANCHES for row in lane_rows(name, self.entries.id(draw.below(self.entries.count)))]

    def _label_rows(self) -> list[Scalar]:
        ids = [self.entries.id(index) for index in range(min(len(_ID_ENDINGS), self.entries.count))]
        return [(entry_label(entry_id), f"{entry_id}: {TEXTS[0]}") for entry_id in ids if "\0" not in entry_id]

    def _value_rows(self) -> list[Scalar]:
        return [(value_address(NAMESPACE, _without_nul(text)), {text: text}) for text in TEXTS]


def _ending(index: int) -> str:
    return _ID_ENDINGS[index % len(_ID_ENDINGS)]


def _text(draw: Generator) -> str:
    return draw.choice(TEXTS) + draw.choice(TEXTS)


def _without_nul(text: str) -> str:
    """The text as a key, where U+0000 may not be (S-ADDR-01)."""
    return text.replace("\0", "␀")
