"""Mutants of the suite `legacy_forks`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class LegacyIdsAreLookedFor(SourceLie):
    """Lie: a fork of a closed v3 source looks for the entry that it names."""

    kills = "S-V3-24"
    file = "legacy_source.py"
    line = "        if isinstance(options, BranchFork) and options.entry_id is not None:"
    lie = "        if False:"


class LegacyIdsCountForAt(SourceLie):
    """Lie: an `entry_id` with the position `before` is passed over."""

    kills = "S-V3-24"
    file = "legacy_source.py"
    line = "        if isinstance(options, BranchFork) and options.entry_id is not None:"
    lie = '        if isinstance(options, BranchFork) and options.entry_id is not None and options.position == "at":'


class TreeForksOfThePath(SourceLie):
    """Lie: a tree fork of a v3 source holds the path of `main`."""

    kills = "S-V3-25"
    file = "legacy_source.py"
    line = "        is_member: Callable[[str], bool] = parents.__contains__"
    lie = "        is_member: Callable[[str], bool] = set(_path(parents, self._index.tip)).__contains__"


class ClearedLabelsComeBack(SourceLie):
    """Lie: a fork holds labels that were cleared."""

    kills = "S-V3-25"
    file = "legacy_source.py"
    line = "                rows.pop((write.namespace, write.key), None)"
    lie = "                pass"


class DataOnlyMainIsForked(SourceLie):
    """Lie: a branch fork of a data-only `main` succeeds."""

    kills = "S-V3-26"
    file = "legacy_source.py"
    line = "        check_lane(branch, tip=tip, config=config, state=(LANE_STATE, branch) in rows)"
    lie = "        check_lane(branch, tip=tip, config=True, state=True)"


class EveryNameIsMain(SourceLie):
    """Lie: a branch fork of a v3 source takes `main`, whatever its name."""

    kills = "S-V3-26"
    file = "legacy_source.py"
    line = "        branch = options.branch\n"
    lie = '        branch = "main"\n'


class BranchForksOfTheTree(SourceLie):
    """Lie: a branch fork of a v3 source holds every entry."""

    kills = "S-V3-26"
    file = "legacy_source.py"
    line = "            is_member = set(_path(parents, selection.tip)).__contains__\n"
    lie = ""


class BeforeIsAt(SourceLie):
    """Lie: a branch fork of a v3 source before its tip holds the tip."""

    kills = "S-V3-26"
    file = "legacy_source.py"
    line = "        return select_branch(options, self._index.tip, lambda entry_id, tip: False, parents.get)"
    lie = "        return select_branch(options, self._index.tip, lambda entry_id, tip: False, str)"
