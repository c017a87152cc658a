"""Mutants of the suite `jsonl_damage`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class BadLinesAreSkipped(SourceLie):
    """Lie: a line that fails a check is passed over."""

    kills = "S-JSONL-FMT-10"
    file = "replay.py"
    line = "            raise CorruptSession(self._path, number, str(fault)) from fault\n"
    lie = "            return\n"


class LinesAreCountedFromZero(SourceLie):
    """Lie: the header is line 0."""

    kills = "S-JSONL-FMT-10"
    file = "replay.py"
    line = "raise CorruptSession(self._path, number, str(fault)) from fault"
    lie = "raise CorruptSession(self._path, number - 1, str(fault)) from fault"


class TimesAreNotChecked(SourceLie):
    """Lie: the timestamp of an entry may be anything."""

    kills = "S-JSONL-FMT-10"
    file = "records.py"
    line = "    timestamp: Time\n"
    lie = "    timestamp: Any\n"


class CustomTypesAreNotChecked(SourceLie):
    """Lie: any entry may have a custom type, or none."""

    kills = "S-JSONL-FMT-10"
    file = "records.py"
    line = '    if (entry.type == "custom") is (entry.custom_type is UNSET):\n'
    lie = "    if entry is None:\n"


class AddressesAreNotChecked(SourceLie):
    """Lie: the address of a row may be empty, or hold U+0000."""

    kills = "S-JSONL-FMT-10"
    file = "records.py"
    line = """    if not row.namespace or "\\0" in row.namespace or "\\0" in row.key:\n"""
    lie = "    if row is None:\n"


class AnAdjustmentMayBeANumber(SourceLie):
    """Lie: the adjustment of a usage row may be anything."""

    kills = "S-JSONL-FMT-10"
    file = "records.py"
    line = "    adjustment: bool\n"
    lie = "    adjustment: Any\n"


class UsageNumbersAreNotChecked(SourceLie):
    """Lie: a broken usage object counts as an empty one."""

    kills = "S-JSONL-FMT-10"
    file = "records.py"
    line = '        return check_usage(usage, "usage")\n    except InvalidValue as error:\n'
    lie = """        return check_usage(usage, "usage")
    except InvalidValue as error:
        from forkstore.contract.records import zero_usage
        return zero_usage()
"""


class SequencesMayRepeat(SourceLie):
    """Lie: a sequence may be that of the record before."""

    kills = "S-JSONL-FMT-11"
    file = "replay.py"
    line = "if record.seq <= self._last_seq:"
    lie = "if record.seq < self._last_seq:"


class IdsOfUsageRowsAreFree(SourceLie):
    """Lie: an entry may have the id of a usage row."""

    kills = "S-JSONL-FMT-11"
    file = "replay.py"
    line = """text: bytes) -> None:
        state = self.state
        if record.id in state.entries or record.id in state.usage_rows:
            raise DuplicateId(record.id)
        if record.parent_id"""
    lie = """text: bytes) -> None:
        state = self.state
        if record.id in state.entries:
            raise DuplicateId(record.id)
        if record.parent_id"""


class ParentsAreNotLookedUp(SourceLie):
    """Lie: the parent of an entry may be any id."""

    kills = "S-JSONL-FMT-11"
    file = "replay.py"
    line = "        if record.parent_id is not None and record.parent_id not in state.entries:\n"
    lie = "        if record is None:\n"


class AUsageRowMayBeAParent(SourceLie):
    """Lie: the parent of an entry may be a usage row."""

    kills = "S-JSONL-FMT-11"
    file = "replay.py"
    line = "record.parent_id not in state.entries:"
    lie = "record.parent_id not in {**state.entries, **state.usage_rows}:"


class TheCauseIsLost(SourceLie):
    """Lie: a breach of history has no cause."""

    kills = "S-JSONL-FMT-11"
    file = "replay.py"
    line = "raise CorruptSession(self._path, number, str(cause)) from cause"
    lie = "raise CorruptSession(self._path, number, str(cause)) from None"


class TheParentIsLookedUpFirst(SourceLie):
    """Lie: an id that is used again counts as an unknown parent, if its parent is one."""

    kills = "S-JSONL-FMT-11"
    file = "replay.py"
    line = "    def _add_entry(self, record: StoredEntry, text: bytes) -> None:\n        state = self.state\n"
    lie = """    def _add_entry(self, record: StoredEntry, text: bytes) -> None:
        state = self.state
        if record.parent_id not in {None, *state.entries}:
            raise UnknownParent(record.id, str(record.parent_id))
"""
