"""What the suites of legacy v3 files share: the files by clause and by room, and the judgement over one of them.

The files are those of `forkgen.legacy`, each with its outcome as data. Fresh ids, which no data can know, are learned
from the reading that is judged, and then hold for everything else that it shows.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

from forkgen.legacy import LegacyFile, Normalized, Verdict, legacy_files
from forkgen.legacy.lanes import lanes
from forkgen.legacy.lineage import lineage
from forkgen.legacy.summaries import summaries
from forkgen.legacy.trees import trees
from forkgen.legacy.version_one import derived_files
from forkproof.case import rows
from forkproof.expect import ClauseBroken, expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.file_states import LegacySession
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.legacy_own_files import FALLING, RICH, odd_values
from forkstore.contract.errors import SessionStoreError
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session, SessionMetadata

_FILES: Final = tuple(legacy_files())

LONG_AGO: Final = 1_600_000_000
"""The modification time of every planted file, in Unix seconds: whatever touches one moves it."""
EVERY: Final = 32
"""Of the files that are torn at each byte, what is slow takes one in so many."""
Position = Literal["at", "before"]
POSITIONS: Final[tuple[Position, ...]] = ("at", "before")
BOTH_SCOPES: Final[tuple[ForkOptions, ...]] = (TreeFork(), BranchFork("main"))


def opening(clause: str) -> dict[str, LegacyFile]:
    """The files that open and that name the clause, by name."""
    return {file.name: file for file in _FILES if file.verdict is Verdict.OPENS and clause in file.clauses}


def refused_for(clause: str) -> dict[str, LegacyFile]:
    """The files that are refused and that name the clause, by name."""
    return {file.name: file for file in _FILES if file.verdict is not Verdict.OPENS and clause in file.clauses}


def named(files: dict[str, LegacyFile], *beginnings: str) -> tuple[LegacyFile, ...]:
    """Those of the files whose name begins so."""
    return tuple(file for name, file in files.items() if name.startswith(beginnings))


def _room(make: Callable[[], Iterator[LegacyFile]]) -> tuple[LegacyFile, ...]:
    files = [file for file in make() if file.verdict is Verdict.OPENS]
    torn = [file for file in files if file.name.startswith("torn-at-byte-")]
    return tuple(file for file in files if file not in torn or torn.index(file) % EVERY == 0)


in_every_room = rows(
    "files",
    trees=_room(trees),
    lanes=_room(lanes),
    summaries=_room(summaries),
    lineage=_room(lineage),
    others=(*_room(derived_files), RICH, FALLING, odd_values()),
)
"""Runs a case over all kinds of files that open, a room at a time."""


@contextmanager
def about(file: LegacyFile) -> Iterator[None]:
    """Names the file in what breaks inside; a refusal of the store breaks the clause too.

    >>> with about(file):
    ...     subject = await opened(store.legacy_session(file))
    """
    of = f"the legacy file {file.name}"
    try:
        yield
    except ClauseBroken as error:
        raise ClauseBroken(f"{of}: {error}") from error
    except SessionStoreError as error:
        seen = f"{type(error).__name__}: {error}"
        raise ClauseBroken(f"{of}\nexpected: no refusal\nseen:     {seen}") from error


def planted(store: SessionMaker, file: LegacyFile) -> LegacySession:
    """The file in its place, last modified long ago."""
    session = store.legacy_session(file)
    os.utime(session.path, (LONG_AGO, LONG_AGO))
    return session


async def opened(session: LegacySession) -> Subject:
    """The file, opened; the subject's model holds the ids that this reading gave. Raises what `repo.open` raises."""
    return await shown_by(session, await session.store.repo.open(session.metadata))


async def shown_by(session: LegacySession, live: Session) -> Subject:
    """The subject of an open session that is still v3, with the ids that it shows."""
    ids = [entry["id"] for entry in await live.scan_entries()]
    expect_equal(len(ids), len(normalized_of(session.case).entries), of="the number of entries")
    return session.store.subject(live, session.model(ids))


def normalized_of(file: LegacyFile) -> Normalized:
    """What a file that opens is normalized to. Raises ValueError for one that does not."""
    if file.normalized is None:
        raise ValueError(f"the legacy file {file.name} does not open")
    return file.normalized


async def expect_shown(session: LegacySession, subject: Subject) -> None:
    """Breaks the clause unless the open session shows what is written down of its file, its next sequence included,
    while not a byte of the file changes. An empty commit asks for the next sequence.
    """
    normalized = normalized_of(session.case)
    with ByteGuard(session.path, of="the file under an open session that commits nothing"):
        await subject.check("the session while it is still v3")
        seqs = [entry["seq"] for entry in await subject.session.scan_entries()]
        expect_equal(seqs, list(range(1, len(normalized.entries) + 1)), of="the sequences of the entries")
        expect_equal((await subject.commit()).first_seq, normalized.next_seq, of="the next sequence")
        await subject.check("the session after an empty commit")


