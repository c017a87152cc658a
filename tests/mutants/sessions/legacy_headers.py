"""Mutants of the suite `legacy_headers`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class NullParentSessionIsAbsent(SourceLie):
    """Lie: a v3 header whose `parentSession` is null opens."""

    kills = "S-V3-01"
    file = "headers.py"
    line = "    return _text(header, name, path) if name in header else None"
    lie = "    return _text(header, name, path) if header.get(name) is not None else None"


class DatesNeedNoZone(SourceLie):
    """Lie: a date and time without a zone is a date."""

    kills = "S-V3-01"
    file = "headers.py"
    line = '(Z|[+-]\\d\\d:?\\d\\d)"'
    lie = '(Z|[+-]\\d\\d:?\\d\\d)?"'


class VersionIsANumber(SourceLie):
    """Lie: a version that is 3.0 is 3."""

    kills = "S-V3-01"
    file = "headers.py"
    line = '    version = header.get("version", 1)\n    if type(version) is not int:'
    lie = '    version = header.get("version", 1)\n    if not isinstance(version, int | float):'


class FormatIsToldByVAlone(SourceLie):
    """Lie: a first line with `v` is a header of format 4, whatever else it has."""

    kills = "S-V3-01"
    file = "headers.py"
    line = '    if header.get("kind") == "header":'
    lie = '    if "v" in header:'


class FormatIsToldByTypeFirst(SourceLie):
    """Lie: a header of format 4 with a field `type` is read as v3."""

    kills = "S-V3-01"
    file = "headers.py"
    line = '    if header.get("kind") == "header":'
    lie = '    if header.get("kind") == "header" and "type" not in header:'


class CreatedWhenTheFileWas(SourceLie):
    """Lie: the creation time is that of the file."""

    kills = "S-V3-03"
    file = "catalog.py"
    line = "        created_at=header.created_at,"
    lie = "        created_at=info.modified_at,"


class OffsetsAreDropped(SourceLie):
    """Lie: a date is read as if it were in UTC."""

    kills = "S-V3-03"
    file = "headers.py"
    line = "datetime.fromisoformat(value).timestamp()"
    lie = 'datetime.fromisoformat(value[:19] + "Z").timestamp()'


class StorageVersionIsThree(SourceLie):
    """Lie: a v3 file has storage version 3."""

    kills = "S-V3-03"
    file = "catalog.py"
    line = "        created_at=header.created_at,"
    lie = "        created_at=header.created_at,\n        storage_version=3 if isinstance(header, LegacyHeader) else 1,"


class VersionTwoIsThree(SourceLie):
    """Lie: a file of version 2 opens as if it were of version 3."""

    kills = "S-V3-04"
    file = "headers.py"
    line = "    if version != LEGACY_FORMAT:"
    lie = "    if version not in (2, LEGACY_FORMAT):"


class NoVersionIsThree(SourceLie):
    """Lie: a header without a version is one of version 3."""

    kills = "S-V3-04"
    file = "headers.py"
    line = 'header.get("version", 1)'
    lie = 'header.get("version", 3)'


class OtherVersionsAreCorrupt(SourceLie):
    """Lie: other versions of the legacy format are corruption."""

    kills = "S-V3-04"
    file = "headers.py"
    line = "    if version != LEGACY_FORMAT:\n        raise UnsupportedVersion(path, version)"
    lie = '    if version != LEGACY_FORMAT:\n        raise CorruptSession(path, 1, f"version {version}")'


class EarlierFormatsAreFour(SourceLie):
    """Lie: versions of format 4 below 4 open."""

    kills = "S-V3-04"
    file = "headers.py"
    line = "    if version != FORMAT:"
    lie = "    if version > FORMAT:"


class DeletesAnyVersion(SourceLie):
    """Lie: `delete` does not look into the file."""

    kills = "S-V3-04"
    file = "repo.py"
    line = "            await check_identity(self._files, named.path, named.id, named.cwd)\n"
    lie = ""
