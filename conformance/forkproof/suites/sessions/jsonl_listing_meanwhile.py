"""What goes on while a listing is between two files: everything (S-REPO-15)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_names import directory_name
from forkproof.suites.sessions.turnstiles import Turnstile
from forkstore.contract.forks import TreeFork

ORCHARD = "/srv/orchard"
FILES = 6
READS = ("read_bytes", "read_all", "open_line_reader")


async def _delete(subject: Subject) -> None:
    await subject.close()
    await subject.store.repo.delete(subject.metadata)


MEANWHILE: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "create": lambda subject: subject.store.create("new"),
    "commit": lambda subject: subject.append("main"),
    "fork": lambda subject: subject.fork(TreeFork()),
    "reopen": lambda subject: subject.reopen(),
    "delete": _delete,
    "list": lambda subject: subject.store.repo.list(cwd=subject.store.cwd),
}


@case("S-REPO-15", needs=("spy-files", "fault-injection", "raw-files"), kinds=("jsonl",))
@rows("act", MEANWHILE)
async def others_work_between_two_files_of_a_listing(
    store: SessionMaker, act: Callable[[Subject], Awaitable[object]]
) -> None:
    """Between two files of a listing, sessions are created, written, forked, opened, deleted and listed to the end.

    If this fails, look at: a lock of the repository that is held for the whole listing; a directory that is locked.
    """
    subject = await store.linear_session(id="worked-on")
    for number in range(FILES):
        await store.plant(small_file(id=f"tree-{number}", cwd=ORCHARD), id=f"tree-{number}", cwd=ORCHARD)
    turnstile = Turnstile()
    store.faults.arm(turnstile, names=READS, paths=f"*{directory_name(ORCHARD)}*")
    listing = asyncio.ensure_future(store.repo.list(cwd=ORCHARD))
    try:
        await turnstile.arrival()
        acting = asyncio.ensure_future(act(subject))
        # At the first file it may have to wait; the listing goes on to the next one, and there it stands.
        turnstile.push()
        await turnstile.arrival_or_end(acting)
        await acting
    finally:
        turnstile.push(100 * FILES)
    ids = sorted(metadata.id for metadata in await listing)
    expect_equal(ids, [f"tree-{number}" for number in range(FILES)], of="the sessions of the other directory")
