"""Session ids are opaque: every legal one comes back exactly, and the others are refused (S-REPO-03, S-REPO-04)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.harness import fact
from forkproof.makers import SessionMaker, Subject
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import InvalidForkOptions, InvalidSessionId
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import ValueSet

NOTE = value_address("garden.plan")
BUILT_IN_KINDS = frozenset({"memory", "jsonl", "sqlite"})


async def _made(store: SessionMaker, id: str) -> Subject | None:
    """The session of that id; None where the store is of a kind that may refuse it, and does."""
    try:
        return await store.create(id)
    except InvalidSessionId:
        if BUILT_IN_KINDS & frozenset(fact(store.harness, "kinds")):
            raise
        return None


@case("S-REPO-03")
@rows(
    "pair",
    case=("a", "A"),
    blank_before=(" a", "a"),
    blank_after=("a ", "a"),
    only_blanks=(" ", "  "),
    empty=("", " "),
    accents=("\u00e9", "e\u0301"),
    compatible=("\ufb01n", "fin"),
    sharp_s=("straße", "strasse"),
    digits=("1", "01"),
    separators=("a/b", "a\\b"),
    dashes=("a/b", "a-b"),
    climbing=("../x", "x"),
    dots=("..", "."),
    dot_after=("a.", "a"),
    suffix=("x_b", "b"),
    extension=("a.jsonl", "a"),
    database=("a.db", "a"),
    encoded=("a%20b", "a b"),
    encoded_name=("~YQA", "a"),
    device=("CON", "con"),
    nul=("a\x00b", "a"),
    line_end=("a\nb", "a b"),
    quotes=("a'b", 'a"b'),
    wildcards=("a%", "a_"),
    stars=("*", "?"),
    colon=("a:b", "a"),
    astral=("\U0001f331", "\U0001f332"),
    json=('{"id":1}', "1"),
)
async def two_ids_name_two_sessions(store: SessionMaker, pair: tuple[str, str]) -> None:
    """Two ids that differ in any code point name two sessions, and each id comes back exactly from metadata and `list`.

    If this fails, look at: ids trimmed, folded or normalised; ids used as file names; a query with LIKE; an id cut at
    a NUL.
    """
    subjects = {id: subject for id in pair if (subject := await _made(store, id)) is not None}
    seen = [subject.session.metadata.id for subject in subjects.values()]
    expect_equal(seen, list(subjects), of="the ids in the metadata")
    await store.assert_only_known_sessions(*subjects.values())
    for id, subject in subjects.items():
        await subject.commit(ValueSet(NOTE, id))
    for id, subject in subjects.items():
        await subject.check(f"the session {id!r}, read in full")
    await store.check_each(*subjects.values())
    for id, subject in list(subjects.items()):
        await store.repo.delete(subject.metadata)
        del subjects[id]
        await store.assert_only_known_sessions(*subjects.values())


@case("S-REPO-03")
@rows("id", blank=" a ", climbing="../a/b", accents="e\u0301\u00e9", upper="Walk", nul="a\x00", dots=".")
async def the_id_of_a_fork_is_opaque_too(store: SessionMaker, id: str) -> None:
    """The destination of a fork has exactly the id that the options name, in its metadata, in `list`, and as parent of
    its own forks.

    If this fails, look at: ids cleaned up on one of the two ways only; a parent id written in an encoded form.
    """
    source = await store.linear_session()
    probe = await _made(store, id)
    if probe is None:
        return
    await probe.close()
    await store.repo.delete(probe.metadata)
    fork = await source.fork(TreeFork(id=id))
    grandchild = await fork.fork(BranchFork("main", id="grandchild"))
    expect_equal(fork.session.metadata.id, id, of="the id in the metadata of the fork")
    expect_equal(grandchild.session.metadata.parent_session_id, id, of="the parent id of a fork of the fork")
    await store.assert_only_known_sessions(source, fork, grandchild)
    await store.check_each(fork, grandchild)


REFUSED_IDS: dict[str, str] = {
    "lone_high": "a\ud83c",
    "lone_low": "\udf31a",
    "wrong_order": "\udf31\ud83c",
    "letters": "a" * 201,
    "accents": "ä" * 34,
    "blanks": " " * 67,
    "database_name": "." * 75,
    "astral": "\U0001f331" * 17,
    "very_long": "x" * 100_000,
}
"""Ids with a lone surrogate, and ids whose encoded form or database name is a little longer than 200 characters."""


@case("S-REPO-04")
@rows("id", REFUSED_IDS)
async def an_illegal_id_is_refused(store: SessionMaker, id: str) -> None:
    """An id with a lone surrogate, or too long in its encoded form or as a database name, is refused by `create` and by
    both forks with `InvalidSessionId`, and nothing is made.

    If this fails, look at: a limit on code points in place of the encoded form; a limit on one of the two forms only;
    a fork that does not check; an error of the file system or the encoder that passes through.
    """
    source = await store.linear_session()
    for _ in range(2):
        with refused(InvalidSessionId, session_id=id):
            await store.repo.create(id=id, **store.create_options)
        with refused(InvalidSessionId, session_id=id):
            await store.repo.fork(source.metadata, TreeFork(id=id))
        with refused(InvalidSessionId, session_id=id):
            await store.repo.fork(source.metadata, BranchFork("main", id=id))
    await store.assert_only_known_sessions(source)
    await source.check_everywhere()


@case("S-REPO-04")
@rows("id", number=1, zero=0, false=False, bytes=b"walk", tuple=("walk",), dict={"id": "walk"}, float=1.5)
async def an_id_that_is_no_string_is_refused(store: SessionMaker, id: Any) -> None:
    """An id that is not a string is refused by `create` with `InvalidSessionId`, and by `fork` with that or with
    `InvalidForkOptions`; nothing is made.

    If this fails, look at: `str(id)`; a falsy id taken for no id; an id looked up in a dict before it is checked.
    """
    source = await store.linear_session()
    with refused(InvalidSessionId, session_id=id):
        await store.repo.create(id=id, **store.create_options)
    with refused(InvalidSessionId, InvalidForkOptions):
        await store.repo.fork(source.metadata, TreeFork(id=id))
    await store.assert_only_known_sessions(source)


@case("S-REPO-04")
@rows("id", letters="a" * 200, accents="ä" * 33, blanks=" " * 66, database_name="." * 74, astral="\U0001f331" * 16)
async def the_longest_legal_id_is_taken(store: SessionMaker, id: str) -> None:
    """An id whose encoded form and database name have at most 200 characters is legal: it can be created, listed,
    opened and forked onto. (A store that is none of the three kinds may refuse it.)

    If this fails, look at: a limit that is one too low; the suffix of a file name counted in.
    """
    subject = await _made(store, id)
    if subject is None:
        return
    await store.assert_only_known_sessions(subject)
    await subject.append("main", "kept")
    await subject.check_everywhere()
    await subject.close()
    await store.repo.delete(subject.metadata)
    source = await store.linear_session()
    fork = await source.fork(TreeFork(id=id))
    await store.assert_only_known_sessions(source, fork)
    await store.check_each(source, fork)
