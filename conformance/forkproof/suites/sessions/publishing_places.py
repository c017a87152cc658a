"""A publisher that finds its place taken (S-JSONL-PUB-05): whoever put a file there, and whenever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.fault_kinds import Hit
from forkproof.instruments.fault_scenes import Meanwhile, Slow
from forkproof.instruments.file_picture import FilePicture, picture
from forkproof.instruments.racing import ended, raced, words
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_names import file_name
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.attempts import BRANCH, NEW, TREE, Creates, Forks, Makes
from forkstore.contract.errors import SessionExists
from forkstore.contract.forks import ForkOptions

Contents = Callable[[str], bytes]

SOMEBODYS: dict[str, Contents] = {
    "a-session": lambda cwd: small_file(id=NEW, cwd=cwd),
    "another-session": lambda cwd: small_file(id="another", cwd="/srv/elsewhere"),
    "something": lambda cwd: b"not a session\n",
    "nothing": lambda cwd: b"",
}
"""What somebody else puts there."""
MEETINGS: dict[str, tuple[Callable[[], Makes], Contents]] = {
    **{f"create-{name}": (Creates, contents) for name, contents in SOMEBODYS.items()},
    "branch-fork-a-session": (lambda: Forks(BRANCH, closed=False), SOMEBODYS["a-session"]),
    "tree-fork-another-session": (lambda: Forks(TREE, closed=True), SOMEBODYS["another-session"]),
}
"""Who makes a session, and what appears in its place."""


class _Somebody:
    """Puts a file at the place of the session `new`, unless one is there."""

    def __init__(self, store: SessionMaker, contents: Contents) -> None:
        self._store = store
        self._name = file_name(store.clock.at, NEW)
        self._contents = contents(store.raw.cwd)
        self.path = store.raw.directory() / self._name
        self._was: FilePicture | None = None

    @property
    def is_there(self) -> bool:
        """Whether the file was put there."""
        return self._was is not None

    async def comes(self, *_: Hit) -> None:
        """Puts it there."""
        if not self.path.exists():
            self._store.raw.plant(self._contents, id=NEW, name=self._name)
            self._was = picture(self.path)

    def check(self, of: str) -> None:
        """Breaks the clause unless it stands there as it was put."""
        expect_unchanged(self._was or picture(self.path), of)

    def goes(self) -> None:
        """Takes it away again."""
        self._store.raw.remove(self.path)
        self._was = None


def expect_unchanged(was: FilePicture, of: str) -> None:
    """Breaks the clause unless a file is as it was: bytes, inode and modification time."""
    differences = list(was.differences(picture(was.path)))
    expect(not differences, f"{of}: {was.path}\nexpected: as it was\nseen:     {'; '.join(differences)}")


@case("S-JSONL-PUB-05", needs=("fault-injection", "raw-files", "clock"))
@rows("meeting", MEETINGS)
async def publishing_never_replaces_a_file(store: SessionMaker, meeting: tuple[Callable[[], Makes], Contents]) -> None:
    """When a file appears at the destination during `create` or `fork`, before any of their file calls up to the
    publishing, the call raises `SessionExists`; that file stays as it is, nothing else is left, and once it is gone
    the id is free.

    If this fails, look at: a rename that replaces; a look whether the file is there, and then a rename; a cleanup that
    removes the destination whoever made it; an error of the file capability that is not translated.
    """
    make, contents = meeting
    attempt = await make().arrange(store)
    somebody = _Somebody(store, contents)
    stood = 0

    async def has_given_way(_: int, hit: Hit, outcome: Stepped) -> None:
        nonlocal stood
        if not somebody.is_there:
            await attempt.accept("a session that was published before anybody else came")
            return
        stood += 1
        with refused(SessionExists, session_id=NEW):
            if outcome.error is not None:
                raise outcome.error
        somebody.check(f"a file that appeared before {hit}")
        left = [path.name for path in store.root.rglob("*.tmp")]
        expect_equal(left, [], of=f"temporary files that are left, where a file appeared before {hit}")
        somebody.goes()
        await attempt.call()
        await attempt.accept("the session made once the place is free")

    await swept(attempt.call, store.faults, Meanwhile(somebody.comes), has_given_way)
    expect(stood, "expected: file calls before the session is published\nseen:     none")
    await attempt.accept("the session in whose way nobody stood")


@case("S-JSONL-PUB-05", needs=("probe", "raw-files", "clock"))
@rows("options", branch=BRANCH, tree=TREE)
@rows("contents", SOMEBODYS)
async def a_fork_never_replaces_a_file(store: SessionMaker, options: ForkOptions, contents: Contents) -> None:
    """When a file appears at the destination while a fork awaits `before_publish`, the fork raises `SessionExists` and
    the file stays as it is.

    If this fails, look at: a rename that replaces; a cleanup that removes the destination whoever made it.
    """
    source = await store.linear_session(2)
    somebody = _Somebody(store, contents)
    store.probe.run("before_publish", somebody.comes)
    with refused(SessionExists, session_id=NEW):
        await store.repo.fork(source.metadata, options)
    somebody.check("a file that appeared before the publishing")
    somebody.goes()
    fork = await source.fork(options)
    await fork.check_everywhere()


@case("S-JSONL-PUB-05", needs=("raw-files", "clock"))
async def sessions_of_two_working_directories_never_share_a_file(store: SessionMaker) -> None:
    """Two working directories whose sessions are kept in one directory: a session that would get the name of a file
    that stands there, made in the same millisecond with the same id, is refused with `SessionExists`, and the other
    keeps its bytes.

    If this fails, look at: a rename that replaces; an id that counts as free because the file is of another working
    directory.
    """
    first = await store.create(NEW, cwd="/srv/garden")
    was = picture(store.path_of(first))
    with refused(SessionExists, session_id=NEW):
        await store.repo.create(id=NEW, cwd="/srv-garden")
    expect_unchanged(was, "the file of the first session")
    await first.append("main", "as before")
    await first.check_everywhere()


@case("S-JSONL-PUB-05", needs=("fault-injection", "raw-files", "clock"))
async def of_two_repositories_one_publishes_a_name(store: SessionMaker) -> None:
    """Two repository objects on one root, which know nothing of each other, create one id in one millisecond: one of
    them succeeds and the other raises `SessionExists`, and what is there is the session of the first.

    If this fails, look at: a rename that replaces; a cleanup of the loser that removes the file of the winner.
    """
    repos: list[Any] = [store.repo, await store.open_second_repo()]
    store.faults.arm(Slow())
    creates = [repo.create(id=NEW, parent_session_id=f"{n}", cwd=store.raw.cwd) for n, repo in enumerate(repos)]
    endings = await raced(*creates)
    store.faults.disarm()
    expect_equal(sorted(words(endings)), ["SessionExists", "returned"], of="how two creates ended")
    winner = next(ending.value for ending in endings if ending.error is None)
    subject = store.subject(winner, SessionModel(parent_session_id=winner.metadata.parent_session_id))
    await subject.append("main", "the winner writes")
    expect_equal(len(list(store.root.rglob("*"))), 2, of="the directory and the file")
    await subject.close()
    opened = await ended(store.repo.open(winner.metadata))
    expect_equal(opened.word, "returned", of="opening the session of the winner")
    subject.session = opened.value
    await subject.check("the session of the winner, opened again")
