"""What a backend hands the kit: a way to open its repository, and the openings (seams) a case may ask for.

A harness is one class with one method that matters, `open_repo`. Everything else has a default, and a duck-typed object
takes those defaults too, because the reference's own harnesses may not import the kit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from forkstore.contract.files import Files
from forkstore.contract.store import SessionRepo

if TYPE_CHECKING:
    import apsw

Mode = Literal["create", "read-write", "read-only"]
"""How a connection is opened (section 29.2 of the session contract)."""
Connect = Callable[[str, Mode], "apsw.Connection"]
"""What opens a connection on a path: the repository option `connect` (section 2.5)."""

SEAM_NAMES = (
    "probe",
    "spy-files",
    "spy-sql",
    "raw-files",
    "clock",
    "fault-injection",
    "raw-commit",
    "staging-dir",
    "code",
)
"""The seams of section 1.4 of the session contract; `code` is the reference store's own and is never asked of
others.
"""


REPOSITORY_CALLS = ("create", "open", "list", "delete", "fork", "close")
STAGE_BATCH_ROWS = 250
STAGE_BATCH_BYTES = 1_048_576
"""The default bounds of a stage batch (section 2.5)."""


class HarnessError(Exception):
    """The harness could not give the kit a repository, or did not take its place back. Never a broken clause."""


@dataclass(frozen=True)
class Seams:
    """What a case asks of one opened repository; None where it does not ask."""

    clock: Callable[[], int] | None = None
    """Pass it on as the repository option `now`."""
    probe: object | None = None
    """Pass it on as the repository option `fork_probe`."""
    files: Callable[[Files], Files] | None = None
    """Wrap the file capability with it and pass that on as the repository option `files`:
    `files=seams.files(LocalFiles()) if seams.files else LocalFiles()`. Seams `spy-files` and `fault-injection`.
    """
    connect: Callable[[Connect], Connect] | None = None
    """Wrap the function that opens connections with it and pass that on as the repository option `connect`:
    `connect=seams.connect(open_connection) if seams.connect else open_connection`. Seams `spy-sql` and
    `fault-injection`.
    """
    staging_dir: Path | None = None
    """Pass it on as the repository option `staging_dir`. Seam `staging-dir`."""
    stage_batch_rows: int = STAGE_BATCH_ROWS
    """Pass it on as the repository option of that name where the store has one; seam `staging-dir`, like the next."""
    stage_batch_bytes: int = STAGE_BATCH_BYTES
    """Pass it on as the repository option of that name where the store has one."""


class Harness(Protocol):
    """The one method every harness has. All attributes of `SessionHarness` are optional on other objects."""

    async def open_repo(self, seams: Seams) -> SessionRepo:
        """A repository on this harness's store; every call opens the same store."""
        ...


class SessionHarness:
    """Base of a session store's harness: a folder of its own, and a repository on it.

    >>> class MemoryHarness(SessionHarness):
    ...     name = "memory"
    ...     kinds = {"memory"}
    ...     seams = {"clock", "probe", "raw-commit"}
    ...
    ...     async def open_repo(self, seams):
    ...         return MemorySessionRepo(now=seams.clock, fork_probe=seams.probe)

    A case that looks at a store from a second process makes the harness anew there, as `MyHarness(directory)`: its
    class must be one that can be imported, and everything it needs must lie in its directory.
    """

    name: str = ""
    """Shown in reports."""
    family: str = "sessions"
    kinds: Iterable[str] = frozenset()
    """Of `memory`, `jsonl`, `sqlite`: clauses that apply to these kinds only are asked too."""
    seams: Iterable[str] = frozenset()
    """Of `SEAM_NAMES`: what this harness can offer beyond opening a repository."""
    durable: bool = False
    """The store outlives its repository object: a second `open_repo` shows the same sessions."""
    contract: str = "2026.1"
    """The pinned contract version; clauses that are newer are shown, not scored."""
    beyond: bool = False
    """Whether clauses that ask more than the public protocol count for the verdict."""
    cwd: str | None = None
    """Working directory for stores whose `create` takes one; None for stores without."""
    sessions_root: Path | None = None
    """The directory that the repository is given as `sessions_root` (section 2.5); it need not stand yet. The seam
    `raw-files` of a store of kind `jsonl` needs it: cases read the session files there, and put their own beside them.
    """
    database_directory: Path | None = None
    """The directory that the repository is given as `directory` (section 2.5), one database a session; it need not
    stand yet. The seam `raw-files` of a store of kind `sqlite` needs this or `database_path`, not both: cases read the
    rows there with a connection of their own, and put their own beside them.
    """
    database_path: Path | None = None
    """The file that the repository is given as `database_path`: one database for all sessions. It need not stand
    yet.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    async def open_repo(self, seams: Seams) -> SessionRepo:
        """A repository on this harness's store. Raises `HarnessError` when a subclass does not say how."""
        raise HarnessError(f"{type(self).__name__}.open_repo is not written: return your repository there")

    async def clean_up(self) -> None:
        """Runs after each case, when its sessions are deleted and its repository is closed."""


def fact(harness: object, name: str) -> Any:
    """An attribute of the harness, or the default that `SessionHarness` gives it."""
    return getattr(harness, name, getattr(SessionHarness, name))


def works_on_a_database(harness: object) -> bool:
    """Whether the store's connections are what the kit sees and steers it by: it says so by its kinds or its seams."""
    return "sqlite" in fact(harness, "kinds") or "spy-sql" in fact(harness, "seams")


def works_on_files(harness: object) -> bool:
    """Whether its file calls are; a store that says nothing of either is taken for one on files."""
    says_so = "jsonl" in fact(harness, "kinds") or "spy-files" in fact(harness, "seams")
    return says_so or not works_on_a_database(harness)


def lacking_calls(repo: object) -> list[str]:
    """Which of a repository's calls the object does not have, by name: what is no repository lacks most of them."""
    return [name for name in REPOSITORY_CALLS if not callable(getattr(repo, name, None))]


def harness_name(harness: object) -> str:
    """The name to show: the harness's own, or that of its class."""
    return str(fact(harness, "name") or type(harness).__name__)
