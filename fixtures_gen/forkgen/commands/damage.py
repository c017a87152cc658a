"""`forkgen damage FILE`: every damaged variant of a session file, with its verdict."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from forkgen.damage import Damaged, NotAGoodFile, damage
from forkgen.progress import Step, bar

from . import UsageError, described
from .destination import check_directory, writing
from .listing import print_listing

_CHUNK_BYTES = 64 * 1024


def damage_file(file: Path, directory: Path | None, *, only: Sequence[str], force: bool, as_json: bool) -> int:
    """Lists the variants whose names begin with one of `only`, and writes them to a directory. Raises UsageError."""
    if directory is not None:
        check_directory(directory, force=force)
        if directory.resolve() == file.resolve().parent:
            raise UsageError(f"{directory}: holds {file.name} itself, which must stay as it is; name another place")
    # On a terminal the list itself shows how far the work is.
    with bar("damaging", hidden=directory is None or sys.stdout.isatty()) as step:
        variants = _written(_chosen(file, only), directory, step)
        count = print_listing("variants", variants, as_json=as_json)
    if not count:
        raise UsageError(f"--only {' --only '.join(only)}: no variant's name begins so")
    if not as_json:
        print(f"{file}: {count} variants{'' if directory is None else f' in {directory}'}")
    return 0


def _chosen(file: Path, only: Sequence[str]) -> Iterator[Damaged]:
    try:
        # What is no file, such as a pipe, can be read only once.
        source = file if file.is_file() else _chunks(file)
        for variant in damage(source):
            if not only or variant.name.startswith(tuple(only)):
                yield variant
    except NotAGoodFile as error:
        raise UsageError(f"{file}: cannot be damaged: {error}") from error
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or described(error)}") from error


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk


def _written(variants: Iterator[Damaged], directory: Path | None, step: Step) -> Iterator[dict[str, Any]]:
    for variant in variants:
        path = None
        if directory is not None:
            path = directory / f"{variant.name}.jsonl"
            with writing(path):
                directory.mkdir(parents=True, exist_ok=True)
                variant.write_to(path)
            step(1)
        yield _document(variant, path)


def _document(variant: Damaged, path: Path | None) -> dict[str, Any]:
    return {
        "name": variant.name,
        "verdict": variant.verdict,
        "line": variant.line,
        "version": variant.version,
        "clauses": variant.clauses,
        "cause": variant.cause,
        "added": variant.added,
        "next_seq": variant.next_seq,
        "repaired": variant.repaired,
        "file": None if path is None else str(path),
    }
