"""The attempts that need session files past the store: torn ones, legacy ones; and what all of them publish."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from forkgen.legacy import LegacyFile
from forkgen.legacy.lanes import lanes
from forkproof.instruments.clocks import START
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.file_states import LegacySession
from forkproof.makers.small_file import ID, small_file
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.attempts import BRANCH, LOG, TREE, Attempt, Creates, Forks, Opens
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import ListAppend


def legacy_case() -> LegacyFile:
    """A short legacy v3 file with a complete lane `main`."""
    return next(case for case in lanes() if case.name == "lane-complete")


class OpensTorn(Opens):
    """`open` of a file with a torn tail, which it repairs."""

    torn: bytes

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.subject = await store.torn_tail_session(id="source")
        self.torn = store.path_of(self.subject).read_bytes()
        return await Attempt.arrange(self, store)

    async def ready(self) -> None:
        self.store.raw.replace(self.destination, self.torn)

    @property
    def destination(self) -> Path:
        return self.store.path_of(self.subject)

    async def forgive(self) -> None:
        """A repair that was completed stays (section 20.2)."""
        if self.destination.read_bytes() == self.torn[: self.torn.rindex(b"\n") + 1]:
            await self.ready()


class OpensLegacy(Attempt):
    """`open` of a legacy v3 file."""

    source: LegacySession

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.source = store.legacy_session(legacy_case())
        return await super().arrange(store)

    async def made(self) -> Any:
        return await self.store.repo.open(self.source.metadata)

    async def accept(self, of: str) -> None:
        ids = [entry["id"] for entry in await self.value.scan_entries()]
        subject = self.store.subject(self.value, self.source.model(ids))
        await subject.check(of)
        await subject.close()


class ForksTorn(Forks):
    """`fork` of a closed file with a torn tail."""

    def __init__(self, options: ForkOptions) -> None:
        super().__init__(options, closed=False)

    async def shaped(self, store: SessionMaker) -> Subject:
        return await store.torn_tail_session(id="source")


class ForksLegacy(Forks):
    """`fork` of a closed legacy v3 file."""

    def __init__(self, options: ForkOptions) -> None:
        super().__init__(options, closed=True)
        self.legacy: LegacySession

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.legacy = store.legacy_session(legacy_case())
        return await Attempt.arrange(self, store)

    async def made(self) -> Any:
        return await self.store.repo.fork(self.legacy.metadata, self.options)

    async def accept(self, of: str) -> None:
        ids = [entry["id"] for entry in await self.value.scan_entries()]
        model = self.legacy.model(ids).fork(self.options, self.legacy.metadata.id)
        subject = self.store.subject(self.value, model)
        await subject.check(of)
        await subject.close()
        await self.store.repo.delete(subject.metadata)


class ForksFromElsewhere(Forks):
    """`fork` of a closed file outside of the store, each time of another working directory: the destination's directory
    has to be made.
    """

    def __init__(self, options: ForkOptions) -> None:
        super().__init__(options, closed=True)
        self._number = 0
        self._metadata: SessionMetadata
        self._model: SessionModel

    async def arrange(self, store: SessionMaker) -> Attempt:
        self._directory = store.raw.elsewhere()
        return await Attempt.arrange(self, store)

    async def ready(self) -> None:
        self._number += 1
        cwd, path = f"/srv/orchard-{self._number}", self._directory / f"walk-{self._number}.jsonl"
        path.write_bytes(small_file(cwd=cwd))
        self._metadata = SessionMetadata(id=ID, created_at=START, cwd=cwd, path=str(path), modified_at=START)
        self._model = model_of_records(lines_of(path).records)

    async def made(self) -> Any:
        return await self.store.repo.fork(self._metadata, self.options)

    def model(self) -> SessionModel:
        return self._model.fork(self.options, ID)


class Upgrades(Attempt):
    """The first commit of a legacy v3 session, in a file that is put back each time."""

    legacy: LegacySession
    subject: Subject | None = None
    write: Final = ListAppend(LOG, "first")

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.legacy = store.legacy_session(legacy_case())
        return await super().arrange(store)

    async def ready(self) -> None:
        await self.leave()
        self.store.raw.replace(self.legacy.path, self.legacy.case.contents)
        self.subject = await self.legacy.open()
        self.subject.model.look_at([(LOG.namespace, LOG.key)])

    async def leave(self) -> None:
        if self.subject is not None:
            await ended(self.subject.session.close())

    async def made(self) -> Any:
        return await self.opened.session.append_list(LOG, "first")

    async def accept(self, of: str) -> None:
        self.opened.follow(self.value, self.write)
        model: Any = self.opened.model
        model.follow_upgrade(await self.opened.session.scan_usage())
        await self.opened.check(of)
        await self.opened.reopen()
        await self.opened.check(f"{of}, opened again")

    @property
    def destination(self) -> Path:
        return self.legacy.path

    @property
    def opened(self) -> Subject:
        """The session of the last `ready`."""
        if self.subject is None:
            raise LookupError("nothing was made ready")
        return self.subject


MAKING: dict[str, Callable[[], Attempt]] = {
    "create": Creates,
    "create-elsewhere": lambda: Creates(elsewhere=True),
    "open": Opens,
    "open-torn": OpensTorn,
    "open-legacy": OpensLegacy,
    "branch-fork-of-open": lambda: Forks(BRANCH, closed=False),
    "tree-fork-of-closed": lambda: Forks(TREE, closed=True),
    "fork-of-torn": lambda: ForksTorn(BRANCH),
    "fork-of-legacy": lambda: ForksLegacy(TREE),
    "fork-from-elsewhere": lambda: ForksFromElsewhere(TREE),
}
"""The calls that make or open a session."""
PUBLISHED: dict[str, Callable[[], Attempt]] = {
    "create": Creates,
    "create-elsewhere": lambda: Creates(elsewhere=True),
    "fork": lambda: Forks(TREE, closed=True),
    "large-fork": lambda: Forks(TREE, closed=False, further=1_200),
    "repair": OpensTorn,
    "upgrade": Upgrades,
}
"""The calls that publish a file."""
REPLACING = frozenset({"repair", "upgrade"})
"""Those that put it in the place of another."""
