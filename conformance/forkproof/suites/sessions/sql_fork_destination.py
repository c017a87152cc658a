"""What a fork writes: text as it stands, rows of the new session only, complete when it returns (S-FORK-DST-05,
S-FORK-DST-10, S-FORK-DST-12, S-SQL-FORK-14).
"""

from __future__ import annotations

from dataclasses import replace

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.raw_databases import path_of
from forkproof.oracle.database_rows import SessionRows
from forkproof.suites.sessions.forking import CLOSED, from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.sql_watching import wide_session
from forkstore.contract.addresses import entry_label, list_address, session_name, value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ListAppend, ValueSet

TEXTS = {
    "numbers": (
        "1.0",
        "1e5",
        "1E+5",
        "1e-7",
        "1.500000",
        "-0",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827",
        "1e999",
    ),
    "other-text": (
        '{ "a" : 1 ,\t"b" : [ ] }',
        '{"a":1,"a":2}',
        '"\\u0041\\/\\u00e9\\ud83c\\udf31"',
        '"\\ud800"',
        '"\u2028\u2029\x7f"',
        "{beans",
    ),
}
"""JSON text that other writers may store, in forms that the store would not write itself."""
REWRITTEN = ("pi.branch.tip", "pi.lane.state")
VERBATIM = f"namespace NOT IN {REWRITTEN}"


@case("S-FORK-DST-05", kinds=("sqlite",))
@rows("texts", TEXTS)
@in_both_scopes
async def text_is_copied_as_it_stands(store: SessionMaker, texts: tuple[str, ...], options: ForkOptions) -> None:
    """The payload of an entry, the name, a label, a lane's configuration, an application scalar and a list element come
    into the fork as the text that they are: a number keeps its form, a member its place.

    If this fails, look at: payloads that are decoded and encoded again; a column that turns text into a number; a
    second writer of the JSON.
    """
    source = await store.linear_session(2)
    plan, log = value_address("garden.plan"), list_address("garden.log")
    labels = [ValueSet(session_name(), "?"), ValueSet(entry_label("e1"), "?")]
    await source.commit(ValueSet(plan, "?"), ListAppend(log, "?"), *labels)
    for text in texts:
        store.databases.change_session(source.metadata, "entries", {"payload": text}, "id = 'e1'")
        store.databases.change_session(source.metadata, "scalar_values", {"value": text}, VERBATIM)
        store.databases.change_session(source.metadata, "list_values", {"value": text})
        ending = await ended(store.repo.fork(source.metadata, options))
        expect(
            ending.error is None, f"expected: the fork of a source with the text {text!r}\nseen:     {ending.error!r}"
        )
        _expect_text(store.databases.session_rows(ending.value.metadata), text, options)
        await ending.value.close()


def _expect_text(found: SessionRows, text: str, options: ForkOptions) -> None:
    is_tree = isinstance(options, TreeFork)
    values = {row["namespace"]: row["value"] for row in found.scalar_values if row["namespace"] not in REWRITTEN}
    elements = [row["value"] for row in found.list_values]
    expect_equal([row["payload"] for row in found.entries if row["id"] == "e1"], [text], of="the payload of an entry")
    copied = ["pi.session.name", "pi.entry.label", "pi.lane.config", *(["garden.plan"] if is_tree else [])]
    expect_equal(values, dict.fromkeys(copied, text), of="the values of the fork")
    expect_equal(elements, [text] if is_tree else [], of="the elements of the fork")


@case("S-FORK-DST-12", kinds=("sqlite",))
@in_both_scopes
async def another_process_reads_the_whole_fork(store: SessionMaker, options: ForkOptions) -> None:
    """When `fork` returns, another process that opens the database reads the complete destination, while it is still
    open here and nothing has been written to it since.

    If this fails, look at: a transaction that is committed later; rows in a log that only this process can read; a
    destination that is filled when it is first used.
    """
    source = await store.rich_session()
    fork = await source.fork(options)
    await store.check_in_second_process(fork)
    await fork.append("main", "and goes on")
    await store.check_in_second_process(fork)


