"""Mutants of the suite `jsonl_fork_destination`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

CHOSEN = "            records = [bytes(records[ordinal - first]) for ordinal in chosen]\n"


class CopiesWholeLines(SourceLie):
    """Lie: a line of which a record was selected is copied with all of its records."""

    kills = "S-JSONL-FORK-08"
    file = "format4_source.py"
    line = "        if len(chosen) < len(records):\n"
    lie = "        if not chosen:\n"


class DeletesLeaveDeadElements(SourceLie):
    """Lie: the elements of a deleted list are copied."""

    kills = "S-JSONL-FORK-08"
    file = "index.py"
    line = "            _discard(self.lists, row)\n"
    lie = "            pass\n"


class WritesABatchAsOneLine(SourceLie):
    """Lie: a batch is written as one transaction."""

    kills = "S-JSONL-FORK-09"
    file = "batches.py"
    line = 'b"\\n".join([*records, b""])'
    lie = 'b"[%b]\\n" % b",".join(records)'


class WritesEntriesFirst(SourceLie):
    """Lie: the entries of the destination come before its values, with the sequences that they have."""

    kills = "S-JSONL-FORK-09"
    file = "batches.py"
    line = "        records, self._records, self._size = self._records, [], 0\n"
    lie = (
        "        records, self._records, self._size = self._records, [], 0\n"
        '        records.sort(key=lambda record: b\'"kind":"entry"\' not in bytes(record))\n'
    )


class LiesBesideItsSource(SourceLie):
    """Lie: the destination lies in the directory of its source's file."""

    kills = "S-JSONL-FORK-10"
    file = "repo.py"
    line = "            path = await self._new_path(session_id, named.cwd, created_at)\n"
    lie = (
        "            path = await self._new_path(session_id, named.cwd, created_at)\n"
        "            path = self._files.join_path(str(PurePath(named.path).parent), PurePath(path).name)\n"
    )


class LiesWhereTheProcessWorks(SourceLie):
    """Lie: the destination has the working directory of the process."""

    kills = "S-JSONL-FORK-10"
    file = "repo.py"
    line = "            path = await self._new_path(session_id, named.cwd, created_at)\n"
    lie = '            path = await self._new_path(session_id, self._absolute_path("."), created_at)\n'


class EncodesPayloadsAnew(SourceLie):
    """Lie: records are decoded and encoded on their way into the destination."""

    kills = "S-FORK-DST-05"
    file = "batches.py"
    line = "        self._records += records\n"
    lie = (
        "        from forkstore.contract.codec import decode, encode\n"
        '        self._records += [encode(decode(bytes(record), 260), "record", 260) for record in records]\n'
    )


class EncodesPartsOfLinesAnew(SourceLie):
    """Lie: records of a line that is not copied as a whole are decoded and encoded."""

    kills = "S-FORK-DST-05"
    file = "format4_source.py"
    line = CHOSEN
    lie = (
        "            from forkstore.contract.codec import decode, encode\n"
        "            records = [\n"
        '                encode(decode(bytes(records[ordinal - first]), 260), "record", 260) for ordinal in chosen\n'
        "            ]\n"
    )
