"""Mutants of the suite `jsonl_fork_reading`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

OPENS = "            self._reader = await self._files.open_line_reader(self._path)\n"
SELECTS = "    copies = learned.select()\n"


class ReadsTheSourceWholeFirst(SourceLie):
    """Lie: a file is read in one call before its lines are."""

    kills = "S-FORK-STR-01"
    file = "scanning.py"
    line = OPENS
    lie = f"            await self._files.read_all(self._path)\n{OPENS}"


class ReadsAMebibyteOfTheSource(SourceLie):
    """Lie: the beginning of a source is looked at in a piece of 1 MiB."""

    kills = "S-FORK-STR-01"
    file = "scanning.py"
    line = OPENS
    lie = f"            await self._files.read_bytes(self._path, 2**20)\n{OPENS}"


class LooksForTheBoundaryFirst(SourceLie):
    """Lie: a scan for the last line comes before the two of the fork."""

    kills = "S-FORK-STR-02"
    file = "fork.py"
    line = SELECTS
    lie = (
        f"    async with _first_scan(files, source) as scan:\n        async for _ in scan:\n            pass\n{SELECTS}"
    )


class LosesTheLastBatch(SourceLie):
    """Lie: what is collected when the source has ended is not written."""

    kills = "S-FORK-STR-08"
    file = "fork.py"
    line = "    await batches.flush()\n"
    lie = ""


class ForksACopyOfAnOpenSource(SourceLie):
    """Lie: an open source is copied to another file, and the fork reads that."""

    kills = "S-JSONL-FORK-05"
    file = "repo.py"
    line = "        return ForkSource(named.path, named.id, named.cwd, await storage.boundary())"
    lie = (
        "        await storage.boundary()\n"
        '        copy = f"{named.path}.copy"\n'
        "        await self._files.write_file(copy, await self._files.read_all(named.path))\n"
        "        return ForkSource(copy, named.id, named.cwd, None)"
    )


class ForksWhatAnOpenSourceHolds(SourceLie):
    """Lie: an open source writes down what it holds in memory, and the fork reads that."""

    kills = "S-JSONL-FORK-05"
    file = "repo.py"
    line = "        return ForkSource(named.path, named.id, named.cwd, await storage.boundary())"
    lie = (
        "        await storage.boundary()\n"
        '        copy = f"{named.path}.copy"\n'
        "        header = (await self._files.read_all(named.path)).partition(b'\\n')[0]\n"
        "        entries = b''.join(entry.text + b'\\n' for entry in storage._state.entry_order)\n"
        "        await self._files.write_file(copy, header + b'\\n' + entries)\n"
        "        return ForkSource(copy, named.id, named.cwd, None)"
    )
