"""Mutants of the suite `jsonl_fork_memory`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class KeepsTheLines(SourceLie):
    """Lie: the lines of the first scan are kept, as the second one will want them."""

    kills = "S-FORK-STR-04"
    file = "fork.py"
    line = "        learned.take(line, scan.number)\n"
    lie = '        learned.take(line, scan.number)\n        vars(scan).setdefault("kept", []).append(line)\n'


class CountsWritesOnly(SourceLie):
    """Lie: a batch is full when it has 1,000 writes, however large they are."""

    kills = "S-FORK-STR-04"
    file = "batches.py"
    line = " and self._size + size <= BATCH_BYTES"
    lie = ""


class CollectsTheDestination(SourceLie):
    """Lie: everything is collected, and written at the end."""

    kills = "S-FORK-STR-04"
    file = "batches.py"
    line = "        if not self._has_room_for(records, size):\n            await self.flush()"
    lie = "        if records == []:\n            await self.flush()"


class KeepsTheRecords(SourceLie):
    """Lie: the decoded records of the first scan are kept."""

    kills = "S-FORK-STR-06"
    file = "index.py"
    line = "            records = read_line(line)\n"
    lie = '            records = read_line(line)\n            vars(self).setdefault("kept", []).extend(records)\n'


class RemembersEverySequence(SourceLie):
    """Lie: all sequences of the source are remembered, those of dead rows too."""

    kills = "S-FORK-STR-06"
    file = "index.py"
    line = "            self.last_seq = record.seq\n"
    lie = '            self.last_seq = record.seq\n            vars(self).setdefault("all", set()).add(record.seq)\n'
