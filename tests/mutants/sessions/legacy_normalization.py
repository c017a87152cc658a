"""Mutants of the suite `legacy_normalization`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class IdsOfTheReading(SourceLie):
    """Lie: fresh ids carry the time of the reading."""

    kills = "S-V3-07"
    file = "legacy/index.py"
    line = "self._id_generator.next(record.timestamp)"
    lie = "self._id_generator.next()"


class OldIdsAreKept(SourceLie):
    """Lie: entries keep the ids of their records."""

    kills = "S-V3-07"
    file = "legacy/index.py"
    line = "            entry_id = self._id_generator.next(record.timestamp)"
    lie = "            entry_id = record.id"


class IdsAreTheSameEachTime(SourceLie):
    """Lie: the id of a record is made of its time and its place."""

    kills = "S-V3-07"
    file = "legacy/index.py"
    line = "            entry_id = self._id_generator.next(record.timestamp)"
    lie = (
        '            place = f"{record.timestamp:012x}"\n'
        '            entry_id = f"{place[:8]}-{place[8:]}-7000-8000-{position:012x}"'
    )


class DiscardedRecordsCutTheChain(SourceLie):
    """Lie: what stands under a discarded record is a root."""

    kills = "S-V3-08"
    file = "legacy/tree.py"
    line = "        self._mapped.append(NOWHERE if parent == NOWHERE else self._mapped[parent])"
    lie = "        self._mapped.append(NOWHERE)"


class NullDataIsAbsent(SourceLie):
    """Lie: a custom entry with `data` null loses it."""

    kills = "S-V3-08"
    file = "legacy/writing.py"
    line = "for name in names if name in fields}"
    lie = "for name in names if fields.get(name) is not None}"


class NoHookIsNoField(SourceLie):
    """Lie: `fromHook` is absent where the record has none."""

    kills = "S-V3-08"
    file = "legacy/texts.py"
    line = '        return own | {"fromHook": b"false"} | field_texts'
    lie = "        return own | field_texts"


class FirstKeptIsKept(SourceLie):
    """Lie: a compaction keeps its `firstKeptEntryId`."""

    kills = "S-V3-08"
    file = "legacy/texts.py"
    line = 'field_texts(fields, "tokensBefore")'
    lie = 'field_texts(fields, "tokensBefore", "firstKeptEntryId")'


class OriginsAreNotMapped(SourceLie):
    """Lie: a branch summary keeps the old id that it comes from."""

    kills = "S-V3-08"
    file = "legacy/texts.py"
    line = (
        '            case "branch_summary":\n'
        "                origin = self._tree.mapping(self._tree.references[position])"
    )
    lie = '            case "branch_summary":\n                origin = fields["fromId"]'


class SecondsAreEnough(SourceLie):
    """Lie: entries lose the milliseconds of their time."""

    kills = "S-V3-09"
    file = "legacy/tree.py"
    line = "        entry = LegacyEntry(entry_id, self.mapping(position), seq, entry_type, timestamp)"
    lie = "        entry = LegacyEntry(entry_id, self.mapping(position), seq, entry_type, timestamp // 1000 * 1000)"


class DerivedValuesAreFree(SourceLie):
    """Lie: the next sequence is one above the last entry."""

    kills = "S-V3-09"
    file = "legacy/index.py"
    line = "        return len(self._tree.entries) + len(self._derivation.writes) + 1"
    lie = "        return len(self._tree.entries) + 1"


class DiscardedRecordsTakeASequence(SourceLie):
    """Lie: an entry has the number of its record as its sequence."""

    kills = "S-V3-09"
    file = "legacy/tree.py"
    line = "ENTRY_TYPES[self.kinds[position]], len(self.entries) + 1"
    lie = "ENTRY_TYPES[self.kinds[position]], position + 1"


class DanglingReferencesAreNull(SourceLie):
    """Lie: a reference to no record is one to the root."""

    kills = "S-V3-10"
    file = "legacy/index.py"
    line = (
        '                raise CorruptSession(self._path, None, f"{kind} {owner!r} names {target!r}, '
        'which is no record")'
    )
    lie = "                continue"


class RootInAnyCase(SourceLie):
    """Lie: `Root` is the root too."""

    kills = "S-V3-10"
    file = "legacy/index.py"
    line = '            case "branch_summary" if record.fields["fromId"] != ROOT:'
    lie = '            case "branch_summary" if record.fields["fromId"].lower() != ROOT:'


class ReferencesLookBackOnly(SourceLie):
    """Lie: a reference to a later record is corruption."""

    kills = "S-V3-10"
    file = "legacy/index.py"
    line = "            self._forward[position] = reference"
    lie = '            raise LineFault(f"{reference.target!r} is no earlier record")'
