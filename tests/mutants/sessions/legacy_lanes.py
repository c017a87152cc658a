"""Mutants of the suite `legacy_lanes`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class NamesAreNotCleared(SourceLie):
    """Lie: the last name that is not empty counts."""

    kills = "S-V3-13"
    file = "legacy/derived.py"
    line = "            self._name_source = position if text_of(record) else NOWHERE"
    lie = "            self._name_source = position if text_of(record) else self._name_source"


class LabelsAreNotCleared(SourceLie):
    """Lie: a label without text is passed over."""

    kills = "S-V3-13"
    file = "legacy/derived.py"
    line = '            self._labels.append((position, "set" if text_of(record) else "delete"))'
    lie = '            self._labels += [(position, "set")] if text_of(record) else []'


class BlankLabelsClear(SourceLie):
    """Lie: a label of blanks clears."""

    kills = "S-V3-13"
    file = "legacy/derived.py"
    line = '"set" if text_of(record) else "delete"'
    lie = '"set" if text_of(record).strip() else "delete"'


class LastChoicesOfTheFile(SourceLie):
    """Lie: the last choices of the file make the lane."""

    kills = "S-V3-14"
    file = "legacy/derived.py"
    line = "        for position in self._tree.path(last):"
    lie = "        for position in range(last, -1, -1):"


class FirstChoicesOfThePath(SourceLie):
    """Lie: the choices nearest to the root make the lane."""

    kills = "S-V3-14"
    file = "legacy/derived.py"
    line = (
        "                found.setdefault(self._tree.kinds[position], position)\n"
        "                if len(found) == len(_LANE_KINDS):\n"
        "                    break"
    )
    lie = "                found[self._tree.kinds[position]] = position"


class ModelIsEnough(SourceLie):
    """Lie: a lane needs no thinking level."""

    kills = "S-V3-14"
    file = "legacy/derived.py"
    line = "        if NOWHERE not in (model, thinking):"
    lie = "        if model != NOWHERE:"


class ToolsAreNeeded(SourceLie):
    """Lie: a lane needs a choice of tools."""

    kills = "S-V3-14"
    file = "legacy/derived.py"
    line = "        if NOWHERE not in (model, thinking):"
    lie = "        if NOWHERE not in (model, thinking, tools):"


class TipIsTheLastEntry(SourceLie):
    """Lie: the tip is the last retained record of the file."""

    kills = "S-V3-14"
    file = "legacy/derived.py"
    line = "        self.tip = self._tree.mapping(last)"
    lie = "        self.tip = self._tree.entries[-1].id if self._tree.entries else None"
