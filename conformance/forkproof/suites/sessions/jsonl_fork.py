"""Forks of session files and what becomes of their sources: nothing (S-JSONL-FORK-01 to -03)."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.audit import AuditSpy
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.racing import raced, words
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker
from forkproof.makers.small_file import small_file
from forkproof.suites.sessions.forking import in_both_scopes
from forkproof.suites.sessions.jsonl_sources import SOURCES, Source, planted
from forkstore.contract.errors import ForeignSession, SessionClosed, UnknownBranch
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

MakeSource = Callable[[SessionMaker], Awaitable[Source]]


@case("S-JSONL-FORK-01")
@rows("make", SOURCES)
@in_both_scopes
async def a_fork_leaves_its_source_alone(store: SessionMaker, make: MakeSource, options: ForkOptions) -> None:
    """A fork never changes its source: bytes, size, modification time and inode stay, the file is opened for reading
    only, and no file named after it appears, not even for a moment. So does a fork that is refused.

    If this fails, look at: a torn tail that is repaired or a legacy file that is upgraded for the fork; a lock or a
    temporary file beside the source; a source that is opened through `open`.
    """
    source = await make(store)
    store.files.forget()
    with AuditSpy(source.path, of="the source"), ByteGuard(source.path, root=store.root, of="the source") as guard:
        with refused(UnknownBranch):
            await store.repo.fork(source.metadata, BranchFork("no-such-branch"))
        guard.check("the source, after a fork that was refused")
        fork = await source.fork(options)
        guard.allow(str(fork.metadata.path))
    calls = ", ".join(call.name for call in store.files.calls_on(source.path))
    expect(store.files.only_read(source.path), f"expected: calls that read the source only\nseen:     {calls}")


@case("S-JSONL-FORK-01")
@in_both_scopes
async def who_writes_to_a_fork_writes_to_its_file(store: SessionMaker, options: ForkOptions) -> None:
    """What is written to the fork goes to the fork's file, and what is written to the source to the source's: neither
    changes a byte of the other's.

    If this fails, look at: a handle, a path or a buffer that a fork takes over from its source.
    """
    source = await store.linear_session(id="source")
    with ByteGuard(store.path_of(source), of="the file of the source") as guard:
        fork = await source.fork(options)
        guard.allow(store.path_of(fork))
        for number in range(5):
            await fork.append("main", f"for the fork only {number}")
    with ByteGuard(store.path_of(fork), of="the file of the fork"):
        await source.append("main", "for the source only")
    await store.check_each(fork, source)


TAIL = (
    '[{"kind":"entry","id":"e9","parentId":"e4","type":"custom","customType":"x","data":"水🌱","seq":30,"timestamp":1},'
    '{"kind":"value","op":"set","seq":31,"namespace":"pi.branch.tip","key":"main","value":"e9"},'
    '{"kind":"list","op":"append","seq":32,"namespace":"garden.log","key":"","value":12.625}]'
).encode()
"""A transaction behind the small file that would show in both scopes, without its LF."""


@case("S-JSONL-FORK-02")
async def a_torn_tail_is_not_in_the_fork(store: SessionMaker) -> None:
    """A closed source whose last line is cut after any of its bytes can be forked, in both scopes; nothing of the torn
    transaction is in the fork, and the source keeps its bytes.

    If this fails, look at: a tail that parses and is taken for whole; a tail of which the first records are taken; a
    repair of the source.
    """
    scopes: tuple[ForkOptions, ...] = (TreeFork(), BranchFork("main"))
    for keep in range(1, len(TAIL) + 1):
        source = await planted(store, small_file(cwd=store.raw.cwd), left_out=TAIL[:keep])
        with ByteGuard(source.path, of=f"the source, torn after {keep} bytes") as guard:
            fork = await source.fork(scopes[keep % 2])
            guard.allow(str(fork.metadata.path))
        await fork.close()
        await store.repo.delete(fork.metadata)


@case("S-JSONL-FORK-02")
@in_both_scopes
async def a_torn_source_is_opened_after_its_fork(store: SessionMaker, options: ForkOptions) -> None:
    """A session with a torn tail is forked twice, opened, written and forked again: it is the same source throughout.

    If this fails, look at: a source that a fork leaves in another state than it found it in.
    """
    source = await store.torn_tail_session(id="source")
    for _ in range(2):
        await (await source.fork(options)).check("a fork of the torn source")
    await source.open()
    await source.append("main", "behind the torn transaction")
    await store.check_each(await source.fork(options), source)


@case("S-JSONL-FORK-03")
@in_both_scopes
async def a_copy_of_an_open_file_is_a_closed_source(store: SessionMaker, options: ForkOptions) -> None:
    """Metadata with the id and cwd of an open session and the path of another file names that file, as a closed source:
    what is committed to the open session is not in its fork, and its closing does not matter.

    If this fails, look at: a source that is looked up by id, or by id and cwd, alone.
    """
    source = await store.linear_session(id="source")
    before = source.model.fork(options, source.id)
    with tempfile.TemporaryDirectory(prefix="forkproof-copy-") as place:
        copy = replace(source.metadata, path=shutil.copy(store.path_of(source), place))
        await source.append("main", "behind the copy", id="late")
        first = store.subject(await store.repo.fork(copy, options), before)
        await first.check("a fork of the copy, while the session is open")
        scope = await source.session.begin_mutation()
        closing = asyncio.create_task(source.session.close())
        await settle()
        (forked,) = await raced(store.repo.fork(copy, options))
        expect_equal(forked.word, "returned", of="a fork of the copy while the session of that id is closing")
        await store.subject(forked.value, before).check("a fork of the copy, while the session is closing")
        await scope.end()
        await closing


def _linked(place: str, target: Path) -> str:
    """A link to a file, in that directory."""
    link = Path(place, "link.jsonl")
    link.symlink_to(target)
    return str(link)


@case("S-JSONL-FORK-03")
@in_both_scopes
async def a_link_to_an_open_file_is_the_open_source(store: SessionMaker, options: ForkOptions) -> None:
    """Metadata whose path is a link to the file of an open session names the open session: its boundary is asked for in
    the first step, and while it closes the fork is refused.

    If this fails, look at: paths compared as they are written.
    """
    source = await store.linear_session(id="source")
    before = source.model.fork(options, source.id)
    with tempfile.TemporaryDirectory(prefix="forkproof-link-") as place:
        metadata = replace(source.metadata, path=_linked(place, store.path_of(source)))
        forked, written = await raced(store.repo.fork(metadata, options), source.session.set_name("too late"))
        expect_equal(words([forked, written]), ["returned", "returned"], of="a fork by a link, and a commit behind it")
        await store.subject(forked.value, before).check("a fork by a link")
        scope = await source.session.begin_mutation()
        closing = asyncio.create_task(source.session.close())
        await settle()
        with refused(SessionClosed, session_id="source"):
            await store.repo.fork(metadata, options)
        await scope.end()
        await closing


@case("S-JSONL-FORK-03")
@rows("field", id="id", cwd="cwd")
@in_both_scopes
async def other_names_of_an_open_file_are_foreign(store: SessionMaker, options: ForkOptions, field: str) -> None:
    """Metadata with the path of an open session and another id, or another cwd, names the file at that path, which says
    otherwise: `ForeignSession`, also while the session closes.

    If this fails, look at: a source that is looked up by its path alone.
    """
    source = await store.linear_session(id="source")
    metadata = replace(source.metadata, id="another") if field == "id" else replace(source.metadata, cwd="/srv/another")
    with refused(ForeignSession, field=field, path=source.metadata.path):
        await store.repo.fork(metadata, options)
    scope = await source.session.begin_mutation()
    closing = asyncio.create_task(source.session.close())
    await settle()
    with refused(ForeignSession, field=field, path=source.metadata.path):
        await store.repo.fork(metadata, options)
    await scope.end()
    await closing
    await store.check_each(source)
