"""Several processes on one store (S-SQL-LAY-12, S-SQL-TXN-04)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forkstore import SqliteSessionRepo, list_address

pytestmark = pytest.mark.one_python

PROCESSES = 4
COMMITS = 25
WRITER = f"""
import asyncio, sys
from forkstore import SqliteSessionRepo, list_address

async def write(path, number):
    repo = SqliteSessionRepo(database_path=path)
    print("ready", flush=True)
    sys.stdin.readline()
    session = await repo.create(id=f"walk-{{number}}")
    for commit in range({COMMITS}):
        await session.append_list(list_address("log"), commit)
    await repo.close()

asyncio.run(write(*sys.argv[1:]))
"""


def _start(path: Path, number: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(path), str(number)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ)


def test_processes_that_make_one_container_at_once_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "store" / "all.sqlite"
    writers = [_start(path, number) for number in range(PROCESSES)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0] * PROCESSES
    assert asyncio.run(_elements(path)) == {f"walk-{number}": [*range(COMMITS)] for number in range(PROCESSES)}
    assert [name.name for name in path.parent.iterdir() if not name.name.endswith(("-wal", "-shm"))] == ["all.sqlite"]


async def _elements(path: Path) -> dict[str, list[object]]:
    repo = SqliteSessionRepo(database_path=path)
    found = {}
    for metadata in await repo.list():
        session = await repo.open(metadata)
        found[metadata.id] = [element.value for element in await session.read_list(list_address("log"))]
    await repo.close()
    return found
