"""Mutants of the suite `legacy_tails`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class TailsAreSlicesOfTheFile(SourceLie):
    """Lie: a retained tail is what stands in the file between its ends."""

    kills = "S-V3-11"
    file = "legacy/tree.py"
    line = "        for position in self.path(self._parents[compaction]):"
    lie = "        for position in range(compaction - 1, max(first_kept, 0) - 1, -1):"


class TailsAreNewestFirst(SourceLie):
    """Lie: a retained tail is newest first."""

    kills = "S-V3-11"
    file = "legacy/tails.py"
    line = 'b",".join(reversed(messages))'
    lie = 'b",".join(messages)'


class EmptySummariesContribute(SourceLie):
    """Lie: a summary without text contributes a message."""

    kills = "S-V3-11"
    file = "legacy/tails.py"
    line = '        case "branch_summary" if record.fields["summary"]:'
    lie = '        case "branch_summary":'


class CustomMessagesContributeNothing(SourceLie):
    """Lie: a custom message contributes nothing."""

    kills = "S-V3-11"
    file = "legacy/tails.py"
    line = '        case "message" | "custom_message":'
    lie = '        case "message":'


class FirstCompactionTakesAll(SourceLie):
    """Lie: messages are let go with the first compaction that needs them."""

    kills = "S-V3-11"
    file = "legacy/tails.py"
    line = "                if self._tree.last_needs[position] == compaction:"
    lie = "                if True:"


class UnknownFirstKeptKeepsAll(SourceLie):
    """Lie: a tail without its first record reaches to the root."""

    kills = "S-V3-12"
    file = "legacy/index.py"
    line = "        if first_kept == NOWHERE or reached != first_kept:"
    lie = "        if False:"


class TextNamesTheKeptOne(SourceLie):
    """Lie: the refusal names the record that is kept from, not the compaction."""

    kills = "S-V3-12"
    file = "legacy/index.py"
    line = '            reason = f"compaction {compaction_id!r} keeps'
    lie = '            reason = f"a compaction keeps'


class ParentIsNotOnThePath(SourceLie):
    """Lie: the walk of a tail begins above the parent."""

    kills = "S-V3-12"
    file = "legacy/tree.py"
    line = "        for position in self.path(self._parents[compaction]):"
    lie = "        for position in self.path(self._parents[self._parents[compaction]]):"