async def _neighbours(store: SessionMaker) -> list[Subject]:
    """Sessions with the entries, branches and addresses of the source, whose ids a careless condition takes for its or
    for the fork's.
    """
    return [await wide_session(store, 5, id=id) for id in ("fork-", "FORK_", "fork", "Source", "")]


@case("S-SQL-FORK-14")
@in_both_scopes
@from_open_and_closed
async def a_fork_changes_rows_of_the_new_session_only(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """A fork changes no row of its source and none of any other session, in the seven tables of every database that
    there is; with the source in the same container, and in a database of its own.

    If this fails, look at: rows that are copied without a session in the condition; a statement that rebuilds an index
    for all; statistics of the source that are written anew.
    """
    source, *others = await wide_session(store, 40, id="source"), *(await _neighbours(store))
    await source.spend("usage-1", "n1")
    if source_is == CLOSED:
        await source.close()
    places = {path_of(subject.metadata): None for subject in (source, *others)}
    before = {path: store.databases.picture(path) for path in places}
    fork = await source.fork(replace(options, id="fork_"))
    for path, rows_before in before.items():
        after = store.databases.picture(path, without=[fork.id])
        expect_equal(after, rows_before, of=f"the rows of other sessions in {path.name}")
    store.databases.check_index(fork.metadata)
    await fork.append("main", "more")
    for path, rows_before in before.items():
        after = store.databases.picture(path, without=[fork.id])
        expect_equal(after, rows_before, of=f"the rows of other sessions in {path.name}, after a commit to the fork")
    await fork.check()
    for subject in others:
        await subject.check(f"the session {subject.id!r} beside the fork")


@case("S-SQL-FORK-14")
async def a_refused_fork_changes_no_row(store: SessionMaker) -> None:
    """A fork onto an id that is taken, and one that is refused late, change no row of any session.

    If this fails, look at: rows of an older session of that id that are removed first; a session row that is written
    before the copy.
    """
    source, taken = await wide_session(store, 20, id="source"), await wide_session(store, 3, id="taken")
    await taken.close()
    await source.commit(ListAppend(list_address("pi.unknown"), 1))
    places = {path_of(subject.metadata): None for subject in (source, taken)}
    before = {path: store.databases.picture(path) for path in places}
    for options in (TreeFork(id="taken"), BranchFork("main", id="taken"), TreeFork(id="new"), BranchFork("main")):
        ending = await ended(store.repo.fork(source.metadata, options))
        expected = "SessionExists" if options.id == "taken" else "UndeclaredNamespace"
        expect_equal(ending.word, expected, of=f"the end of {options!r}")
    for path, rows_before in before.items():
        expect_equal(store.databases.picture(path), rows_before, of=f"all rows of {path.name} after refused forks")


@case("S-FORK-DST-10", kinds=("sqlite",))
@in_both_scopes
async def a_destination_is_numbered_without_gaps(store: SessionMaker, options: ForkOptions) -> None:
    """The sequences of a destination are 1, 2, 3 … without a gap, the entries first, and its next one follows them.

    If this fails, look at: the sequences of the source that are kept; a number for each row that is left out.
    """
    source = await store.rich_session()
    fork = await source.fork(options)
    found = store.databases.session_rows(fork.metadata)
    entries = [row["seq"] for row in found.entries]
    others = [row["seq"] for row in (*found.scalar_values, *found.list_values)]
    expect_equal(sorted(entries), list(range(1, len(entries) + 1)), of="the sequences of the entries")
    expected = list(range(len(entries) + 1, len(entries) + len(others) + 1))
    expect_equal(sorted(others), expected, of="the sequences of values and elements")
    expect_equal(found.session["next_seq"], len(entries) + len(others) + 1, of="the next sequence")
