"""Working directories: how they are made absolute, what `list` keeps of them, and what one id means in two of them
(S-REPO-16, S-OWN-10, S-OWN-11).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.racing import raced, words
from forkproof.makers import SessionMaker, Subject
from forkstore.contract.addresses import session_name
from forkstore.contract.errors import SessionExists, SessionInUse
from forkstore.contract.forks import TreeFork
from forkstore.contract.writes import ValueSet

PLAIN = "/srv/garden/beds"
SPELLINGS = {
    "separator-at-end": "/srv/garden/beds/",
    "dot": "/srv/./garden/beds",
    "dot-at-end": "/srv/garden/beds/.",
    "two-dots": "/srv/orchard/../garden/beds",
    "two-dots-at-end": "/srv/garden/beds/north/..",
    "above-the-root": "/../srv/garden/beds",
}
"""Other spellings of PLAIN."""

SHARING = ("/srv/a/b", "/srv/a-b", "/srv-a-b", "/srv/a:b")
"""Working directories whose sessions lie in one session directory (section 22.4)."""

NEIGHBOURS = (
    *SHARING,
    *("/srv", "/srv/a", "/srv/a/b/c", "/srv/a/b ", "/srv/a/B", "/SRV/a/b", "/srv/a/bb", "/"),
    *("/srv/é", "/srv/e\u0301", "/srv/ünï 코드", "/srv/%61/b"),
)
"""Working directories that a careless comparison takes for one another."""

PAIRS = {"apart": ("/srv/north", "/srv/south"), "nested": ("/srv/a", "/srv/a/b"), "sharing": SHARING[:2]}


@contextlib.contextmanager
def linked() -> Iterator[tuple[str, str]]:
    """A directory and a link to it."""
    with tempfile.TemporaryDirectory(prefix="forkproof-cwd-") as place:
        real, link = Path(place, "real"), Path(place, "link")
        real.mkdir()
        link.symlink_to(real)
        yield str(real), str(link)


def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - the rule of section 2.5: a Path would keep `..`


async def _listed(store: SessionMaker, cwd: str) -> list[str]:
    return sorted(metadata.id for metadata in await store.repo.list(cwd=cwd))


@case("S-REPO-16")
@rows("spelling", SPELLINGS)
async def a_working_directory_is_made_absolute(store: SessionMaker, spelling: str) -> None:
    """`create` and `list` remove `.`, `..` and a trailing separator alike: a session made with one spelling has the
    absolute working directory, and is listed under both.

    If this fails, look at: `create` that stores what it was given; `list` that compares what it was given.
    """
    odd, plain = await store.create("odd", cwd=spelling), await store.create("plain", cwd=PLAIN)
    expect_equal((odd.metadata.cwd, plain.metadata.cwd), (PLAIN, PLAIN), of="the working directories in the metadata")
    for cwd in (spelling, PLAIN):
        expect_equal(await _listed(store, cwd), ["odd", "plain"], of=f"the sessions of {cwd!r}")
    await odd.check_everywhere()
    stored = {metadata.id: metadata.cwd for metadata in await store.list()}
    expect_equal(stored, {"odd": PLAIN, "plain": PLAIN}, of="the working directories that are listed")


@case("S-REPO-16")
@rows("spelling", name="garden", name_and_dots="./garden/../beds", dot=".", two_dots="..", odd="srv\\a\\b")
async def a_relative_working_directory_begins_at_the_process(store: SessionMaker, spelling: str) -> None:
    """A relative working directory is made absolute from the working directory of the process, on `create` and `list`
    alike.

    If this fails, look at: a relative path that is stored; one that is taken from the root of the store.
    """
    absolute = _absolute(spelling)
    subject = await store.create("walk", cwd=spelling)
    expect_equal(subject.metadata.cwd, absolute, of="the working directory in the metadata")
    for cwd in (spelling, absolute):
        expect_equal(await _listed(store, cwd), ["walk"], of=f"the sessions of {cwd!r}")
    await subject.check_everywhere()


@case("S-REPO-16")
async def a_list_keeps_one_working_directory(store: SessionMaker) -> None:
    """`list(cwd=…)` keeps only the sessions whose stored working directory is exactly equal: not one that shares its
    session directory, lies above or below, or differs in case, blanks or Unicode form.

    If this fails, look at: sessions told apart by their directory's name; a prefix; folding of case; percent-decoding.
    """
    for number, cwd in enumerate(NEIGHBOURS):
        await (await store.create(f"walk-{number}", cwd=cwd)).close()
    stored = {metadata.id: metadata.cwd for metadata in await store.list()}
    expect_equal(stored, {f"walk-{n}": cwd for n, cwd in enumerate(NEIGHBOURS)}, of="all sessions that are listed")
    for number, cwd in enumerate(NEIGHBOURS):
        expect_equal(await _listed(store, cwd), [f"walk-{number}"], of=f"the sessions of {cwd!r}")
    expect_equal(await _listed(store, "/srv/nobody"), [], of="the sessions of a working directory nobody used")


@case("S-REPO-16")
async def links_to_working_directories_are_not_followed(store: SessionMaker) -> None:
    """A link to a directory is a working directory of its own, for `create` and `list` alike.

    If this fails, look at: a real path where an absolute one is asked for.
    """
    with linked() as (real, link):
        subject = await store.create("by-link", cwd=link)
        await store.create("by-name", cwd=real)
        expect_equal(subject.metadata.cwd, link, of="the working directory of a session made by the link")
        expect_equal(await _listed(store, link), ["by-link"], of="the sessions of the link")
        expect_equal(await _listed(store, real), ["by-name"], of="the sessions of the directory")
        await subject.check_everywhere()


@case("S-OWN-10")
@rows("spelling", SPELLINGS)
@rows("order", odd_first=(0, 1), plain_first=(1, 0))
async def two_spellings_are_one_reservation(store: SessionMaker, spelling: str, order: tuple[int, int]) -> None:
    """Of two creates of one id in one working directory, spelled in two ways and started one after the other, the first
    succeeds and the second raises `SessionExists`, in both orders.

    If this fails, look at: the reservation made with the spelling; a suspension while the path is made absolute.
    """
    cwds = [(spelling, PLAIN)[place] for place in order]
    endings = await raced(*(store.repo.create(id="walk", cwd=cwd) for cwd in cwds))
    expect_equal(words(endings), ["returned", "SessionExists"], of=f"creates of one id in {cwds}")
    expect_equal(await store.listed_ids(), ["walk"], of="the sessions that are listed")
    with refused(SessionExists, session_id="walk"):
        await store.repo.create(id="walk", cwd=spelling)


@case("S-OWN-10")
@rows("spelling", SPELLINGS)
async def the_reservation_is_made_in_the_first_step(store: SessionMaker, spelling: str) -> None:
    """The working directory is made absolute without a suspension: a create in any spelling is refused right behind the
    opening or the deletion of the session of that id, and wins over a fork onto that id right behind it.

    If this fails, look at: a working directory that is resolved by a file call; a deletion that reserves too late.
    """
    subject = await store.create("walk", cwd=PLAIN)
    await subject.close()
    opened, created = await raced(store.repo.open(subject.metadata), store.repo.create(id="walk", cwd=spelling))
    expect_equal(words([opened, created]), ["returned", "SessionExists"], of="an opening, and a create behind it")
    await opened.value.close()
    deleted, created = await raced(store.repo.delete(subject.metadata), store.repo.create(id="walk", cwd=spelling))
    expect_equal(words([deleted, created]), ["returned", "SessionExists"], of="a deletion, and a create behind it")
    source = await store.create("source", cwd=PLAIN)
    forking = store.repo.fork(source.metadata, TreeFork(id="walk"))
    created, forked = await raced(store.repo.create(id="walk", cwd=spelling), forking)
    expect_equal(
        words([created, forked]), ["returned", "SessionExists"], of="a create, and a fork onto its id behind it"
    )


@case("S-OWN-10")
async def a_link_and_its_directory_are_two_reservations(store: SessionMaker) -> None:
    """One id can be open in a directory and in a link to it: links are not followed.

    If this fails, look at: a reservation for the real path.
    """
    with linked() as (real, link):
        endings = await raced(*(store.repo.create(id="walk", cwd=cwd) for cwd in (real, link)))
        expect_equal(words(endings), ["returned", "returned"], of="creates in the directory and in the link to it")
        cwds = sorted(str(metadata.cwd) for metadata in await store.list())
        expect_equal(cwds, sorted([real, link]), of="the working directories that are listed")


@case("S-OWN-10")
async def a_fork_reserves_in_the_working_directory_of_its_source(store: SessionMaker) -> None:
    """A fork reserves its id in the working directory of its source: an id that is open elsewhere is free, one that is
    open there is taken, and of a fork and a create that are started one after the other the first succeeds.

    If this fails, look at: reservations by id alone; the working directory of the fork read from the file too late.
    """
    source = await store.create("source", cwd="/srv/north")
    await store.create("elsewhere", cwd="/srv/south")
    there = await store.create("there", cwd="/srv/north")
    fork = await source.fork(TreeFork(id="elsewhere"))
    expect_equal(fork.metadata.cwd, "/srv/north", of="the working directory of the fork")
    with refused(SessionExists, session_id="there"):
        await store.repo.fork(source.metadata, TreeFork(id="there"))
    forking = store.repo.fork(source.metadata, TreeFork(id="late"))
    endings = await raced(forking, store.repo.create(id="late", cwd="/srv/north/."))
    expect_equal(words(endings), ["returned", "SessionExists"], of="a fork, and a create of its id behind it")
    await store.check_each(fork, there, source)


@case("S-OWN-11", needs=("clock",))
@rows("cwds", PAIRS)
async def one_id_is_open_in_two_working_directories(store: SessionMaker, cwds: tuple[str, str]) -> None:
    """Sessions of one id in two working directories are open at once, hold their own, and are opened, written and
    deleted each by itself; also when both lie in one session directory.

    If this fails, look at: reservations by id alone; a session looked up by its id or by the name of its file.
    """
    first, second = await _twins(store, cwds)
    for number, subject in enumerate((first, second)):
        await subject.commit(ValueSet(session_name(), f"in {cwds[number]}"))
        await subject.append("main", f"written in {cwds[number]}", id=f"e{number}")
    for subject in (first, second):
        await subject.check("one of two open sessions of one id")
    with refused(SessionInUse, session_id="walk"):
        await store.repo.open(first.metadata)
    await first.close()
    with refused(SessionInUse, session_id="walk"):
        await store.repo.open(second.metadata)
    await first.open()
    await first.check("the session that was opened again beside its twin")
    await first.close()
    await store.repo.delete(first.metadata)
    await second.check("the session whose twin was deleted")
    left = [(metadata.id, metadata.cwd) for metadata in await store.list()]
    expect_equal(left, [("walk", cwds[1])], of="the sessions that are listed after one twin was deleted")
    await second.check_everywhere()


@case("S-OWN-11", needs=("clock",))
@rows("cwds", PAIRS)
async def twins_are_opened_at_the_same_time(store: SessionMaker, cwds: tuple[str, str]) -> None:
    """Sessions of one id in two working directories are opened at the same time, and forked onto one id each.

    If this fails, look at: a reservation that is held for the id; a fork that looks for its id in one directory only.
    """
    first, second = await _twins(store, cwds)
    for subject in (first, second):
        await subject.commit(ValueSet(session_name(), f"in {subject.metadata.cwd}"))
        await subject.close()
    endings = await raced(*(store.repo.open(subject.metadata) for subject in (first, second)))
    expect_equal(words(endings), ["returned", "returned"], of="the openings of both")
    forks = [await first.fork(TreeFork(id="fork"))]
    store.clock.advance(1)
    forks.append(await second.fork(TreeFork(id="fork")))
    await store.check_each(*forks)
    where = [fork.metadata.cwd for fork in forks]
    expect_equal(where, list(cwds), of="the working directories of two forks with one id")


async def _twins(store: SessionMaker, cwds: tuple[str, str]) -> tuple[Subject, Subject]:
    """Two open sessions of one id, made at two times: in one directory that is all that tells their files apart."""
    first = await store.create("walk", cwd=cwds[0])
    store.clock.advance(1)
    return first, await store.create("walk", cwd=cwds[1])
