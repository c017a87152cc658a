"""What someone else may do to the file of an open session, and what must come of it (S-JSONL-FMT-16)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forkproof.expect import refused
from forkproof.instruments.byteguard import tree
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.committing import all_six
from forkproof.suites.sessions.spelled_files import header, line, scalar
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import SessionFileChanged
from forkstore.contract.writes import ValueSet

PLAN = value_address("garden.plan")
LINE = line(scalar(90, "garden.plan", "", "foreign"))
MOVED = "moved"
Change = Callable[[Path], object]


def _replaced(path: Path, data: bytes) -> None:
    """Another file of this content takes the place, while the first still stands: it cannot have its inode."""
    other = path.with_name("other")
    other.write_bytes(data)
    other.replace(path)


def _linked(path: Path) -> None:
    """A link to a copy takes the place."""
    path.with_name(MOVED).write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(MOVED)


def _cut(path: Path, size: int) -> None:
    os.truncate(path, path.stat().st_size + size if size < 0 else size)


def _grown(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _made_anew(path: Path) -> None:
    """A new file of equal bytes, which may well get the inode of the one that is gone."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


CHANGES: dict[str, Change] = {
    "removed": Path.unlink,
    "moved": lambda path: path.rename(path.with_name(MOVED)),
    "removed-with-its-directory": lambda path: shutil.rmtree(path.parent),
    "a-directory-instead": _directory,
    "an-equal-file-instead": lambda path: _replaced(path, path.read_bytes()),
    "made-anew-with-equal-bytes": _made_anew,
    "an-empty-file-instead": lambda path: _replaced(path, b""),
    "another-session-instead": lambda path: _replaced(path, header("/srv/garden", id="other") + LINE),
    "a-link-to-a-copy-instead": _linked,
    "grown-by-a-line": lambda path: _grown(path, LINE),
    "grown-by-half-a-line": lambda path: _grown(path, LINE[:20]),
    "grown-by-one-byte": lambda path: _grown(path, b" "),
    "grown-by-lf": lambda path: _grown(path, b"\n"),
    "grown-by-nul-bytes": lambda path: _grown(path, bytes(4096)),
    "cut-by-one-byte": lambda path: _cut(path, -1),
    "cut-in-half": lambda path: _cut(path, path.stat().st_size // 2),
    "emptied": lambda path: _cut(path, 0),
}


@contextmanager
def changed(subject: Subject, change: Change) -> Iterator[Path]:
    """The session's file, changed for as long as the block runs; then nothing stands there for any store to delete."""
    path = Path(subject.metadata.path or "")
    try:
        change(path)
        yield path
    finally:
        path.with_name(MOVED).unlink(missing_ok=True)
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


@contextmanager
def kept_aside(path: Path) -> Iterator[Callable[[], bytes]]:
    """Gives a function that puts the very file back, with the bytes that it has now, which it gives."""
    data, kept = path.read_bytes(), path.with_name("kept")
    kept.hardlink_to(path)

    def put_right() -> bytes:
        kept.write_bytes(data)
        kept.replace(path)
        return data

    try:
        yield put_right
    finally:
        kept.unlink(missing_ok=True)


async def created(store: SessionMaker) -> Subject:
    """A new session in a directory of its own."""
    return await store.create(cwd="/srv/walk")


async def used(store: SessionMaker) -> Subject:
    """A session with a lane, an entry `e1`, and every kind of row."""
    subject = await created(store)
    await subject.configure("main")
    await subject.append("main", "früh", id="e1")
    await subject.commit(*all_six("a", "e1"))
    return subject


async def expect_refused_commits(subject: Subject, of: str) -> None:
    """Breaks the clause unless every commit is refused, none writes anything, and the session shows what it held."""
    store, path = subject.store, subject.metadata.path
    before = tree(store.root)
    for commit in (subject.raw_commit, subject.commit, subject.raw_commit):
        with refused(SessionFileChanged, path=path, reason=lambda reason: isinstance(reason, str) and reason):
            await commit(ValueSet(PLAN, "never"))
    before.check(f"the tree of files, after commits to a session whose file is {of}")
    await subject.check(f"the session whose file is {of}")
