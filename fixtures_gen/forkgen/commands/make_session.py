"""`forkgen make RECIPE --into TARGET`: a session in a backend, committed and checked through the contract."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from forkgen.checking import ExpectationBroken
from forkgen.plan import Transaction
from forkgen.progress import Tally, bar
from forkgen.recipe import Generated
from forkgen.session_check import check_session
from forkgen.targets import OpenTarget, Seams, find_target
from forkstore.contract.store import Session, SessionMetadata, SessionRepo, StorageReads

from . import TargetFailed, UsageError, described
from .destination import writing
from .make_file import default_id


def make_session(generated: Generated, name: str, *, id: str | None, directory: Path | None, as_json: bool) -> int:
    """Makes the session and says what became of it. Raises UsageError and TargetFailed."""
    session_id, tally = default_id(generated) if id is None else id, Tally()
    with _opened(name, directory) as target:
        asyncio.run(_make(generated, target, session_id, tally))
    if as_json:
        made = {"recipe": generated.name, "seed": generated.seed, "size": generated.size, "id": session_id}
        counts = {"transactions": tally.transactions, "writes": tally.writes}
        place = None if directory is None else str(directory)
        kept = {"target": name, "directory": place, "durable": target.durable, "as_expected": True}
        print(json.dumps({**made, **counts, **kept}))
        return 0
    print(f"{name}: session {session_id}, {tally}: holds what {generated.name} expects")
    if not target.durable:
        print(f"{name} keeps nothing: this was a dry run, and its session is gone")
    return 0


@contextmanager
def _opened(name: str, directory: Path | None) -> Iterator[OpenTarget]:
    """The backend, at a temporary place where none was named and it needs none afterwards. Raises UsageError."""
    target = find_target(name)
    if directory is not None:
        with writing(directory):
            directory.mkdir(parents=True, exist_ok=True)
        yield target.at(directory)
        return
    with tempfile.TemporaryDirectory(prefix="forkgen-") as place:
        opened = target.at(Path(place))
        if opened.durable:
            raise UsageError(f"target {name}: keeps files; say where with --directory")
        yield opened


async def _make(generated: Generated, target: OpenTarget, session_id: str, tally: Tally) -> None:
    repo, session = await _created(target, session_id)
    try:
        with bar(f"committing to {target.name}", tally.total(generated)) as step:
            for transaction in tally.watched(generated, step):
                await _commit(session, transaction)
            await session.close()
    except BaseException as error:
        await _removed(repo, session)
        if isinstance(error, Exception):
            done = f"after {tally.transactions} transactions"
            raise TargetFailed(f"target {target.name}: failed {done}: {described(error)}") from error
        raise
    try:
        await _check(generated, repo, session.metadata, target.name)
    except ExpectationBroken as error:
        raise TargetFailed(f"target {target.name}: session {session_id} is not as expected: {error}") from error
    except Exception as error:
        raise TargetFailed(f"target {target.name}: failed while it was checked: {described(error)}") from error


async def _created(target: OpenTarget, session_id: str) -> tuple[SessionRepo, Session]:
    try:
        repo = await target.harness.open_repo(Seams())
        if target.cwd is None:
            return repo, await repo.create(id=session_id)
        return repo, await repo.create(id=session_id, cwd=target.cwd)
    except Exception as error:
        raise UsageError(f"target {target.name}: takes no session {session_id!r}: {described(error)}") from error


async def _commit(session: Session, transaction: Transaction) -> None:
    # A store that never waits would keep an interrupt out until the end.
    await asyncio.sleep(0)
    await session.mutate(lambda scope: scope.commit(transaction))


async def _removed(repo: SessionRepo, session: Session) -> None:
    """Leaves nothing of an unfinished session, as far as a store that has just failed still does what it is told."""
    with suppress(Exception):
        await session.close()
    with suppress(Exception):
        await repo.delete(session.metadata)
    with suppress(Exception):
        await repo.close()


async def _check(generated: Generated, repo: SessionRepo, metadata: SessionMetadata, name: str) -> None:
    """Checks the session as it comes back when it is opened again: that is what the next one will find."""
    session = await repo.open(metadata)
    try:
        with bar(f"checking {name}"):
            await check_session(cast("StorageReads", _Interruptible(session)), generated.expectation)
    finally:
        await session.close()
        await repo.close()


class _Interruptible:
    """The reads of a session, each of which lets an interrupt through first."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        read = getattr(self._session, name)

        async def interruptible(*arguments: Any, **options: Any) -> Any:
            await asyncio.sleep(0)
            return await read(*arguments, **options)

        return interruptible
