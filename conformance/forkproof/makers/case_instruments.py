"""The instruments of one case, and how they come between a store and its files or its database.

The spy stands outermost and the faults under it, so a call that a fault strikes is seen, with its failure. A store on
files hands its file capability through, a store on a database the function that opens its connections; one that has
both hands both through.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypedDict, TypeVar

from forkproof.harness import HarnessError, Seams, works_on_a_database, works_on_files
from forkproof.instruments.clocks import Clock
from forkproof.instruments.file_spy import FileSpy
from forkproof.instruments.gates import GateProbe

if TYPE_CHECKING:
    from forkproof.instruments.file_faults import FileFaults
    from forkproof.instruments.sql_faults import SqlFaults
    from forkproof.instruments.sql_spy import SqlSpy

T = TypeVar("T")


class Staging(TypedDict, total=False):
    """What one opening may ask of stages other than the rest of the case (seam `staging-dir`)."""

    staging_dir: Path | None
    stage_batch_rows: int
    stage_batch_bytes: int


class _Instrument(Protocol[T]):
    """What stands between a store and what it works on."""

    def wrap(self, work: T, /) -> T:
        """What the store works on from here on, in place of `work`."""
        ...


class Wrapping(Generic[T]):
    """What a harness gets as `seams.files` or `seams.connect`: one for each repository, over the same instruments.

    >>> Wrapping[Files](spy, faults)(LocalFiles())
    """

    def __init__(self, spy: _Instrument[T] | None, faults: _Instrument[T] | None) -> None:
        self.instruments = [one for one in (faults, spy) if one is not None]
        """The nearest to the work first."""
        self.is_used = False

    @property
    def asked(self) -> Callable[[T], T] | None:
        """What to hand to the harness; None when there is no instrument at all."""
        return self if self.instruments else None

    @property
    def is_ignored(self) -> bool:
        """Whether a harness that was handed it did not call it."""
        return bool(self.instruments) and not self.is_used

    def __call__(self, work: T) -> T:
        self.is_used = True
        for instrument in self.instruments:
            work = instrument.wrap(work)
        return work


@dataclass(eq=False)
class CaseInstruments:
    """What one case sees and steers its store by; None where it did not ask.

    >>> instruments = CaseInstruments.of(needed_seams(bound), harness)
    >>> store = await SessionMaker(harness, trace, instruments).start()
    """

    clock: Clock | None = None
    probe: GateProbe | None = None
    files: FileSpy | None = None
    faults: FileFaults | None = None
    sql: SqlSpy | None = None
    sql_faults: SqlFaults | None = None
    staging_directory: Path | None = None

    @classmethod
    def of(cls, needs: Collection[str], harness: object) -> Self:
        """Those that a case with these needs gets on this harness. Faults come to the files, the database or both, as
        the harness's kinds and seams say.
        """
        strikes = "fault-injection" in needs
        return cls(
            clock=Clock() if "clock" in needs else None,
            probe=GateProbe() if "probe" in needs else None,
            files=FileSpy() if "spy-files" in needs else None,
            faults=_file_faults() if strikes and works_on_files(harness) else None,
            sql=_sql_spy() if "spy-sql" in needs else None,
            sql_faults=_sql_faults() if strikes and works_on_a_database(harness) else None,
            staging_directory=_new_directory() if "staging-dir" in needs else None,
        )

    def opening(self, staging: Staging | None = None) -> Opening:
        """What the next opening of the repository hands to the harness."""
        return Opening(self, staging or {})

    @property
    def silence(self) -> str | None:
        """Which spy saw nothing, though its case ran: it would agree to everything."""
        if self.files is not None and not self.files.seen:
            return "offers spy-files, but the repository made no file call through seams.files"
        if self.sql is not None and not self.sql.seen:
            return "offers spy-sql, but the repository opened no connection through seams.connect"
        return None

    def calm(self) -> None:
        """Ends every fault and opens every gate."""
        if self.probe is not None:
            self.probe.release_all()
        if self.faults is not None:
            self.faults.disarm()
        if self.sql_faults is not None:
            self.sql_faults.disarm()

    def put_away(self) -> None:
        """Takes away what the instruments brought along: the faults beneath the connections, and the staging directory
        with all that was left in it.
        """
        if self.sql is not None:
            self.sql.release()
        if self.sql_faults is not None:
            self.sql_faults.release()
        if self.staging_directory is not None:
            shutil.rmtree(self.staging_directory, ignore_errors=True)


class Opening:
    """One opening of a repository: its seams, and whether the harness passed them on."""

    def __init__(self, instruments: CaseInstruments, staging: Staging) -> None:
        self._files = Wrapping(instruments.files, instruments.faults)
        self._connect = Wrapping(instruments.sql, instruments.sql_faults)
        asked = Seams(
            clock=instruments.clock,
            probe=instruments.probe,
            files=self._files.asked,
            connect=self._connect.asked,
            staging_dir=instruments.staging_directory,
        )
        self.seams = replace(asked, **staging)

    def check(self) -> None:
        """Raises HarnessError when the harness left a seam unused that it was handed."""
        if self._files.is_ignored:
            raise HarnessError(
                "open_repo did not call seams.files, which the seams spy-files and fault-injection ask for: "
                "give the repository files=seams.files(LocalFiles())"
            )
        if self._connect.is_ignored:
            raise HarnessError(
                "open_repo did not call seams.connect, which the seams spy-sql and fault-injection ask for: "
                "give the repository connect=seams.connect(open_connection)"
            )


def _new_directory() -> Path:
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="forkproof-staging-")))


# Imported when a case asks: most cases of most stores never do.


def _file_faults() -> FileFaults:
    from forkproof.instruments.file_faults import FileFaults

    return FileFaults()


def _sql_spy() -> SqlSpy:
    from forkproof.instruments.sql_spy import SqlSpy

    return SqlSpy()


def _sql_faults() -> SqlFaults:
    from forkproof.instruments.sql_faults import SqlFaults

    return SqlFaults()
