"""How a fork reads its source: line by line, at most twice, from the file, and strictly (S-FORK-STR-01, -02, -08,
-11, S-JSONL-FORK-05).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from forkgen import Expectation, ExpectationBroken, check_session
from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect, expect_equal
from forkproof.makers import SessionMaker
from forkproof.makers.records import lane_configuration
from forkproof.suites.sessions.forking import from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.jsonl_sources import SOURCES, Source
from forkstore.contract.addresses import value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session
from forkstore.contract.writes import ValueSet

MakeSource = Callable[[SessionMaker], Awaitable[Source]]


@case("S-FORK-STR-01", needs=("spy-files", "raw-files"))
@rows("make", SOURCES)
@in_both_scopes
async def a_fork_reads_its_source_in_small_pieces(store: SessionMaker, make: MakeSource, options: ForkOptions) -> None:
    """A fork reads its source only through the line reader and through reads of at most 64 KiB, also where a line or a
    torn tail is far longer; it never reads a whole file in one call, its destination included.

    If this fails, look at: a source that is read whole for a checksum or for its header; a destination that is opened
    by a whole read.
    """
    source = await make(store)
    store.files.forget()
    await source.fork(options)
    expect_equal(store.files.whole_file_reads(), [], of="calls that read a whole file")
    readers = store.files.readers(source.path)
    expect(readers, "expected: a line reader on the source\nseen:     none")
    expect_equal([reader for reader in readers if not reader.closes], [], of="line readers left open on the source")


@case("S-FORK-STR-02", needs=("spy-files", "raw-files"))
@rows("make", SOURCES)
@in_both_scopes
async def a_fork_reads_a_line_twice_at_most(store: SessionMaker, make: MakeSource, options: ForkOptions) -> None:
    """A fork reads each line of its source behind the header at most twice.

    If this fails, look at: a scan for the boundary, or for the torn tail, besides the two; a scan per batch; a source
    that is opened as a session first.
    """
    source = await make(store)
    store.files.forget()
    await source.fork(options)
    most = max(store.files.lines_read(source.path)[1:], default=0)
    expect(most <= 2, f"expected: each line behind the header read at most twice\nseen:     one read {most} times")


@case("S-FORK-STR-11", needs=("spy-files", "raw-files"))
async def a_session_is_opened_line_by_line(store: SessionMaker) -> None:
    """Opening a session, one with a torn tail and one with long lines included, and the fresh destination of a fork,
    reads the file line by line: through the line reader, and in no call that reads the whole.

    If this fails, look at: `read_all` followed by a split; a repair that holds the file.
    """
    for name in ("closed", "torn", "long-tail", "marked"):
        source = await SOURCES[name](store)
        store.files.forget()
        session = await store.repo.open(source.metadata)
        await _expect_read_by_line(store, source.path, f"opening a source that is {name}")
        store.files.forget()
        fork = await store.repo.fork(source.metadata, TreeFork())
        await _expect_read_by_line(store, fork.metadata.path, f"the destination of a fork of a source that is {name}")
        for one in (fork, session):
            await one.close()
            await store.repo.delete(one.metadata)


async def _expect_read_by_line(store: SessionMaker, path: Any, of: str) -> None:
    expect_equal(store.files.whole_file_reads(), [], of=f"calls that read a whole file: {of}")
    expect(store.files.lines_read(path), f"{of}\nexpected: lines of a line reader\nseen:     none")


@case("S-FORK-STR-08", needs=("raw-files",), kinds=("jsonl",))
@from_open_and_closed
async def a_large_file_is_forked_whole(store: SessionMaker, source_is: str) -> None:
    """A file of more than 5,000 entries that another writer made is forked whole, in both scopes, open and closed.

    If this fails, look at: a batch that is lost or doubled; a line reader that loses a line at the edge of its pieces.
    """
    source = store.huge_session(5_003)
    if source_is == "open":
        await store.repo.open(source.metadata)
    expectation = source.generated.expectation
    for options, expected in (
        (TreeFork(), expectation.tree_fork()),
        (BranchFork("main"), expectation.branch_fork("main")),
    ):
        fork = await store.repo.fork(source.metadata, options)
        await _expect_generated(fork, expected, f"the fork of a large file by {options!r}")
        await fork.close()


async def _expect_generated(session: Session, expected: Expectation, of: str) -> None:
    try:
        await check_session(session, expected)
    except ExpectationBroken as error:
        raise ClauseBroken(f"{of}\nexpected: what its recipe says\nseen:     {error}") from error


@case("S-JSONL-FORK-05", needs=("spy-files",))
@in_both_scopes
async def an_open_source_is_read_from_its_file(store: SessionMaker, options: ForkOptions) -> None:
    """An open source is read from its file like a closed one: the same lines, as often.

    If this fails, look at: rows taken from the open session; entries found in memory and only their payload in the
    file.
    """
    source = await store.rich_session(id="source")
    seen = []
    for _ in range(2):
        store.files.forget()
        fork = await source.fork(options)
        await fork.check("the fork")
        seen.append(store.files.lines_read(store.path_of(source)))
        await source.close()
    lines = store.path_of(source).read_bytes().count(b"\n")
    expect_equal(len(seen[0]), lines, of="the number of lines that a fork of the open source reads")
    expect_equal(seen[0], seen[1], of="how often each line is read, of the open and of the closed source")


@case("S-JSONL-FORK-05", needs=("spy-files", "raw-files"))
@in_both_scopes
async def what_stands_in_the_file_is_the_source(store: SessionMaker, options: ForkOptions) -> None:
    """A fork of an open source holds what its file says, where the open session in memory says otherwise: an entry's
    text, a tip's configuration and a value that were changed in the file, without a change of its size.

    If this fails, look at: payloads or rows that come from the open session; a fork that trusts what was read before.
    """
    source = await store.linear_session(2, id="source")
    await source.append("main", "said in memory", id="e3")
    await source.commit(ValueSet(value_address("garden.plan"), "said in memory"))
    path = store.path_of(source)
    data = path.read_bytes().replace(b"said in memory", b"said by a file").replace(b'"off"', b'"low"')
    store.raw.replace(path, data)
    fork = await store.repo.fork(source.metadata, options)
    entry = await fork.get_entry("e3") or {}
    expect_equal(entry.get("message", {}).get("content"), [{"type": "text", "text": "said by a file"}], of="a message")
    config = await fork.get_value(value_address("pi.lane.config", "main"))
    expect_equal(config and config.value, lane_configuration("low"), of="the configuration of the lane")
    if isinstance(options, TreeFork):
        value = await fork.get_value(value_address("garden.plan"))
        expect_equal(value and value.value, "said by a file", of="a value")
