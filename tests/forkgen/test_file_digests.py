"""Legacy and damaged files are the same, byte for byte and verdict for verdict, on every machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forkgen.file_digests import digests

ROOT = Path(__file__).parents[2]
COMMITTED = {"damage": "d9f9cb204506586b86e6ffffd37d7784", "legacy": "fe3848fa7ad9c035a175263a1c623546"}
"""Changed together with the cases, on purpose."""


def test_the_files_have_the_committed_digests() -> None:
    assert digests() == COMMITTED


@pytest.mark.parametrize(("hash_seed", "locale"), [("0", "C"), ("1", "C.UTF-8")])
def test_neither_hash_seed_nor_locale_changes_a_file(hash_seed: str, locale: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": locale, "LANG": locale}
    command = [sys.executable, "-m", "tests.forkgen.file_digests"]
    made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert made.stdout == repr(COMMITTED)
