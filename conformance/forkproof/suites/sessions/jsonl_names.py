"""Where session files lie, and what they are called (section 22.4)."""

from __future__ import annotations

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_names import directory_name, file_name, session_path
from forkproof.suites.sessions.spelled_files import FORKS
from forkstore.contract.forks import ForkOptions, TreeFork

CLOCK = ("raw-files", "clock")


def _in_directory(subject: Subject) -> tuple[str, list[str]]:
    """The directory of the session's file under the root, and the names of all that lies in it."""
    path = subject.store.path_of(subject)
    root = subject.store.root.resolve()
    return path.parent.relative_to(root).as_posix(), sorted(one.name for one in path.parent.iterdir())


@case("S-JSONL-FMT-14", needs=CLOCK)
async def the_example_of_the_contract_has_its_name(store: SessionMaker) -> None:
    """The id `walk 1`, created in `/srv/garden` at 1760000000123, has the directory and the file that section 22.4
    gives for it.

    If this fails, look at: local time for UTC; blanks written as `+`; a name made of the id alone.
    """
    store.clock.set(1_760_000_000_123)
    subject = await store.create("walk 1", cwd="/srv/garden")
    expected = ("--srv-garden--", ["2025-10-09T08-53-20-123Z_walk%201.jsonl"])
    expect_equal(_in_directory(subject), expected, of="the directory and the file of the session")


TIMES = {
    "epoch": (0, "1970-01-01T00-00-00-000Z"),
    "one-millisecond": (1, "1970-01-01T00-00-00-001Z"),
    "leap-day": (951_782_400_000, "2000-02-29T00-00-00-000Z"),
    "last-millisecond-of-a-year": (1_767_225_599_999, "2025-12-31T23-59-59-999Z"),
    "whole-second": (1_760_000_000_000, "2025-10-09T08-53-20-000Z"),
    "tenth-of-a-second": (1_760_000_000_100, "2025-10-09T08-53-20-100Z"),
    "summer": (1_751_328_000_050, "2025-07-01T00-00-00-050Z"),
    "last-of-all": (253_402_300_799_999, "9999-12-31T23-59-59-999Z"),
}


@case("S-JSONL-FMT-14", needs=CLOCK)
@rows("time", TIMES)
async def a_file_begins_with_its_time(store: SessionMaker, time: tuple[int, str]) -> None:
    """A file's name begins with its creation time in UTC, 24 characters with three digits of milliseconds: created or
    forked.

    If this fails, look at: milliseconds left out where they are 0; local time; times rounded by a float; the time of
    the source in the name of a fork.
    """
    source = await store.create("source")
    at, stamp = time
    store.clock.set(at)
    created = await store.create("created")
    fork = await source.fork(TreeFork(id="fork"))
    for subject in (created, fork):
        expect_equal(store.path_of(subject).name, f"{stamp}_{subject.id}.jsonl", of="the name of the file")


IDS = {
    "blank": (" a b ", "%20a%20b%20"),
    "separators": ("a/b\\c:d", "a%2Fb%5Cc%3Ad"),
    "one-dot": (".", "."),
    "two-dots": ("..", ".."),
    "dots": ("...a.jsonl", "...a.jsonl"),
    "climbing": ("../../x", "..%2F..%2Fx"),
    "percent": ("100%", "100%25"),
    "percent-encoded": ("a%2Fb", "a%252Fb"),
    "unreserved": ("Az09-_.!~*'()", "Az09-_.!~*'()"),
    "reserved": ('#?&=@$,;+[]{}<>|"^`', "%23%3F%26%3D%40%24%2C%3B%2B%5B%5D%7B%7D%3C%3E%7C%22%5E%60"),
    "letters": ("früh", "fr%C3%BCh"),
    "letters-in-parts": ("fru\u0308h", "fru%CC%88h"),
    "wide-letters": ("水🌱", "%E6%B0%B4%F0%9F%8C%B1"),
    "controls": ("\0\n\x7f", "%00%0A%7F"),
    "separators-of-lines": ("\u2028\x85\ufeff", "%E2%80%A8%C2%85%EF%BB%BF"),
    "capitals": ("Walk", "Walk"),
    "device": ("con", "con"),
    "dash-and-time": ("2025-10-09T08-53-20-123Z_a", "2025-10-09T08-53-20-123Z_a"),
    "longest": ("x" * 200, "x" * 200),
    "longest-letters": ("ü" * 33, "%C3%BC" * 33),
}


@case("S-JSONL-FMT-14")
@rows("id", IDS)
async def a_file_ends_with_its_encoded_id(store: SessionMaker, id: tuple[str, str]) -> None:
    """The id stands in a file's name percent-encoded, byte by byte of its UTF-8, in upper case, but for the letters,
    digits and nine signs of 22.4: created, forked and opened by another repository object.

    If this fails, look at: another set of safe characters; lower-case hexadecimal; an id that is encoded twice, or
    normalized; dots that are taken for a path.
    """
    name, encoded = id
    source = await store.linear_session(1, id="source")
    fork = await source.fork(TreeFork(id=name))
    place, names = _in_directory(fork)
    await fork.close()
    await store.repo.delete(fork.metadata)
    created = await store.create(name)
    for subject in (fork, created):
        expect_equal(store.path_of(subject).name[24:], f"_{encoded}.jsonl", of="the name of the file, behind its time")
    expect_equal(_in_directory(created)[0], place, of="the directory of the created session")
    expect_equal(len(names), 2, of="the files in the directory of source and fork")
    await created.append("main", "früh")
    await created.check_everywhere()


