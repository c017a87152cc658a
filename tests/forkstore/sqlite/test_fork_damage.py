"""A damaged source is refused with CorruptSession, and nothing is left (S-FORK-BR-11, S-SQL-FORK-08)."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from forkstore import BranchFork, CorruptSession, SqliteSessionRepo, TreeFork
from forkstore.contract.forks import ForkOptions
from tests.forkstore.sqlite.forked import long_source

pytestmark = pytest.mark.asyncio

TREE, TIP = TreeFork(id="fork"), BranchFork("garden", id="fork")
OLD = BranchFork("garden", "bed-00000002", id="fork")

DAMAGE: dict[str, tuple[str, list[ForkOptions]]] = {
    "sequence-of-text": ("UPDATE entries SET seq = 'q' WHERE seq = 5", [TREE, TIP]),
    "sequence-twice": ("UPDATE entries SET seq = 4 WHERE seq = 5", [TREE, TIP]),
    "parent-later": ("UPDATE entries SET parent_id = 'bed-00000007' WHERE seq = 5", [TREE, TIP]),
    "parent-missing": ("UPDATE entries SET parent_id = 'nowhere' WHERE seq = 5", [TREE, TIP]),
    "parent-of-itself": ("UPDATE entries SET parent_id = id WHERE seq = 5", [TREE, TIP]),
    "no-root": ("UPDATE entries SET parent_id = 'nowhere' WHERE seq = 1", [TREE, TIP, OLD]),
    "second-root": ("UPDATE entries SET parent_id = NULL WHERE seq = 5", [TIP]),
    "entry-missing": ("DELETE FROM entries WHERE seq = 5", [TREE, TIP, OLD]),
    "root-missing": ("DELETE FROM entries WHERE seq = 1", [TREE, TIP, OLD]),
    "id-of-bytes": ("UPDATE entries SET id = x'00' WHERE seq = 8", [TREE, TIP, OLD]),
    "id-of-no-text": ("UPDATE entries SET id = CAST(x'ff' AS TEXT) WHERE seq = 8", [TREE, TIP]),
    "namespace-of-bytes": ("UPDATE scalar_values SET namespace = x'ff' WHERE namespace = 'garden.plan'", [TREE]),
    "key-of-bytes": ("UPDATE scalar_values SET key = x'ff' WHERE namespace = 'garden.plan'", [TREE]),
    "key-of-no-text": ("UPDATE scalar_values SET key = CAST(x'ff' AS TEXT) WHERE namespace = 'garden.plan'", [TREE]),
    "tip-of-no-json": ("UPDATE scalar_values SET value = '{' WHERE namespace = 'pi.branch.tip'", [TIP, OLD]),
    "no-segment": ("DELETE FROM branch_meta", [TIP, OLD]),
    "no-rows": ("DELETE FROM branch_entries", [TIP, OLD]),
    "row-missing": ("DELETE FROM branch_entries WHERE entry_seq = 2", [TIP, OLD]),
    "row-of-a-stranger": ("UPDATE branch_entries SET entry_id = 'nobody' WHERE entry_seq = 2", [TIP, OLD]),
    "row-of-another-type": ("UPDATE branch_entries SET entry_type = 'custom' WHERE entry_seq = 2", [TIP, OLD]),
    "row-of-another-sequence": ("UPDATE branch_entries SET entry_seq = 99 WHERE entry_seq = 10", [TIP]),
    "tip-too-low": ("UPDATE branch_meta SET tip_seq = 3", [TIP, OLD]),
    "tip-of-text": ("UPDATE branch_meta SET tip_seq = 'q'", [TIP, OLD]),
    "base-without-sequence": ("UPDATE branch_meta SET base_branch_id = branch_id", [TIP, OLD]),
    "sequence-without-base": ("UPDATE branch_meta SET base_seq = 1", [TIP, OLD]),
    "base-of-itself": ("UPDATE branch_meta SET base_branch_id = branch_id, base_seq = 5", [TIP, OLD]),
    "base-missing": ("UPDATE branch_meta SET base_branch_id = 'nowhere', base_seq = 1", [TIP, OLD]),
    "base-of-text": ("UPDATE branch_meta SET base_branch_id = branch_id, base_seq = 'q'", [TIP, OLD]),
    "base-of-bytes": ("UPDATE branch_meta SET base_branch_id = x'00', base_seq = x'00'", [TIP, OLD]),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_source_is_refused(tmp_path: Path, damage: str) -> None:
    statement, forks = DAMAGE[damage]
    path = tmp_path / "elsewhere" / "source.sqlite"
    source = long_source(path, 10)
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO scalar_values VALUES ('source', 'garden.plan', 'bed', 20, '1')")
    connection.execute(statement)
    assert connection.changes()
    connection.close()
    repo = SqliteSessionRepo(tmp_path / "sessions", stage_batch_rows=3)
    for options in forks:
        with pytest.raises(CorruptSession) as refusal:
            await repo.fork(source, options)
        assert refusal.value.path == source.path
        assert not (tmp_path / "sessions").exists()
    await repo.close()


SOUND: dict[str, tuple[str, list[ForkOptions]]] = {
    "index-missing": ("DELETE FROM branch_entries", [TREE]),
    "segments-missing": ("DELETE FROM branch_meta", [TREE]),
    "tip-of-nobody": ("UPDATE scalar_values SET value = '\"x\"' WHERE namespace = 'pi.branch.tip'", [TREE, TIP]),
    "tip-of-no-id": ("UPDATE scalar_values SET value = '[5]' WHERE namespace = 'pi.branch.tip'", [TREE, TIP]),
    "payload-of-no-json": ("UPDATE entries SET payload = CAST(x'ff' AS TEXT)", [TREE, TIP]),
}


@pytest.mark.parametrize("damage", SOUND)
async def test_what_a_scope_does_not_need_may_be_damaged(tmp_path: Path, damage: str) -> None:
    statement, forks = SOUND[damage]
    path = tmp_path / "elsewhere" / "source.sqlite"
    source = long_source(path, 10)
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()
    repo = SqliteSessionRepo(tmp_path / "sessions")
    for options in forks:
        fork = await repo.fork(source, options)
        await fork.close()
        await repo.delete(fork.metadata)
    await repo.close()


async def test_a_source_of_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "source.sqlite"
    path.parent.mkdir()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA encoding = 'UTF-16'")
    connection.execute("CREATE TABLE other (id)")
    connection.close()
    source = long_source(path, 10)
    repo = SqliteSessionRepo(tmp_path / "sessions")
    for options in (TREE, TIP):
        with pytest.raises(CorruptSession):
            await repo.fork(source, options)
    await repo.close()
