"""Which files a list looks at (section 22.5)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.instruments.byteguard import tree
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.spelled_files import header, line, scalar
from forkstore.contract.forks import TreeFork


@contextmanager
def _beside(root: Path, files: dict[str, bytes], directories: tuple[str, ...] = ()) -> Iterator[None]:
    """Files and directories under the root that no store has made, for as long as the block runs."""
    paths = [root / name for name in (*files, *directories)]
    made = {next(path for path in (*reversed(one.parents), one) if not path.exists()) for one in paths}
    try:
        for name in directories:
            (root / name).mkdir(parents=True)
        for name, data in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        yield
    finally:
        for path in made:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


PLACE = "--srv-garden--"
NAME = "2025-10-09T08-53-20-999Z_lost.jsonl"
NOT_LISTED = {
    "directory": f"{PLACE}/{NAME}/{NAME}",
    "nested-directory": f"{PLACE}/more/{NAME}",
    "nested-session-directory": f"{PLACE}/{PLACE}/{NAME}",
    "in-the-root": NAME,
    "other-directory": f"garden/{NAME}",
    "half-named-directory": f"--srv-garden/{NAME}",
    "other-half-named-directory": f"srv-garden--/{NAME}",
    "hidden-directory": f".{PLACE}/{NAME}",
    "session-directory-further-down": f"more/{PLACE}/{NAME}",
    "capitals": f"{PLACE}/{NAME.upper()}",
    "temporary": f"{PLACE}/{NAME}.0123456789abcdef.tmp",
    "backup": f"{PLACE}/{NAME}.bak",
    "editor": f"{PLACE}/{NAME}~",
    "number": f"{PLACE}/{NAME}2",
    "json": f"{PLACE}/{NAME.removesuffix('l')}",
    "no-dot": f"{PLACE}/{NAME.replace('.', '')}",
    "no-extension": f"{PLACE}/{NAME.removesuffix('.jsonl')}",
}


@case("S-JSONL-FMT-17")
@rows("place", NOT_LISTED)
async def a_list_looks_at_session_files_only(store: SessionMaker, place: str) -> None:
    """A good session file with another extension, in a directory inside a session directory, in a directory that is
    none, beside them, or inside of a directory whose name ends in `.jsonl`, is not listed, with and without a cwd; the
    sessions beside it are, and nothing is touched.

    If this fails, look at: a walk through the whole tree; a glob that takes directories; names compared without case;
    temporary files listed.
    """
    beside = await store.create("beside", cwd="/srv/garden")
    lost = header("/srv/garden", id="lost") + line(scalar(1, "garden.plan", "", 1))
    with _beside(store.root, {place: lost}):
        before = tree(store.root)
        for cwd in (None, "/srv/garden"):
            listed = await (store.repo.list() if cwd is None else store.repo.list(cwd=cwd))
            expect_equal([metadata.id for metadata in listed], [beside.id], of="the ids that are listed")
        before.check("the tree under the root, after it was listed")


@case("S-JSONL-FMT-17")
async def directories_and_files_in_each_others_place_are_passed_over(store: SessionMaker) -> None:
    """Empty directories that are named like session files, files that are named like session directories, and empty
    session directories keep no session from being listed and used.

    If this fails, look at: a directory that is opened as a file; a file that is listed as a directory.
    """
    subject = await store.linear_session(1, id="beside")
    directories = (f"{PLACE}/{NAME}", "--empty--", f"--other--/{NAME}")
    with _beside(store.root, {"--file--": b"x", f"--file.jsonl--/{NAME}x": b"y"}, directories):
        await store.assert_only_known_sessions(subject)
        fork = await subject.fork(TreeFork(id="fork"))
        await store.assert_only_known_sessions(subject, fork)
        await store.check_each(subject, fork)


@case("S-JSONL-FMT-17")
async def every_session_directory_is_looked_at(store: SessionMaker) -> None:
    """Sessions in many session directories, with cwds that no one has created here, are all listed.

    If this fails, look at: the directories of this repository's own sessions only.
    """
    cwds = [f"/srv/beds/{number}" for number in range(20)]
    for number, cwd in enumerate(cwds):
        await store.plant(header(cwd, id=f"walk-{number}"), id=f"walk-{number}", cwd=cwd)
    listed = {metadata.id: metadata.cwd for metadata in await store.list()}
    expect_equal(listed, {f"walk-{number}": cwd for number, cwd in enumerate(cwds)}, of="the sessions that are listed")
