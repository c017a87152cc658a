"""Session files as a store writes them: framing, headers, transactions (sections 22.1 and 22.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from forkgen.legacy import legacy_files
from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect, expect_equal
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.file_model import model_of_records
from forkproof.suites.sessions.committing import all_six
from forkproof.suites.sessions.damage_verdicts import MARK
from forkproof.suites.sessions.spelled_files import ODD_TEXT, element, header, last_line, line, scalar, text
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

RAW = ("raw-files", "raw-commit")
PLAN, LOG = value_address("garden.plan", 'row:"3"'), list_address("garden.log")


def _path(subject: Subject) -> Path:
    return subject.store.path_of(subject)


@case("S-JSONL-FMT-01")
@in_any_state
async def a_written_file_is_lines_of_json(subject: Subject) -> None:
    """In any state of a session its file is UTF-8 text of lines that end with one LF each, the last one too: a header,
    then one transaction a line, which say what the session holds.

    If this fails, look at: a LF written in front of the next line; CRLF of a text mode; a file that is behind the
    session; another encoding.
    """
    found = lines_of(_path(subject))
    expect_equal(found.header.get("kind"), "header", of="the kind of the first line")
    model = model_of_records(found.records, parent_session_id=found.header.get("parentSessionId"))
    model.look_at(subject.model.touched)
    expect_equal(model.state(), subject.model.state(), of="the session, as the lines of its file tell it")
    bare = [number for number, one in enumerate(found.texts, 1) if one != one.strip() or b"\r" in one]
    expect_equal(bare, [], of="lines with white space around them, or a CR")


@case("S-JSONL-FMT-01", needs=RAW)
async def the_file_is_whole_after_every_commit(store: SessionMaker) -> None:
    """When a commit returns, its line stands in the file, with its LF; so it does after a fork, after closing, and when
    commits come together.

    If this fails, look at: a buffer that is flushed on closing; the LF left to the next commit.
    """
    subject = await store.empty_session()
    for number in range(1, 6):
        await subject.commit(*all_six(f"n{number}"))
        expect_equal(len(lines_of(_path(subject)).transactions), number, of="the transactions after a commit")
    fork = await subject.fork(TreeFork())
    lines_of(_path(fork))
    await subject.raw_commit(ValueSet(PLAN, ODD_TEXT))
    await subject.close()
    expect_equal(len(lines_of(_path(subject)).transactions), 6, of="the transactions after closing")


SINGLE: dict[str, Write] = {
    "entry": EntryInsert(records.message_entry("e1", None)),
    "usage": UsageInsert(records.usage_row("u1")),
    "set": ValueSet(PLAN, [1, 2]),
    "delete-value": ValueDelete(PLAN),
    "append": ListAppend(LOG, [3]),
    "delete-list": ListDelete(LOG),
}


@case("S-JSONL-FMT-02", needs=RAW)
@rows("write", SINGLE)
async def one_write_is_written_as_an_object(store: SessionMaker, write: Write) -> None:
    """A commit of one write, whichever of the six, is one line that holds an object, however it is committed.

    If this fails, look at: an array around every transaction.
    """
    for commit in (Subject.commit, Subject.raw_commit):
        subject = await store.empty_session()
        await commit(subject, write)
        values = lines_of(_path(subject)).values
        expect_equal([type(value).__name__ for value in values], ["dict", "dict"], of="what the lines hold")


@case("S-JSONL-FMT-02", needs=RAW)
@rows("writes", two=2, six=6, many=1_000)
async def several_writes_are_one_array(store: SessionMaker, writes: int) -> None:
    """A commit of several writes is one line that holds an array of them, in their order.

    If this fails, look at: a line for each write; lines broken at a length.
    """
    subject = await store.empty_session()
    await subject.raw_commit(*(ListAppend(LOG, number) for number in range(writes)))
    values = lines_of(_path(subject)).values
    expected = [element(seq, LOG.namespace, "", seq - 1) for seq in range(1, writes + 1)]
    expect_equal(values[1:], (expected,), of="what the lines behind the header hold")


WRITERS: dict[str, tuple[Callable[[Session], Awaitable[object]], int]] = {
    "set-value": (lambda session: session.set_value(PLAN, 1), 1),
    "delete-value": (lambda session: session.delete_value(PLAN), 1),
    "append-list": (lambda session: session.append_list(LOG, 1), 1),
    "delete-list": (lambda session: session.delete_list(LOG), 1),
    "set-name": (lambda session: session.set_name("früh"), 1),
    "set-label": (lambda session: session.set_label("e1", "start"), 1),
    "create-branch": (lambda session: session.create_branch("side", "e1"), 1),
    "append-message": (lambda session: _append(session, "message"), 2),
    "append-custom-entry": (lambda session: _append(session, "custom"), 2),
}


async def _append(session: Session, kind: str) -> object:
    branch = await session.branch("main")
    if branch is None:
        raise LookupError("the case's branch main does not exist")
    if kind == "custom":
        return await branch.append_custom_entry("weather", {"rain": 2.5})
    return await branch.append_message(records.user_message("früh"))


@case("S-JSONL-FMT-02")
@rows("writer", WRITERS)
async def a_writer_of_the_session_writes_one_line(
    store: SessionMaker, writer: tuple[Callable[[Session], Awaitable[object]], int]
) -> None:
    """A writer of a session or a branch writes one line: an object for its one write, an array for an entry with its
    tip.

    If this fails, look at: the tip committed behind its entry; the name kept in the header.
    """
    subject = await store.linear_session(1)
    call, writes = writer
    before = _path(subject).read_bytes()
    await call(subject.session)
    added = lines_of(_path(subject)).values[before.count(b"\n") :]
    seen = [len(value) if isinstance(value, list) else 1 for value in added]
    expect_equal(seen, [writes], of="the numbers of writes on the lines that were added")
    expect(isinstance(added[0], dict) is (writes == 1), f"expected: an object for one write\nseen:     {added[0]!r}")


HEADERS: dict[str, dict[str, Any]] = {
    "plain": {"id": "walk-1"},
    "parent": {"id": "walk-2", "parent_session_id": "walk-1"},
    "letters": {"id": "früh 水 🌱", "parent_session_id": "süd", "cwd": "/srv/gärten/🌱"},
    "separators": {"id": "a\u2028b\u2029c\x85d\x7f", "cwd": "/srv/a\u2028b"},
    "escapes": {"id": '\ufeff"\\/\b\f\n\r\t\v\x1f', "parent_session_id": "\x01\x7f/"},
    "empty-parent": {"id": "walk-3", "parent_session_id": ""},
}


@case("S-JSONL-FMT-04")
@rows("options", HEADERS)
async def a_created_file_is_one_header(store: SessionMaker, options: dict[str, Any]) -> None:
    """A created file holds one line, the header, with the fields and in the order of 22.1, absent ones left out, and
    nothing else.

    If this fails, look at: null for an absent parent; fields in the order of the alphabet; `nextSeq` or a time of last
    use written along; a first transaction of the store's own.
    """
    subject = await store.create(**options)
    parent = options.get("parent_session_id")
    expected = header(
        options.get("cwd", store.raw.cwd),
        id=options["id"],
        created_at=subject.metadata.created_at,
        **({} if parent is None else {"parentSessionId": parent}),
    )
    expect_equal(_path(subject).read_bytes(), expected, of="the created file")
    await subject.close()
    expect_equal(_path(subject).read_bytes(), expected, of="the created file after closing")


FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main", id="fork"), "tree": TreeFork(id="fork")}


@case("S-JSONL-FMT-04")
@rows("options", FORKS)
@rows(
    "more", plain={}, both_parents={"parentSessionId": "older", "legacyParentSessionPath": "/old.jsonl", "nextSeq": 90}
)
async def the_header_of_a_fork_has_its_order(store: SessionMaker, options: ForkOptions, more: dict[str, Any]) -> None:
    """The header of a fork names its source as parent, and has nothing that comes from the source's own header but the
    cwd; a `nextSeq` stands at its end.

    If this fails, look at: the source's header copied and changed; unknown fields carried along.
    """
    subject = await store.linear_session(2, id="shape")
    await subject.close()
    behind = _path(subject).read_bytes().partition(b"\n")[2]
    path = await store.plant(header(store.raw.cwd, id="source", note="x", **more) + behind, id="source")
    fork = await store.repo.fork(store.raw.metadata(path), options)
    found = lines_of(fork.metadata.path or "")
    extra = {"nextSeq": found.header["nextSeq"]} if "nextSeq" in found.header else {}
    told = {"id": "fork", "created_at": fork.metadata.created_at, "parentSessionId": "source", **extra}
    expect_equal(found.texts[0] + b"\n", header(store.raw.cwd, **told), of="the header of the fork")


@case("S-JSONL-FMT-04")
@rows("lineage", id="lineage-v3", path="lineage-missing")
async def the_header_of_an_upgrade_has_its_order(store: SessionMaker, lineage: str) -> None:
    """The header that an upgrade from legacy v3 writes has its fields in the order of 22.1, with the one parent that is
    known, and `nextSeq` at the end.

    If this fails, look at: optional fields in the order in which they were found; null for the other parent.
    """
    (found,) = (one for one in legacy_files() if one.name == lineage)
    legacy = store.legacy_session(found)
    subject = await legacy.open()
    await subject.session.set_name("upgraded")
    parents = {
        "parentSessionId": legacy.case.parent_session_id,
        "legacyParentSessionPath": legacy.case.legacy_parent_session_path,
    }
    lines = lines_of(legacy.path)
    expected = header(
        legacy.case.cwd,
        id=legacy.case.id,
        created_at=legacy.case.created_at,
        **{name: value for name, value in parents.items() if value is not None},
        nextSeq=lines.header.get("nextSeq"),
    )
    expect_equal(lines.texts[0] + b"\n", expected, of="the header after the upgrade")


@case("S-JSONL-FMT-13")
async def no_byte_order_mark_is_written(store: SessionMaker) -> None:
    """A file that the store writes (create, commit, fork) begins with `{`, also where its texts begin with U+FEFF, and
    where the source of a fork begins with a mark; a commit leaves the mark of a file where it is.

    If this fails, look at: an encoding that writes a mark; the source's bytes copied from the first one on.
    """
    path = await store.plant(MARK + header(store.raw.cwd, id="marked") + line(scalar(1, "a", "", 1)), id="marked")
    source = store.subject(await store.repo.open(store.raw.metadata(path)), model_of_records([scalar(1, "a", "", 1)]))
    await source.commit(ValueSet(value_address("\ufeff", "\ufeff"), "\ufeff"))
    expect_equal(path.read_bytes().count(MARK), 4, of="the marks in the file: at its start, and in three texts")
    expect(path.read_bytes().startswith(MARK), "expected: a commit leaves the first bytes\nseen:     they changed")
    fork = await source.fork(TreeFork(id="\ufefffork"))
    created = await store.create("\ufeffcreated")
    for subject in (fork, created):
        expect_equal(_path(subject).read_bytes()[:5], b'{"v":', of="the first bytes of a written file")
        await subject.commit(ValueSet(value_address("a"), "\ufeff"))
        expect_equal(last_line(_path(subject))[:8], b'{"kind":', of="the first bytes of a written line")
    expect_equal(text("\ufeff") in last_line(_path(created)), True, of="whether U+FEFF is written raw in text")
    await store.check_each(source, fork, created)
