"""Mutants of the suite `legacy_usage`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class ToolResultsSpendNothing(SourceLie):
    """Lie: the usage of tool results does not count."""

    kills = "S-V3-15"
    file = "legacy/imported_usage.py"
    line = '("assistant", "toolResult")'
    lie = '("assistant",)'


class EveryMessageSpends(SourceLie):
    """Lie: the usage in a message of any role counts."""

    kills = "S-V3-15"
    file = "legacy/imported_usage.py"
    line = '    elif record.kind == "message" and record.fields["message"].get("role") in _SPENDING_ROLES:'
    lie = '    elif record.kind == "message":'


class SummariesSpendNothing(SourceLie):
    """Lie: the usage of branch summaries does not count."""

    kills = "S-V3-15"
    file = "legacy/imported_usage.py"
    line = '("compaction", "branch_summary")'
    lie = '("compaction",)'


class NothingIsSpentBeforeTheUpgrade(SourceLie):
    """Lie: a v3 session has zero usage, as its ledger is empty."""

    kills = "S-V3-15"
    file = "storage.py"
    line = "        if self._legacy is None:\n            return super()._stats()"
    lie = "        if True:\n            return super()._stats()"


class UsageWithoutCostsIsNone(SourceLie):
    """Lie: usage without costs is left out."""

    kills = "S-V3-16"
    file = "legacy/imported_usage.py"
    line = '    cost = usage.get("cost")\n'
    lie = '    cost = usage.get("cost")\n    if cost is None:\n        return None\n'


class WholeUsageOrNone(SourceLie):
    """Lie: usage that lacks a number is left out."""

    kills = "S-V3-16"
    file = "legacy/imported_usage.py"
    line = "    if type(usage) is not dict:"
    lie = "    if type(usage) is not dict or not set(USAGE_NUMBERS) <= usage.keys():"


class OptionalNumbersAreAlwaysThere(SourceLie):
    """Lie: optional numbers are 0 where no record has them."""

    kills = "S-V3-16"
    file = "legacy/imported_usage.py"
    line = "{name: usage[name] for name in OPTIONAL_USAGE_NUMBERS if _is_number(usage.get(name))}"
    lie = "{name: _number(usage.get(name)) for name in OPTIONAL_USAGE_NUMBERS}"
