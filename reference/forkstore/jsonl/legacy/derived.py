"""The values that follow the entries of a legacy session: its name, its labels, and the branch `main` (section 26.2).

The first pass finds out which writes there are and which records their values come from. The values themselves are
payload, so they come with the second pass, out of those records only.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from forkstore.contract.addresses import BRANCH_TIP, ENTRY_LABEL, LANE_CONFIG, LANE_STATE, SESSION_NAME
from forkstore.contract.policy import IDLE_LANE_STATE
from forkstore.contract.records import Json

from .records import LegacyRecord, text_of
from .tree import NOWHERE, RecordTree
from .writing import json_text

MAIN: Final = "main"
"""The one branch of a legacy session."""

_LANE_KINDS: Final = ("model_change", "thinking_level_change", "active_tools_change")


class DerivedWrite(msgspec.Struct, frozen=True, gc=False):
    """A set or a delete of a scalar."""

    seq: int
    op: Literal["set", "delete"]
    namespace: str
    key: str


class Derivation:
    """First pass: the derived writes, each with the positions of the records that its value comes from."""

    def __init__(self, tree: RecordTree) -> None:
        self.writes: list[DerivedWrite] = []
        self.sources: list[tuple[int, ...]] = []
        self.tip: str | None = None
        self.has_lane = False
        self._tree = tree
        self._name_source = NOWHERE
        self._labels: list[tuple[int, Literal["set", "delete"]]] = []

    def take(self, position: int, record: LegacyRecord) -> None:
        """Takes note of a discarded record. An empty text clears (S-V3-13)."""
        if record.kind == "session_info":
            self._name_source = position if text_of(record) else NOWHERE
        elif record.kind == "label":
            self._labels.append((position, "set" if text_of(record) else "delete"))

    def finish(self) -> None:
        """Derives the writes; every record has been taken, and every label's target is known (S-V3-09)."""
        if self._name_source != NOWHERE:
            self._add("set", SESSION_NAME, "", self._name_source)
        for position, op in self._labels:
            target = self._tree.mapping(self._tree.references[position])
            if target is not None:
                self._add(op, ENTRY_LABEL, target, position)
        last = len(self._tree) - 1 if len(self._tree) else NOWHERE
        self.tip = self._tree.mapping(last)
        self._add("set", BRANCH_TIP, MAIN)
        model, thinking, tools = self._nearest(last)
        if NOWHERE not in (model, thinking):
            self.has_lane = True
            self._add("set", LANE_CONFIG, MAIN, model, thinking, tools)
            self._add("set", LANE_STATE, MAIN)

    def _add(self, op: Literal["set", "delete"], namespace: str, key: str, *sources: int) -> None:
        seq = len(self._tree.entries) + len(self.writes) + 1
        self.writes.append(DerivedWrite(seq, op, namespace, key))
        self.sources.append(sources)

    def _nearest(self, last: int) -> list[int]:
        """Per kind that feeds the lane the nearest record on the path from the last one to the root (S-V3-14)."""
        found: dict[str, int] = {}
        for position in self._tree.path(last):
            if self._tree.kinds[position] in _LANE_KINDS:
                found.setdefault(self._tree.kinds[position], position)
                if len(found) == len(_LANE_KINDS):
                    break
        return [found.get(kind, NOWHERE) for kind in _LANE_KINDS]


class DerivedTexts:
    """Second pass: the values of the derived writes."""

    def __init__(self, derivation: Derivation) -> None:
        self._derivation = derivation
        self._wanted = {source for sources in derivation.sources for source in sources}
        self._texts = {NOWHERE: b"[]"}  # the tools of a lane that never changed them

    def take(self, position: int, record: LegacyRecord) -> None:
        """Keeps what a discarded record gives to a derived write, if it gives anything."""
        if position not in self._wanted:
            return
        fields = record.fields
        value: Json
        match record.kind:
            case "model_change":
                value = {"provider": fields["provider"], "modelId": fields["modelId"]}
            case "thinking_level_change":
                value = fields["thinkingLevel"]
            case "active_tools_change":
                value = fields["activeToolNames"]
            case _:
                value = text_of(record)
        self._texts[position] = json_text(value)

    def rows(self) -> list[tuple[DerivedWrite, bytes | None]]:
        """Every derived write with the JSON text of its value, None for a delete; all records have been taken."""
        found = self._derivation
        return [(write, self._text(write, sources)) for write, sources in zip(found.writes, found.sources, strict=True)]

    def _text(self, write: DerivedWrite, sources: tuple[int, ...]) -> bytes | None:
        if write.op == "delete":
            return None
        if write.namespace == BRANCH_TIP:
            return json_text(self._derivation.tip)
        if write.namespace == LANE_STATE:
            return IDLE_LANE_STATE
        texts = tuple(self._texts[source] for source in sources)
        if write.namespace == LANE_CONFIG:
            return b'{"model":%b,"thinkingLevel":%b,"activeToolNames":%b}' % texts
        return texts[0]
