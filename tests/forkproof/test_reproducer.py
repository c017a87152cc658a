"""A failing case leaves a script that replays it with the author's harness alone."""

import asyncio
import importlib
import subprocess
import sys

from forkproof.case import case, rows
from forkproof.runner import run_case
from forkstore.contract.forks import TreeFork
from forkstore.testing import MemoryHarness

REPRODUCIBLE = """
from forkproof.harness import SessionHarness
from forkstore import MemorySessionRepo

class Forgetful(MemorySessionRepo):
    async def fork(self, metadata, options):
        raise KeyError("parentId")

class Harness(SessionHarness):
    seams = {"clock"}
    async def open_repo(self, seams):
        return Forgetful(now=seams.clock)
"""


def test_a_reproducer_replays_the_failure_without_the_kit(tmp_path, monkeypatch):
    (tmp_path / "mystore_testing.py").write_text(REPRODUCIBLE)
    monkeypatch.syspath_prepend(tmp_path)
    harness = importlib.import_module("mystore_testing").Harness(tmp_path)

    @case("S-FORK-BR-05", needs=("clock",))
    @rows("position", before="before")
    async def forks(store, position):
        """Forks."""
        source = await store.linear_session(2)
        branch = await source.session.branch("main")
        entry = await branch.append_custom_entry("note", {"position": position, "text": "x" * 1000})
        await source.session.set_label(entry, "generated — ü")
        held = await source.session.begin_mutation()
        waiting = asyncio.ensure_future(source.session.set_name("later"))
        await asyncio.sleep(0)
        await held.end()
        await waiting
        await source.fork(TreeFork())

    (one,) = forks.variants()
    result = run_case(one, harness, reproducers=tmp_path / "reproducers")
    assert result.reproducer == str(tmp_path / "reproducers" / f"{one.id}.py")
    command = [sys.executable, "-W", "error", "-X", "utf8", result.reproducer]
    replayed = subprocess.run(command, cwd="/", capture_output=True, text=True, encoding="utf-8", check=False)
    assert replayed.stderr == ""
    assert (replayed.returncode, "all operations came to the same" in replayed.stdout) == (0, True), replayed.stdout
    assert "not replayed" not in replayed.stdout
    assert "now:      raised KeyError: 'parentId'" in replayed.stdout
    script = (tmp_path / "reproducers" / f"{one.id}.py").read_text(encoding="utf-8")
    assert "import forkproof" not in script
    assert "from forkproof" not in script


def test_a_reproducer_says_when_the_backend_was_mended(tmp_path, monkeypatch):
    module = tmp_path / "mended_testing.py"
    module.write_text(REPRODUCIBLE)
    monkeypatch.syspath_prepend(tmp_path)
    harness = importlib.import_module("mended_testing").Harness(tmp_path)

    @case("S-FORK-TREE-01", needs=())
    async def forks(store):
        """Forks."""
        await (await store.bushy_session()).fork(TreeFork())

    (one,) = forks.variants()
    result = run_case(one, harness, reproducers=tmp_path)
    module.write_text(
        REPRODUCIBLE.replace('raise KeyError("parentId")', "return await super().fork(metadata, options)")
    )
    command = [sys.executable, "-B", result.reproducer, "mended_testing:Harness"]
    replayed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (replayed.returncode, replayed.stderr) == (1, "")
    assert "1 operations differ from the recording" in replayed.stdout


def test_no_reproducer_is_written_for_a_case_that_holds(tmp_path):
    @case("S-REPO-01", needs=())
    async def holds(store):
        """Holds."""
        await store.empty_session()

    (one,) = holds.variants()
    assert run_case(one, MemoryHarness(tmp_path), reproducers=tmp_path / "none").reproducer is None
    assert not (tmp_path / "none").exists()
