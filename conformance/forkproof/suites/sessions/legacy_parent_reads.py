"""How little of the parent of a legacy v3 file is read, and that nothing of it reaches the caller (S-V3-18)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import get_args

from forkgen.legacy.records import CREATED_AT, header, text_of, user
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.fault_kinds import Fail
from forkproof.makers import SessionMaker
from forkproof.makers.file_states import LegacySession
from forkproof.suites.sessions.legacy_judging import about, listed, parents_of, planted
from forkproof.suites.sessions.legacy_own_files import lone
from forkproof.suites.sessions.legacy_parents import NEW_HEADER, PARENT_HEADER
from forkstore.contract.files import CHUNK, FileErrorCode

HUGE = 16 * 1024 * 1024


def _directory(path: Path) -> None:
    path.mkdir()


def _link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("gone.jsonl"))


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def _link_to_a_directory(path: Path) -> None:
    path.symlink_to(path.parent)


def _link_to_a_header(path: Path) -> None:
    target = path.with_name("target.jsonl")
    target.write_bytes(text_of(PARENT_HEADER))
    path.symlink_to(target)


def _huge(start: bytes) -> Callable[[Path], None]:
    """A file of 16 MiB that begins so; the rest are NUL bytes that take no room."""

    def make(path: Path) -> None:
        path.write_bytes(start)
        os.truncate(path, HUGE)

    return make


KINDS: dict[str, tuple[Callable[[Path], None], tuple[str | None, ...]]] = {
    "missing": (lambda _: None, (None,)),
    "directory": (_directory, (None,)),
    "link-to-nothing": (_link_to_nothing, (None,)),
    "link-to-itself": (_link_to_itself, (None,)),
    "link-to-a-directory": (_link_to_a_directory, (None,)),
    "link-to-a-header": (_link_to_a_header, (None, "shed-6")),
    "huge-v3": (_huge(text_of(PARENT_HEADER)), ("shed-6",)),
    "huge-format-4": (_huge(text_of(NEW_HEADER)), ("shed-6",)),
    "huge-line": (_huge(b'{"type":"session","note":"' + b"x" * CHUNK), (None,)),
    "huge-run-of-nul-bytes": (_huge(b""), (None,)),
}
"""What stands at the path that a file names, and the parent ids that are right; None is for the legacy path."""


def _naming(store: SessionMaker) -> tuple[LegacySession, Path]:
    """A planted file that names a path outside the store, and the path, where nothing stands yet."""
    path = store.raw.elsewhere() / "parent-of-shed.jsonl"
    return planted(store, lone("naming", header(parentSession=str(path)))), path


async def _expect_read_anyhow(session: LegacySession, path: Path, right: tuple[str | None, ...]) -> None:
    """Breaks the clause unless `list` and `open` succeed, and know the parent by one of these ids or by its path."""
    wanted = [(id, None if id else str(path)) for id in right]
    found = parents_of(await listed(session))
    expect(found in wanted, f"parent id and legacy path, as listed\nexpected: {wanted}\nseen:     {found}")
    live = await session.store.repo.open(session.metadata)
    shown = parents_of(live.metadata)
    expect(shown in wanted, f"parent id and legacy path of the session\nexpected: {wanted}\nseen:     {shown}")
    expect_equal(len(await live.scan_entries()), 1, of="the number of entries of the session")
    await live.close()


@case("S-V3-18", needs=("raw-files", "spy-files"))
@rows("kind", KINDS)
async def little_of_the_parent_is_read(
    store: SessionMaker, kind: tuple[Callable[[Path], None], tuple[str | None, ...]]
) -> None:
    """Whatever stands at the named path, `list` and `open` succeed, and each reads at most 64 KiB of it.

    If this fails, look at: a parent that is opened as a session; a first line that is read to its end; links that are
    followed without end; an error of the parent that ends the listing.
    """
    make, right = kind
    session, path = _naming(store)
    make(path)
    with about(session.case):
        await _expect_read_anyhow(session, path, right)
        for place in (path, path.resolve()) if path.exists() else (path,):
            await _expect_bounded(session, place)


async def _expect_bounded(session: LegacySession, place: Path) -> None:
    """Breaks the clause unless one listing, and one opening, reads at most 64 KiB of what stands at the place."""
    files = session.store.files
    for of in ("list", "open"):
        files.forget()
        if of == "list":
            await session.store.list()
        else:
            await (await session.store.repo.open(session.metadata)).close()
        given, asked = files.bytes_given(place), files.bytes_asked(place)
        told = f"{given:,} bytes given, {asked:,} asked for"
        expect(max(given, asked) <= CHUNK, f"{of}\nexpected: at most 64 KiB of the parent\nseen:     {told}")
        expect_equal(files.whole_file_reads(place), [], of=f"whole reads of the parent by {of}")
        expect_equal(files.only_read(place), True, of=f"whether {of} only reads the parent")


@contextmanager
def _talking_pipe(path: Path) -> Iterator[None]:
    """A named pipe that gives a header to whoever opens it; without a writer, opening it would wait for ever."""
    os.mkfifo(path)
    stop = threading.Event()

    def talk() -> None:
        while not stop.is_set():
            with suppress(BrokenPipeError), path.open("wb", buffering=0) as pipe:
                pipe.write(text_of(PARENT_HEADER))

    talker = threading.Thread(target=talk)
    talker.start()
    try:
        yield
    finally:
        stop.set()
        last = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        talker.join()
        os.close(last)


@case("S-V3-18", needs=("raw-files", "spy-files"))
async def what_is_no_regular_file_is_not_read(store: SessionMaker) -> None:
    """A parent that is a named pipe is not even opened: the path is all that is known of it.

    If this fails, look at: a bounded read of whatever is there, which on a pipe may wait for ever.
    """
    session, path = _naming(store)
    with about(session.case), _talking_pipe(path):
        await _expect_read_anyhow(session, path, (None,))
        expect_equal(store.files.opens(path), 0, of="how often the pipe was opened")


@case("S-V3-18", needs=("raw-files", "spy-files", "fault-injection"))
@rows("code", {code: code for code in get_args(FileErrorCode)})
async def no_failure_of_the_parent_reaches_the_caller(store: SessionMaker, code: FileErrorCode) -> None:
    """Whichever file call on the parent fails, and in whatever way, `list` and `open` succeed, and know the parent by
    its id or by its path.

    If this fails, look at: failures other than "not found" that are passed on; a look at the file that is not guarded,
    as its reading is.
    """
    session, path = _naming(store)
    path.write_bytes(text_of(PARENT_HEADER))
    struck = 0
    with about(session.case):
        for number in range(1, 100):
            store.faults.arm(Fail(code), at=number, paths=f"*/{path.name}")
            await _expect_read_anyhow(session, path, (None, "shed-6"))
            if store.faults.hit is None:
                break
            struck += 1
    expect(struck, "expected: file calls on the parent, that can fail\nseen:     none")


@case("S-V3-18", needs=("raw-files", "spy-files"))
async def parents_are_looked_at_one_by_one(store: SessionMaker) -> None:
    """Of many files that name one huge parent each is listed with its id, for at most 64 KiB read each time.

    If this fails, look at: a parent that is read further with every file.
    """
    path = store.raw.elsewhere() / "parent-of-shed.jsonl"
    _huge(text_of(PARENT_HEADER))(path)
    ids = [f"shed-{number}" for number in range(10, 30)]
    for id in ids:
        child = text_of(header(id=id, parentSession=str(path)), user(1, None))
        await store.plant(child, id=id, cwd="/srv/garden", created_at=CREATED_AT)
    with ByteGuard(path, of="the parent while it is looked at"):
        shown = {metadata.id: parents_of(metadata) for metadata in await store.list()}
    expect_equal(shown, dict.fromkeys(ids, ("shed-6", None)), of="ids and parents, as listed")
    sizes = [call.given for call in store.files.calls_on(path)]
    given = (sum(sizes) + sum(reader.given for reader in store.files.readers(path))) / len(ids)
    expect(given <= CHUNK, f"expected: at most 64 KiB of the parent for each file\nseen:     {given:,.0f} bytes")