CWDS = {
    "root": ("/", "----"),
    "plain": ("/srv", "--srv--"),
    "deep": ("/srv/a/b c/d", "--srv-a-b c-d--"),
    "dashes": ("/srv/--a--/-", "--srv---a------"),
    "backslash": ("/srv/a\\b", "--srv-a-b--"),
    "colon": ("/srv/a:b", "--srv-a-b--"),
    "dots": ("/srv/.a/..b/c.", "--srv-.a-..b-c.--"),
    "percent": ("/srv/a%2Fb", "--srv-a%2Fb--"),
    "letters": ("/srv/gärten/水 🌱", "--srv-gärten-水 🌱--"),
    "letters-in-parts": ("/srv/ga\u0308rten", "--srv-ga\u0308rten--"),
    "capitals": ("/SRV", "--SRV--"),
    "separator-of-lines": ("/srv/a\u2028b\n", "--srv-a\u2028b\n--"),
}


@case("S-JSONL-FMT-14")
@rows("cwd", CWDS)
async def a_directory_is_named_for_the_cwd(store: SessionMaker, cwd: tuple[str, str]) -> None:
    """The directory of a session is its absolute cwd between two dashes each: one leading separator is dropped, every
    other `/`, `\\` and `:` becomes a dash, and nothing else changes. A fork lies in the same directory.

    If this fails, look at: two leading separators dropped; dashes that are escaped or merged; letters that are encoded
    or normalized.
    """
    path, name = cwd
    subject = await store.create("walk", cwd=path)
    fork = await subject.fork(TreeFork(id="fork"))
    for one in (subject, fork):
        place, names = _in_directory(one)
        expected = sorted(file_name(each.metadata.created_at, each.id) for each in (subject, fork))
        expect_equal((place, names), (name, expected), of="the directory and the files in it")
        expect_equal(one.metadata.cwd, path, of="the cwd in the metadata")
    listed = await store.repo.list(cwd=path)
    expect_equal(sorted(metadata.id for metadata in listed), ["fork", "walk"], of="the ids that are listed for the cwd")


FOREIGN_CWDS = {
    "drive": ("C:\\srv\\garden", "--C--srv-garden--"),
    "drive-and-slashes": ("C:/srv/garden", "--C--srv-garden--"),
    "drive-alone": ("D:", "--D---"),
    "leading-backslash": ("\\srv\\garden", "--srv-garden--"),
    "two-leading": ("\\\\host\\share", "---host-share--"),
    "relative": ("srv", "--srv--"),
}


@case("S-JSONL-FMT-14")
@rows("cwd", FOREIGN_CWDS)
async def directories_of_other_systems_have_their_names(store: SessionMaker, cwd: tuple[str, str]) -> None:
    """A session whose header holds a cwd of another system is found, opened and forked in the directory that 22.4 gives
    for this cwd, as it stands.

    If this fails, look at: the separators of this system only; a stored cwd made absolute before it names a directory.
    """
    path, name = cwd
    expect_equal(directory_name(path), name, of="the directory, as the kit names it")
    file = await store.plant(small_file(id="far", cwd=path), id="far", cwd=path)
    metadata = await store.planted_metadata(file)
    session = await store.repo.open(metadata)
    fork = await store.repo.fork(metadata, TreeFork(id="fork"))
    expected = session_path(store.root.resolve(), path, fork.metadata.created_at, "fork")
    expect_equal(fork.metadata.path, str(expected), of="the path of the fork")
    listed = {one.id: one.cwd for one in await store.list()}
    expect_equal(listed, {"far": path, "fork": path}, of="the cwds of the sessions that are listed")
    await session.close()


@case("S-JSONL-FMT-14", needs=CLOCK)
@rows("options", FORKS)
async def a_shared_directory_keeps_its_sessions_apart(store: SessionMaker, options: ForkOptions) -> None:
    """Sessions of several cwds that share one directory lie side by side, each is listed for its own cwd, and a fork
    has the cwd of its source.

    If this fails, look at: the cwd taken from the directory's name; a fork into the first cwd that is found.
    """
    cwds = ("/srv/a-b", "/srv/a/b", "/srv-a/b", "/srv/a:b", "/srv/a\\b")
    subjects = []
    for number, cwd in enumerate(cwds):
        store.clock.advance(1)
        subjects.append(await store.create(f"walk-{number}", cwd=cwd))
        await subjects[-1].configure("main")
        await subjects[-1].append("main", cwd)
    expect_equal({_in_directory(subject)[0] for subject in subjects}, {"--srv-a-b--"}, of="the directories")
    fork = await subjects[3].fork(options)
    expect_equal(fork.metadata.cwd, "/srv/a:b", of="the cwd of the fork")
    expect_equal(len(_in_directory(fork)[1]), len(cwds) + 1, of="the number of files in the directory")
    for subject, cwd in zip(subjects, cwds, strict=True):
        listed = sorted(metadata.id for metadata in await store.repo.list(cwd=cwd))
        expected = sorted([subject.id, "fork"] if cwd == "/srv/a:b" else [subject.id])
        expect_equal(listed, expected, of=f"the ids that are listed for {cwd!r}")
    await store.check_each(*subjects, fork)
