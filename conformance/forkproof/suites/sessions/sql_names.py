"""What databases are called, where they lie, and which ids they keep apart (section 29.1, S-REPO-03 and S-REPO-05)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.file_picture import SIDE_SUFFIXES
from forkproof.makers import SessionMaker, Subject
from forkproof.oracle.database_names import database_name
from forkproof.suites.sessions.other_places import new_place
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import SessionMetadata

SQLITE = frozenset({"sqlite"})


def _named(store: SessionMaker, *ids: str) -> list[str]:
    """The names of all databases that sessions with these ids need, in the layout of the store."""
    shared = store.databases.container
    return sorted({database_name(id) for id in ids} if shared is None else {shared.name})


def _names(store: SessionMaker) -> list[str]:
    """The names of all that stands where the store keeps its databases, side files apart."""
    return sorted(one.name for one in store.databases.directory.iterdir() if not one.name.endswith(SIDE_SUFFIXES))


@case("S-SQL-LAY-01")
@rows(
    "example",
    plain=("walk-1", "walk-1.sqlite"),
    separator=("a/b", "~YQAvAGIA.sqlite"),
    accents=("été", "~6QB0AOkA.sqlite"),
    empty=("", "~.sqlite"),
)
async def the_examples_of_the_contract_have_their_names(store: SessionMaker, example: tuple[str, str]) -> None:
    """The database of a session has the name that section 29.1 gives as an example for its id; in a shared container
    there is the container and nothing else.

    If this fails, look at: UTF-8 in place of UTF-16; bytes in the other order; padding; the empty id without its `~`.
    """
    id, name = example
    subject = await store.create(id)
    shared = store.databases.container
    expect_equal(_names(store), [name if shared is None else shared.name], of="the databases that stand there")
    expect_equal(subject.metadata.path, str(store.databases.directory / _names(store)[0]), of="the path of the session")


IDS = {
    "letters": "Walk",
    "digits": "2025",
    "underscore": "_",
    "dash": "-",
    "looks-like-an-option": "-rf",
    "longest-plain": "aZ09_-" * 33 + "aZ",
    "dot": "walk.sqlite",
    "two-dots": "..",
    "blank": "walk 1",
    "line-feed": "walk\n",
    "tilde": "~",
    "an-encoded-name": "~YQAvAGIA",
    "percent": "%2F",
    "plus": "a+b=c",
    "slash-of-base64": "\u00ff\u00ff\u03ff",
    "plus-of-base64": "\u00fb\u00ef\u03be",
    "one-byte-of-padding": "a.b",
    "two-bytes-of-padding": "a.",
    "arabic-digits": "\u0661",
    "full-width": "\uff41",
    "composed": "\u00e9",
    "decomposed": "e\u0301",
    "astral": "\U0001f331",
    "nul": "walk\x00",
    "like-a-side-file": "walk.sqlite-wal",
    "longest-encoded": "." * 74,
}


@case("S-SQL-LAY-01")
@rows("id", IDS)
async def a_database_is_named_for_its_id(store: SessionMaker, id: str) -> None:
    """A session that is created or forked has the database that section 29.1 names, and no other file stands there,
    also while it is open, but for its side files.

    If this fails, look at: letters and digits of any alphabet taken for plain ones; the other alphabet of base64; a
    check that stops at a line feed; a name that is joined before it is encoded.
    """
    source = await store.linear_session(1, id="source")
    for options in (None, TreeFork(id=id)):
        subject = await (store.create(id) if options is None else source.fork(options))
        expect_equal(_names(store), _named(store, "source", id), of="the databases that stand there")
        _expect_side_files_only(store, "source", id)
        await subject.close()
        await store.repo.delete(subject.metadata)
    expect_equal(_names(store), _named(store, "source"), of="the databases that are left")


def _expect_side_files_only(store: SessionMaker, *ids: str) -> None:
    """Breaks the clause unless everything in the place is a database of these ids, or a side file of one."""
    rightful = {f"{name}{end}" for name in _named(store, *ids) for end in ("", *SIDE_SUFFIXES)}
    strangers = sorted({one.name for one in store.databases.directory.iterdir()} - rightful)
    expect_equal(strangers, [], of="files that are neither a database nor a side file of one")


@case("S-SQL-LAY-01")
async def all_sessions_lie_in_their_layout(store: SessionMaker) -> None:
    """Sessions, forks and forks of forks each have one database of their own in the one directory, or all of them lie
    in the one container, each as one row.

    If this fails, look at: a fork put beside its source's own file; a container for each scope; a second row.
    """
    source = await store.linear_session(2, id="source")
    first = await source.fork(TreeFork(id="first"))
    second = await first.fork(BranchFork("main", id="second"))
    subjects = [source, first, second, await store.create("a/b")]
    ids = sorted(subject.id for subject in subjects)
    expect_equal(_names(store), _named(store, *ids), of="the databases that stand there")
    found: list[Any] = []
    for name in _names(store):
        found += store.databases.rows(store.databases.directory / name, "SELECT id FROM sessions")
    expect_equal(sorted(id for (id,) in found), ids, of="the ids in all rows of sessions")
    await store.check_each(*subjects)


CONFUSABLE = {
    "case": ("walk", "Walk", "WALK"),
    "blanks-behind": ("walk", "walk ", "walk  "),
    "nul-behind": ("walk", "walk\x00", "walk\x00x"),
    "numbers": ("1", "01", "1.0", "+1", "1e0", "0x1"),
    "huge-numbers": ("9007199254740993", "9007199254740992", "9223372036854775808"),
    "accents": ("\u00e9", "e\u0301", "E\u0301"),
    "patterns": ("walk%", "walk_", "walk*", "walk?"),
    "quotes": ("walk'", 'walk"', "walk`", "walk'--"),
    "words": ("null", "NULL", "true", "rowid", ""),
    "encoded": ("a/b", "~YQAvAGIA", "a%2Fb"),
}


@case("S-REPO-03", needs=("raw-files",), kinds=SQLITE)
@rows("ids", CONFUSABLE)
async def ids_are_kept_apart_in_databases(store: SessionMaker, ids: tuple[str, ...]) -> None:
    """Ids that only differ in case, in blanks at the end, behind a NUL, in how they spell a number, or in what a
    pattern or a quote may mean, are stored as the text that they are, and name sessions that do not meet.

    If this fails, look at: NOCASE and RTRIM; LIKE and GLOB; a column that turns text into numbers; text bound as a C
    string; statements put together from text; names of files that ignore case.
    """
    subjects = [await store.linear_session(number + 1, id=id) for number, id in enumerate(ids)]
    for subject in subjects:
        found = store.databases.rows(
            store.databases.place(subject.id), "SELECT id, typeof(id) FROM sessions WHERE id = ?", subject.id
        )
        expect_equal(found, [(subject.id, "text")], of=f"the row of the session {subject.id!r}")
    await store.assert_only_known_sessions(*subjects)
    for subject in subjects:
        await subject.reopen()
        await subject.check(f"the session {subject.id!r}, opened again")
        await subject.close()
    while subjects:
        doomed = subjects.pop()
        await store.repo.delete(doomed.metadata)
        await store.assert_only_known_sessions(*subjects)
    expect_equal(_names(store), _named(store) if store.databases.container else [], of="the databases that are left")


CLIMBING = {
    "two-dots": "..",
    "up-twice": "../../escape",
    "up-and-sideways": "../sideways/escape",
    "down": "sub/escape",
    "backslashes": "..\\..\\escape",
    "absolute-file": "{elsewhere}/escape.sqlite",
    "uri": "file:{elsewhere}/escape.sqlite",
    "in-memory": ":memory:",
    "nul": "escape\x00.sqlite",
    "query": "escape?mode=memory",
    "tilde": "~/escape",
    "longest": "ü" * 33,
}


@case("S-REPO-05", needs=("raw-files",), kinds=SQLITE)
@rows("id", CLIMBING)
async def no_id_leads_out_of_the_databases(store: SessionMaker, id: str) -> None:
    """A session of any id is created, written, forked, forked onto, opened and deleted in the database that its layout
    gives it; no other file is made, changed or removed, in the store or outside.

    If this fails, look at: an id that is joined to a path; a path that SQLite takes for a URI; an id that names a
    database in memory; a stage named for its session.
    """
    with new_place() as elsewhere:
        id = id.replace("{elsewhere}", str(elsewhere))
        canary = elsewhere / "escape.sqlite"
        canary.write_bytes(b"not to be touched")
        with ByteGuard(canary, root=elsewhere, of="what lies outside of the store"):
            source = await store.linear_session(1, id="source")
            created = await store.create(id)
            await created.append("main", "written")
            _expect_in_place(store, source, created)
            fork = await created.fork(TreeFork(id="fork"))
            await created.reopen()
            await created.check("the session of that id, opened again")
            await store.repo.delete(await _closed(created))
            _expect_in_place(store, source, fork)
            onto = await source.fork(TreeFork(id=id))
            await onto.check("a fork of that id")
            await store.repo.delete(await _closed(onto))
            _expect_in_place(store, source, fork)


async def _closed(subject: Subject) -> SessionMetadata:
    await subject.close()
    return subject.metadata


def _expect_in_place(store: SessionMaker, *subjects: Subject) -> None:
    """Breaks the clause unless these sessions' databases are all that stands in and beside the store."""
    around = Path(store.harness.directory)
    seen = {path for path in around.rglob("*") if not path.is_dir() and not path.name.endswith(SIDE_SUFFIXES)}
    expected = {store.databases.directory / name for name in _named(store, *(one.id for one in subjects))}
    expect_equal(sorted(map(str, seen)), sorted(map(str, expected)), of="the files in and beside the store")
