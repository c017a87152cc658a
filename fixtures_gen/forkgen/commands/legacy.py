"""`forkgen legacy`: files of format 3, each with what a right store makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forkgen.legacy import Fresh, LegacyFile, Normalized, legacy_files

from . import unknown
from .destination import check_directory, writing
from .listing import print_listing


def list_legacy(name: str | None, *, as_json: bool) -> int:
    """Lists the files. Raises UsageError for an unknown name."""
    print_listing("files", (_document(case, None) for case in _chosen(name)), as_json=as_json)
    return 0


def write_legacy(name: str | None, directory: Path, *, force: bool, as_json: bool) -> int:
    """Writes the files and lists them. Raises UsageError."""
    chosen = _chosen(name)
    check_directory(directory, force=force)
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    count = print_listing("files", _written(chosen, directory), as_json=as_json)
    if not as_json:
        print(f"{directory}: {count} legacy files")
    return 0


def _chosen(name: str | None) -> list[LegacyFile]:
    cases = {case.name: case for case in legacy_files()}
    if name is None:
        return list(cases.values())
    if name not in cases:
        raise unknown("legacy file", name, cases)
    return [cases[name]]


def _written(cases: list[LegacyFile], directory: Path) -> Iterator[dict[str, Any]]:
    for case in cases:
        with writing(directory):
            path = case.write_to(directory)
        yield _document(case.in_directory(directory), path)


def _document(case: LegacyFile, path: Path | None) -> dict[str, Any]:
    return {
        "name": case.name,
        "verdict": case.verdict,
        "line": case.line,
        "version": case.version,
        "clauses": case.clauses,
        "named": case.named,
        "normalized": None if case.normalized is None else _normalized(case.normalized),
        "file": None if path is None else str(path),
    }


def _normalized(state: Normalized) -> Any:
    return _plain({"entries": state.entries, "derived": state.derived, "usage": state.usage})


def _plain(value: Any) -> Any:
    """JSON for a state: an id that each reading makes anew is an object that names its record."""
    if isinstance(value, Fresh):
        return {"fresh": value.record}
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return value
