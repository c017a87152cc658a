"""Legacy v3 files with everything section 26 says about them, each with its outcome written down.

`legacy_files` gives the cases by room:

    trees      open: every record kind, chains that close up, opaque data, odd bytes, the last line torn at every byte
    lanes      open: the lane `main` and its tip, the session name, the labels
    summaries  open: retained tails, branch summaries, imported usage
    lineage    open: what becomes of `parentSession`
    derived    open or refused: version 3 derived from version 1 (appendix A.4)
    headers    refused: other versions, broken first lines
    refused    refused: broken lines, records, graphs and references

A file that opens carries its normalization as data: the entries with `Fresh` in place of ids that each reading makes
anew, the derived values in order, the usage sum, and whether the lane is complete, which decides about forks.
"""

from __future__ import annotations

from collections.abc import Iterator

from forkgen.verdict import Verdict

from .headers import headers
from .lanes import lanes
from .lineage import lineage
from .outcome import Fresh, LegacyFile, Normalized
from .refused import refused
from .summaries import summaries
from .trees import trees
from .version_one import VERSION_ONE, derived_files, version_three, version_two

__all__ = [
    "VERSION_ONE",
    "Fresh",
    "LegacyFile",
    "Normalized",
    "Verdict",
    "legacy_files",
    "version_three",
    "version_two",
]


def legacy_files() -> Iterator[LegacyFile]:
    """Every case, in a fixed order, under names that are unique.

    >>> sum(case.verdict is Verdict.UNSUPPORTED for case in legacy_files())
    8
    """
    for room in (trees, lanes, summaries, lineage, derived_files, headers, refused):
        yield from room()