async def expect_opens(store: SessionMaker, file: LegacyFile) -> None:
    """Breaks the clause unless the file opens, shows what is written down of it, and stays as it is."""
    with about(file):
        session = planted(store, file)
        with ByteGuard(session.path, of="the file while it is opened, read and closed"):
            subject = await opened(session)
            await expect_shown(session, subject)
            await subject.close()


async def expect_refused(
    store: SessionMaker, file: LegacyFile, refusal: type[SessionStoreError], **told: Any
) -> LegacySession:
    """Breaks the clause unless `open`, and `fork` in both scopes, refuse the file so, name it, and leave all as it was.

    Every text of a refusal has to hold `file.named`, where that is something.
    """
    with about(file):
        session = planted(store, file)
        told = {"path": str(session.metadata.path), **told}
        with ByteGuard(session.path, root=store.root, of="the file and its neighbours after the refusal"):
            await store.list()
            for options in (None, *BOTH_SCOPES):
                with refused(refusal, **told) as refused_call:
                    await (store.repo.open(session.metadata) if options is None else _fork(session, options))
                text = str(refused_call.error)
                if file.named is not None and file.named not in text:
                    raise ClauseBroken(f"expected: a text that names {file.named!r}\nseen:     {text}")
    return session


def _fork(session: LegacySession, options: ForkOptions) -> Awaitable[Session]:
    return session.store.repo.fork(session.metadata, options)


async def expect_fork_refused(
    session: LegacySession, options: ForkOptions, *refusals: type[SessionStoreError], **told: object
) -> str:
    """Breaks the clause unless the fork is refused so, and leaves the file, its neighbours and the id `fork` as they
    were; gives the text of the refusal.
    """
    store = session.store
    guard = ByteGuard(session.path, root=store.root, of=f"the v3 file and its neighbours after {options!r}")
    with guard, refused(*refusals, **told) as refusal:
        await store.repo.fork(session.metadata, options)
    await gone(await store.create("fork"))
    return str(refusal.error)


async def forked(session: LegacySession, options: ForkOptions) -> Subject:
    """The fork of the closed file, with the model of what it must hold. Raises what `repo.fork` raises."""
    live = await _fork(session, options)
    return session.store.subject(live, fork_model(session, options, await live.scan_entries()))


def fork_model(session: LegacySession, options: ForkOptions, entries: list[dict[str, Any]]) -> SessionModel:
    """What the fork must hold that shows these entries: their ids are those that its own reading of the source gave.

    A branch fork shows the ids of its members only. A summary may also name an entry that stayed behind; then the id is
    learned there.
    """
    stand_ins = [f"entry {number} of the file" for number in range(len(normalized_of(session.case).entries))]
    expected = session.model(stand_ins).fork(options, session.case.id)
    expect_equal(len(entries), len(expected.entries), of="the number of entries of the fork")
    known = dict(zip(expected.entries, (entry["id"] for entry in entries), strict=True))
    for seen, placed in zip(entries, expected.entries.values(), strict=True):
        _learn(placed.value, seen, set(stand_ins), known)
    return session.model([known.get(name, name) for name in stand_ins]).fork(options, session.case.id)


def _learn(expected: Any, seen: Any, stand_ins: set[str], known: dict[str, str]) -> None:
    """Learns what stands in the place of each stand-in that is not known yet."""
    if isinstance(expected, str) and isinstance(seen, str):
        if expected in stand_ins:
            known.setdefault(expected, seen)
    elif isinstance(expected, dict) and isinstance(seen, dict):
        for name in expected.keys() & seen.keys():
            _learn(expected[name], seen[name], stand_ins, known)
    elif isinstance(expected, list) and isinstance(seen, list):
        for one, other in zip(expected, seen, strict=False):
            _learn(one, other, stand_ins, known)


def parents_of(metadata: SessionMetadata) -> tuple[str | None, str | None]:
    """Parent id and legacy parent path."""
    return metadata.parent_session_id, metadata.legacy_parent_session_path


async def listed(session: LegacySession) -> SessionMetadata:
    """The file as `list` shows it. Breaks the clause when it does not, or fails."""
    found = [metadata for metadata in await session.store.list() if metadata.path == session.metadata.path]
    expect_equal(len(found), 1, of="how often the file is listed")
    return found[0]


async def gone(fork: Subject) -> None:
    """Closes and deletes a fork that was looked at."""
    await fork.close()
    await fork.store.repo.delete(fork.metadata)
