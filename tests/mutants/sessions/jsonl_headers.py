"""Mutants of the suite `jsonl_headers`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class NullFieldsOfTheHeaderAreAbsent(SourceLie):
    """Lie: an optional field of the header that is null is absent."""

    kills = "S-JSONL-FMT-05"
    file = "headers.py"
    line = "return _text(header, name, path) if name in header else None"
    lie = "return _text(header, name, path) if header.get(name) is not None else None"


class TheStorageVersionMayBeMissing(SourceLie):
    """Lie: a header without a storage version has version 1."""

    kills = "S-JSONL-FMT-05"
    file = "headers.py"
    line = 'storage_version = header.get("storageVersion")'
    lie = 'storage_version = header.get("storageVersion", 1)'


class ABooleanIsAnInteger(SourceLie):
    """Lie: true is 1."""

    kills = "S-JSONL-FMT-05"
    file = "headers.py"
    line = "return type(value) is int and lowest <= value"
    lie = "return isinstance(value, int) and lowest <= value"


class AnyNumberIsAnInteger(SourceLie):
    """Lie: 1.5 and 1e3 are integers."""

    kills = "S-JSONL-FMT-05"
    file = "headers.py"
    line = "return type(value) is int and lowest <= value"
    lie = "return type(value) in (int, float) and lowest <= value"


class UnknownHeaderFieldsAreRefused(SourceLie):
    """Lie: a field of the header that the contract does not name is corruption."""

    kills = "S-JSONL-FMT-05"
    file = "headers.py"
    line = '    storage_version = header.get("storageVersion")\n'
    lie = """    known = {"v", "kind", "id", "storageVersion", "createdAt", "cwd", "nextSeq"}
    if set(header) - known - {"parentSessionId", "legacyParentSessionPath"}:
        raise CorruptSession(path, 1, "the header has an unknown field")
    storage_version = header.get("storageVersion")
"""


class TheCorruptHeaderIsInNoLine(SourceLie):
    """Lie: a header that is not an object is corruption in no line."""

    kills = "S-JSONL-FMT-06"
    file = "headers.py"
    line = 'raise CorruptSession(path, 1, "the header is not an object")'
    lie = 'raise CorruptSession(path, None, "the header is not an object")'


class NoIdIsTakenByWhatCannotBeRead(SourceLie):
    """Lie: a file whose header is not understood does not take the id in its name."""

    kills = "S-JSONL-FMT-06"
    file = "catalog.py"
    line = "        except (CorruptSession, UnsupportedVersion):\n            return True\n"
    lie = "        except (CorruptSession, UnsupportedVersion):\n            return False\n"


class AnUnreadableFileIsStartedAnew(SourceLie):
    """Lie: opening a file that is empty, or all NUL bytes, starts it anew."""

    kills = "S-JSONL-FMT-06"
    file = "opening.py"
    line = "header = read_header(await scan.first_line(), path)"
    lie = """header = read_header(
                (await files.read_bytes(path, 100)).strip(b"\\0\\n") == b"" and await files.write_file(path, b"{}\\n")
                or await scan.first_line(),
                path,
            )"""


class UnreadableBytesAreReplaced(SourceLie):
    """Lie: bytes of a header that are no UTF-8 become U+FFFD."""

    kills = "S-JSONL-FMT-06"
    file = "headers.py"
    line = "header = decode(line.removeprefix(MARK))"
    lie = 'header = decode(line.removeprefix(MARK).decode("utf-8", "replace").encode())'
