"""The `store` argument of a case: its repository, its instruments, and sessions in every shape."""

from __future__ import annotations

from typing import Any

from forkproof.expect import expect_equal
from forkproof.harness import HarnessError, Seams, fact, lacking_calls
from forkproof.instruments.clocks import Clock
from forkproof.instruments.gates import GateProbe
from forkproof.instruments.trace import Trace
from forkproof.makers import shapes
from forkproof.makers.subject import Subject
from forkproof.oracle.model import SessionModel
from forkstore.contract.store import Session, SessionMetadata, SessionRepo

Ids = list[str]
Listing = list[SessionMetadata]


class SessionMaker:
    """A store of the case's own: `repo` is the traced repository, `clock` and `probe` are there when the case needs
    those seams.

    >>> source = await store.rich_session()
    >>> fork = await source.fork(TreeFork())
    >>> await fork.check_everywhere()
    """

    repo: SessionRepo

    def __init__(self, harness: Any, trace: Trace, clock: Clock | None = None, probe: GateProbe | None = None) -> None:
        self.harness = harness
        self.trace = trace
        self._clock = clock
        self._probe = probe
        self.durable: bool = bool(fact(harness, "durable"))
        self.cwd: str | None = fact(harness, "cwd")
        self.repos: list[SessionRepo] = []
        """Every repository that the case opened, the newest last."""

    @property
    def clock(self) -> Clock:
        """The clock of the repository; there when the case needs the seam `clock`."""
        if self._clock is None:
            raise LookupError("the case did not ask for the seam 'clock'")
        return self._clock

    @property
    def probe(self) -> GateProbe:
        """The fork probe of the repository; there when the case needs the seam `probe`."""
        if self._probe is None:
            raise LookupError("the case did not ask for the seam 'probe'")
        return self._probe

    async def start(self) -> SessionMaker:
        """Opens the repository through the harness. The runner does this. Raises `HarnessError`."""
        self.repo = await self._open_repo()
        return self

    async def open_second_repo(self) -> SessionRepo:
        """Another repository object on the same store, beside the first (durable harnesses only)."""
        if not self.durable:
            raise LookupError("the harness is not durable: its sessions do not outlive their repository object")
        return await self._open_repo()

    async def reopen_repo(self) -> SessionRepo:
        """Closes the repository, all its sessions with it, and opens the store anew (durable harnesses only);
        `store.repo` is the new one.
        """
        await self.repo.close()
        self.repo = await self.open_second_repo()
        return self.repo

    async def _open_repo(self) -> SessionRepo:
        try:
            repo = await self.harness.open_repo(Seams(clock=self._clock, probe=self._probe))
        except HarnessError:
            raise
        except Exception as error:
            raise HarnessError(f"open_repo raised {type(error).__name__}: {error}") from error
        lacking = lacking_calls(repo)
        if lacking:
            raise HarnessError(f"open_repo returned {type(repo).__name__}: no {', '.join(lacking)}")
        self.repos.append(self.trace.watch_repo(repo))
        return self.repos[-1]

    @property
    def create_options(self) -> dict[str, Any]:
        """What `repo.create` needs on this store besides the id: `cwd` where the store takes one, else nothing."""
        return {} if self.cwd is None else {"cwd": self.cwd}

    async def create(self, id: str | None = None, **options: Any) -> Subject:
        """A new, empty session."""
        given = {**self.create_options, **options, **({} if id is None else {"id": id})}
        session = await self.repo.create(**given)
        return self.subject(session, SessionModel(parent_session_id=options.get("parent_session_id")))

    def subject(self, session: Session, model: SessionModel) -> Subject:
        """A subject for a session that the case made by itself."""
        return Subject(self, session, model)

    async def list(self) -> Listing:
        """`repo.list()`."""
        return await self.repo.list()

    async def listed_ids(self) -> Ids:
        """The ids that the repository lists, sorted."""
        return sorted(metadata.id for metadata in await self.repo.list())

    async def assert_only_known_sessions(self, *subjects: Subject) -> None:
        """Breaks the clause unless the repository lists exactly these sessions, each once."""
        expect_equal(
            await self.listed_ids(), sorted(subject.id for subject in subjects), of="the sessions that are listed"
        )

    async def check_each(self, *subjects: Subject) -> None:
        """`check_everywhere` for several sessions, one after the other; all of them are closed afterwards."""
        for subject in subjects:
            await subject.close()
        for subject in subjects:
            await subject.open()
            await subject.check_everywhere()
            await subject.close()

    async def empty_session(self, id: str | None = None) -> Subject:
        """Nothing in it."""
        return await self.create(id)

    async def linear_session(self, entries: int = 4, *, branch: str = "main", id: str | None = None) -> Subject:
        """A lane `main` over a chain `e1 … en` of messages of several roles, a custom entry among them."""
        return await shapes.linear(await self.create(id), entries, branch)

    async def bushy_session(self, *, branch: str = "main", id: str | None = None) -> Subject:
        """A fixed tree: two roots, four branches, shared paths, and a subtree that no tip reaches. See
        `shapes.bushy`.
        """
        return await shapes.bushy(await self.create(id), branch)

    async def lanes_session(self, id: str | None = None) -> Subject:
        """Lanes and branches of every kind: configured, busy, data-only, null tip, tip moved back, odd names. See
        `shapes.lanes`.
        """
        return await shapes.lanes(await self.create(id))

    async def labelled_session(self, id: str | None = None) -> Subject:
        """A name, and labels on reachable, unreachable and unknown entries."""
        return await shapes.labelled(await self.create(id))

    async def lists_session(self, id: str | None = None) -> Subject:
        """Application lists: kept, deleted, deleted and appended to again; and scalars at the same addresses."""
        return await shapes.lists(await self.create(id))

    async def rich_session(self, id: str | None = None) -> Subject:
        """Everything that the source of S-FORK-EQ-02 has."""
        return await shapes.rich(await self.create(id))

    async def large_session(self, entries: int = 5_000, id: str | None = None) -> Subject:
        """A lane `main` over a long chain, with a side branch, committed 250 entries at a time."""
        return await shapes.large(await self.create(id), entries)
