"""Mutants of the suites `jsonl_listing` and `jsonl_listing_meanwhile`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class OneBrokenFileEndsTheListing(SourceLie):
    """Lie: a file with a broken header makes `list` fail."""

    kills = "S-REPO-13"
    file = "catalog.py"
    line = "        except (CorruptSession, UnsupportedVersion):\n            return None"
    lie = "        except UnsupportedVersion:\n            return None"


class OtherVersionsEndTheListing(SourceLie):
    """Lie: a file of a version that nobody reads makes `list` fail."""

    kills = "S-REPO-13"
    file = "catalog.py"
    line = "        except (CorruptSession, UnsupportedVersion):\n            return None"
    lie = "        except CorruptSession:\n            return None"


class MissingDirectoriesAreMade(SourceLie):
    """Lie: a directory that is looked into is made first."""

    kills = "S-REPO-13"
    file = "catalog.py"
    line = "            if error.code in passed_over:\n                return []"
    lie = (
        "            if error.code in passed_over:\n"
        "                await self._files.make_dir(directory)\n"
        "                return []"
    )


class AMissingRootIsAnError(SourceLie):
    """Lie: a root that nobody has made yet cannot be listed."""

    kills = "S-REPO-13"
    file = "catalog.py"
    line = 'passed_over: Container[str] = ("not_found", "not_directory")'
    lie = "passed_over: Container[str] = ()"


class ReadsWholeFilesForTheirHeaders(SourceLie):
    """Lie: a listing reads every file in full, as a first line may be of any length."""

    kills = "S-REPO-14"
    file = "catalog.py"
    line = "(await files.read_bytes(path, CHUNK))"
    lie = "(await files.read_all(path))"


class ReadsFourKibibytes(SourceLie):
    """Lie: a header of more than 4 KiB is taken for none."""

    kills = "S-REPO-14"
    file = "catalog.py"
    line = "(await files.read_bytes(path, CHUNK))"
    lie = "(await files.read_bytes(path, CHUNK // 16))"


class ReadsUntilTheFirstLineEnds(SourceLie):
    """Lie: a header is read by the line reader, however long it is."""

    kills = "S-REPO-14"
    file = "catalog.py"
    line = '    line, line_feed, _ = (await files.read_bytes(path, CHUNK)).partition(b"\\n")\n'
    lie = (
        "    reader = await files.open_line_reader(path)\n"
        '    line, line_feed = await reader.read_line() or (b"", False)\n'
        "    await reader.close()\n"
    )


class LeavesReadersToTheCollector(SourceLie):
    """Lie: the reader of a header is never closed."""

    kills = "S-REPO-15"
    file = "catalog.py"
    line = '    line, line_feed, _ = (await files.read_bytes(path, CHUNK)).partition(b"\\n")\n'
    lie = (
        "    reader = await files.open_line_reader(path)\n"
        '    line, line_feed = await reader.read_line() or (b"", False)\n'
    )
