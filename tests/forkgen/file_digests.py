"""Digests of every legacy and damaged file with its verdict; run as a module it prints them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable

from forkgen.damage import damage
from forkgen.legacy import legacy_files
from tests.forkgen.good_files import good_file


def digests() -> dict[str, str]:
    damaged = (
        (repr((case.name, case.verdict, case.line, case.added)), case.chunks()) for case in damage(good_file("rich"))
    )
    legacy = ((repr((case.name, case.verdict, case.line, case.normalized)), [case.contents]) for case in legacy_files())
    return {"damage": digest(damaged), "legacy": digest(legacy)}


def digest(files: Iterable[tuple[str, Iterable[bytes]]]) -> str:
    total = hashlib.blake2b(digest_size=16)
    for told, chunks in files:
        total.update(told.encode("utf-8", "backslashreplace"))
        for chunk in chunks:
            total.update(chunk)
    return total.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(repr(digests()))
