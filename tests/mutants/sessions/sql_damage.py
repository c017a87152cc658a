"""Mutants of the suite `sql_damage`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class ACustomTypeMayBeMissing(SqlLie):
    """Lie: a custom entry without its type is handed on."""

    kills = "S-SQL-SCH-05"
    file = "rows.py"
    line = 'if (type(custom_type) is str) is not (entry_type == "custom") or ('
    lie = "if ("


class AnUnheldEntryIsUnknown(SqlLie):
    """Lie: an entry that no segment holds is taken for an unknown one."""

    kills = "S-SQL-IDX-03"
    file = "branches.py"
    line = "    if first is None:\n"
    lie = "    if first is None:\n        raise UnknownEntry(start)\n"


class BoundsOfASegmentDoNotCount(SqlLie):
    """Lie: a segment holds all its rows, also those above its tip."""

    kills = "S-SQL-IDX-03"
    file = "branches.py"
    line = "AND i.entry_seq <= m.tip_seq"
    lie = ""


class AChainThatIsNotThereIsNone(SqlLie):
    """Lie: a commit below an entry that no segment holds begins a segment without a base."""

    kills = "S-SQL-IDX-03"
    file = "branch_inserts.py"
    line = "        if link is None:\n"
    lie = "        if link == ():\n"


class ParentsAreNotCompared(SqlLie):
    """Lie: the rows of the index are the path, whatever the entries say."""

    kills = "S-QRY-19"
    file = "branches.py"
    line = 'if child["parentId"] != parent["id"]:'
    lie = "if False:"


class TheRootIsNotLookedAt(SqlLie):
    """Lie: a walk ends quietly where the index does."""

    kills = "S-QRY-19"
    file = "branches.py"
    line = "    path.end()\n"
    lie = ""


class TheIndexIsNotCompared(SharedSqlLie):
    """Lie: sequences and types of the index are not compared with the entries."""

    kills = "S-QRY-19"
    file = "branches.py"
    line = "if (entry[0], entry[2], entry[4]) != (entry_id, seq, entry_type):"
    lie = "if entry[0] != entry_id:"


class AForkDoesNotCompareTheIndex(SqlLie):
    """Lie: a fork takes the entries that the index names, whatever sequence and type it gives them."""

    kills = "S-SQL-FORK-08"
    file = "branch_path.py"
    line = "AND entry.seq = held.entry_seq AND entry.type = held.entry_type"
    lie = ""


class AMissingParentIsARoot(SqlLie):
    """Lie: where the parent of an entry is missing, the path of a fork begins."""

    kills = "S-FORK-BR-11"
    file = "lineage.py"
    line = 'raise Damage(f"the path of the branch breaks off: the parent of entry {entry_id!r} is not before it")'
    lie = "parent_id = None"


class OlderVersionsAreTaken(SqlLie):
    """Lie: a storage version below 1 is as good as 1."""

    kills = "S-REPO-08"
    file = "session_rows.py"
    line = "if version != STORAGE_VERSION:"
    lie = "if version > STORAGE_VERSION:"
