"""The `store` argument of a case: its repository, its instruments, and sessions in every shape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from forkgen.damage import Damaged
from forkgen.legacy import LegacyFile
from forkproof.expect import expect_equal
from forkproof.harness import HarnessError, fact, lacking_calls
from forkproof.instruments.clocks import Clock
from forkproof.instruments.file_spy import FileSpy
from forkproof.instruments.gates import GateProbe
from forkproof.instruments.trace import Trace
from forkproof.makers import file_states, raw_files, shapes, small_file
from forkproof.makers.case_instruments import CaseInstruments, Staging
from forkproof.makers.raw_files import Naming, RawFiles
from forkproof.makers.second_process import states_in_second_process
from forkproof.makers.subject import Subject
from forkproof.oracle.model import SessionModel
from forkstore.contract.store import Session, SessionMetadata, SessionRepo

if TYPE_CHECKING:
    from forkproof.instruments.arming import Faults
    from forkproof.instruments.sql_faults import SqlFaults
    from forkproof.instruments.sql_spy import SqlSpy
    from forkproof.makers.raw_databases import RawDatabases

T = TypeVar("T")
Ids = list[str]
Listing = list[SessionMetadata]


class SessionMaker:
    """A store of the case's own: `repo` is the traced repository; its instruments are there when the case needs their
    seams: `clock`, `probe`, `files` and `faults`, `sql` and `sql_faults`; and so is what lies on disk, past the store:
    `raw` the session files, `databases` the databases.

    >>> source = await store.rich_session()
    >>> fork = await source.fork(TreeFork())
    >>> await fork.check_everywhere()
    """

    repo: SessionRepo

    def __init__(self, harness: Any, trace: Trace, instruments: CaseInstruments | None = None) -> None:
        self.harness = harness
        self.trace = trace
        self._instruments = instruments or CaseInstruments()
        self._raw: RawFiles | None = None
        self._databases: RawDatabases | None = None
        self.durable: bool = bool(fact(harness, "durable"))
        self.cwd: str | None = fact(harness, "cwd")
        self.repos: list[SessionRepo] = []
        """Every repository that the case opened, the newest last."""

    @property
    def clock(self) -> Clock:
        """The clock of the repository; there when the case needs the seam `clock`."""
        return _asked(self._instruments.clock, "clock")

    @property
    def probe(self) -> GateProbe:
        """The fork probe of the repository; there when the case needs the seam `probe`."""
        return _asked(self._instruments.probe, "probe")

    @property
    def files(self) -> FileSpy:
        """The spy on the file work of all repositories of the case; there when the case needs the seam `spy-files`."""
        return _asked(self._instruments.files, "spy-files")

    @property
    def faults(self) -> Faults:
        """The faults in what the store works on, its database or its files; there when the case needs the seam
        `fault-injection`.
        """
        return _asked(self._instruments.sql_faults or self._instruments.faults, "fault-injection")

    @property
    def sql(self) -> SqlSpy:
        """The spy on their database connections; there when the case needs the seam `spy-sql`."""
        return _asked(self._instruments.sql, "spy-sql")

    @property
    def sql_faults(self) -> SqlFaults:
        """The same for a store on a database, with what only a database has."""
        return _asked(self._instruments.sql_faults, "fault-injection")

    @property
    def staging_directory(self) -> Path:
        """The directory that they put their stages into; there when the case needs the seam `staging-dir`."""
        return _asked(self._instruments.staging_directory, "staging-dir")

    @property
    def raw(self) -> RawFiles:
        """The session files, past the store; there when the harness offers the seam `raw-files` and names its
        `sessions_root`.
        """
        if self._raw is None:
            root = fact(self.harness, "sessions_root")
            if root is None or "raw-files" not in fact(self.harness, "seams"):
                raise LookupError("the harness does not offer 'raw-files' with a sessions_root")
            self._raw = RawFiles(Path(root), self.cwd or small_file.CWD)
        return self._raw

    @property
    def databases(self) -> RawDatabases:
        """The databases, past the store; there when the harness offers the seam `raw-files` and names its
        `database_directory` or its `database_path`.
        """
        if self._databases is None:
            directory, path = fact(self.harness, "database_directory"), fact(self.harness, "database_path")
            if "raw-files" not in fact(self.harness, "seams") or (directory is None and path is None):
                raise LookupError("the harness does not offer 'raw-files' with a database_directory or database_path")
            # Imported when a case asks: stores without a database need no SQLite.
            from forkproof.makers.raw_databases import RawDatabases

            self._databases = RawDatabases(directory=directory, path=path)
        return self._databases

    async def start(self) -> SessionMaker:
        """Opens the repository through the harness. The runner does this. Raises `HarnessError`."""
        self.repo = await self._open_repo()
        return self

    async def open_second_repo(self, **staging: Unpack[Staging]) -> SessionRepo:
        """Another repository object on the same store, beside the first (durable harnesses only); `staging` for its
        stages.
        """
        if not self.durable:
            raise LookupError("the harness is not durable: its sessions do not outlive their repository object")
        return await self._open_repo(staging)

    async def reopen_repo(self, **staging: Unpack[Staging]) -> SessionRepo:
        """Closes the repository, all its sessions with it, and opens the store anew (durable harnesses only);
        `store.repo` is the new one.

        >>> await store.reopen_repo(stage_batch_rows=3)
        """
        await self.repo.close()
        self.repo = await self.open_second_repo(**staging)
        return self.repo

    async def _open_repo(self, staging: Staging | None = None) -> SessionRepo:
        opening = self._instruments.opening(staging)
        try:
            repo = await self.harness.open_repo(opening.seams)
        except HarnessError:
            raise
        except Exception as error:
            raise HarnessError(f"open_repo raised {type(error).__name__}: {error}") from error
        lacking = lacking_calls(repo)
        if lacking:
            raise HarnessError(f"open_repo returned {type(repo).__name__}: no {', '.join(lacking)}")
        opening.check()
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

    @property
    def root(self) -> Path:
        """The directory that holds the session directories (seam `raw-files`)."""
        return self.raw.root

    def path_of(self, subject: Subject) -> Path:
        """Where the subject's file is."""
        return raw_files.path_of(subject.metadata)

    async def plant(self, data: raw_files.Bytes, **naming: Unpack[Naming]) -> Path:
        """Puts a file where the session of that id, cwd and time belongs, past the store. See `RawFiles.plant`.

        >>> path = await store.plant(small_file(id="walk-1"), id="walk-1")
        >>> session = await store.repo.open(await store.planted_metadata(path))
        """
        return self.raw.plant(data, **naming)

    async def planted_metadata(self, path: Path) -> SessionMetadata:
        """The metadata of a planted file as the repository lists it; made by hand from its name where it does not."""
        return self.raw.metadata(path, await self.repo.list())

    def take_away_files(self) -> None:
        """Removes what the case planted or changed past the store. The runner does this after the case."""
        if self._raw is not None:
            self._raw.take_away()
        if self._databases is not None:
            self._databases.take_away()

    async def torn_tail_session(self, *, keep: int | None = None, id: str | None = None) -> Subject:
        """A closed session whose last line is cut after `keep` bytes. See `file_states.torn_tail`."""
        return await file_states.torn_tail(self, keep=keep, id=id)

    def damage_variants(self) -> Iterator[Damaged]:
        """Every damage of a small good file, each with its verdict (forkgen.damage)."""
        return file_states.damage_variants(self)

    def damaged_session(self, variant: Damaged) -> file_states.DamagedSession:
        """A damaged file in its place; it takes the place of the one before it.

        >>> for variant in store.damage_variants():
        ...     session = store.damaged_session(variant)
        """
        return file_states.damaged(self, variant)

    def legacy_session(self, case: LegacyFile) -> file_states.LegacySession:
        """A legacy v3 file in its place; it takes the place of the one before it.

        >>> for case in legacy_files():
        ...     session = store.legacy_session(case)
        """
        return file_states.legacy(self, case)

    def huge_session(self, entries: int, id: str = "huge") -> file_states.HugeSession:
        """A long session that was written past the store, in a fraction of the time that commits take."""
        return file_states.huge(self, entries, id)

    async def check_in_second_process(self, *subjects: Subject) -> None:
        """Breaks the clause unless another process, one for all, reads of the sessions, open or closed, exactly what
        their models hold. See `second_process.states_in_second_process`.
        """
        asked = [(subject.metadata, subject.model.touched) for subject in subjects]
        seen = await states_in_second_process(self.harness, asked)
        for subject, state in zip(subjects, seen, strict=True):
            expect_equal(state, subject.model.state(), of=f"the session {subject.id!r} as a second process reads it")


def _asked(instrument: T | None, seam: str) -> T:
    if instrument is None:
        raise LookupError(f"the case did not ask for the seam {seam!r}")
    return instrument
