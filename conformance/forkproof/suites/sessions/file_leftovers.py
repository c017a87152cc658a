"""What failed and cancelled calls leave of files, databases and directories: nothing (S-FORK-FAIL-02,
S-FORK-FAIL-08).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.byteguard import Tree, tree
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.fault_scenes import Meanwhile
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import BRANCH, NEW, TREE, Attempt, Creates, Forks, Makes, Opens
from forkproof.suites.sessions.file_attempts import MAKING
from forkproof.suites.sessions.standing import StandsAsBefore, expect_free
from forkproof.suites.sessions.sweeping import share_of
from forkstore.contract.forks import ForkOptions

Make = Callable[[], Attempt]

FAULTS: dict[str, Fault] = {
    "torn": Short(),
    "behind": FailAfter(),
    "full": NoSpace(),
    "cancelled": Cancel("after"),
}


CALLS: dict[str, Make] = {
    "create": Creates,
    "open": Opens,
    "branch-fork-of-open": lambda: Forks(BRANCH, closed=False),
    "tree-fork-of-closed": lambda: Forks(TREE, closed=True),
}
OF_FILES = {name: make for name, make in MAKING.items() if name not in CALLS}
SHARES = 3
"""Of a database's operations a row strikes one in so many times the number of faults."""


async def _expect_as_it_was(store: SessionMaker, make: Make, fault: Fault) -> None:
    check = StandsAsBefore(store, await make().arrange(store))
    await check.ready()
    part = share_of(store, fault, FAULTS, by=SHARES)
    struck = await swept(check.attempt.call, store.faults, fault, check, **part)
    expect(struck or fault.names, "expected: a call that works on files or a database\nseen:     no operation")
    await check.attempt.accept("what a call gave that nothing struck")


@case("S-FORK-FAIL-02")
@rows("make", CALLS)
@rows("fault", FAULTS)
async def a_failed_call_leaves_everything_as_it_was(store: SessionMaker, make: Make, fault: Fault) -> None:
    """A create, open or fork that fails, finds no room, or is cancelled at any operation on a file or database leaves
    the tree of files and directories as it was: nothing new, nothing gone, not a byte or row changed.

    If this fails, look at: a directory that was made for the session; a temporary file or stage whose name is not
    remembered when its making failed halfway; cleanup for errors and not for cancellation; a destination that was
    published before the call failed; side files of a database that is gone.
    """
    await _expect_as_it_was(store, make, fault)


@case("S-FORK-FAIL-02", kinds=("jsonl",))
@rows("make", OF_FILES)
@rows("fault", FAULTS)
async def a_failed_call_leaves_the_file_tree_as_it_was(store: SessionMaker, make: Make, fault: Fault) -> None:
    """The same for what a store on files has to do besides: working directories that are to be made, torn tails and
    legacy files. A repair that was completed stays.

    If this fails, look at: a directory that was made for the session; a temporary file whose name is not remembered
    when its making failed halfway; a repair that is put back.
    """
    await _expect_as_it_was(store, make, fault)


@case("S-FORK-FAIL-02")
@rows("fault", FAULTS)
async def a_failed_create_leaves_an_empty_place_empty(store: SessionMaker, fault: Fault) -> None:
    """The same for the first create of all, which has to make the root, the directory or the container too.

    If this fails, look at: the parents of the session directory, which are made and not taken away; a container without
    a session.
    """
    check = StandsAsBefore(store, await Creates().arrange(store))
    await check.ready()
    await swept(check.attempt.call, store.faults, fault, check, **share_of(store, fault, FAULTS))
    await check.attempt.accept("what the first create gave that nothing struck")


@case("S-FORK-FAIL-02", kinds=("jsonl",))
@rows("make", {name: MAKING[name] for name in ("create-elsewhere", "fork-from-elsewhere")})
@rows("then", failing=Fail(), cancelled=Cancel("before"))
async def what_somebody_else_put_there_stays(store: SessionMaker, make: Make, then: Fault) -> None:
    """When somebody puts a file into a directory that a create or fork has made, and the call fails then, the directory
    stays with that file in it, and nothing else.

    If this fails, look at: a directory that is removed with all that is in it; a directory that cannot be removed and
    takes the place of the first error.
    """
    attempt = await make().arrange(store)
    somebodys: list[Path] = []
    before: Tree

    async def comes(_: Hit) -> None:
        made = [path for path in store.root.rglob("--*--") if str(path.relative_to(store.root)) not in before.files]
        for directory in made:
            somebodys.append(directory / "mine.txt")
            somebodys[-1].write_bytes(b"mine")

    async def only_that_stays(_: int, hit: Hit, outcome: Stepped) -> None:
        nonlocal before
        if outcome.kind == "returned":
            await attempt.accept(f"what a call gave that returned in spite of {hit}")
        for path in somebodys:
            expect(path.is_file(), f"what somebody else has put there, {hit}\nexpected: {path}\nseen:     it is gone")
            expect_equal([one.name for one in path.parent.iterdir()], ["mine.txt"], of=f"what is left, {hit}")
            path.unlink()
            path.parent.rmdir()
        if somebodys and not before.files:
            store.root.rmdir()
        stood.extend(somebodys)
        somebodys.clear()
        before.check(f"the rest of the file tree, {hit}")
        await attempt.ready()
        before = tree(store.root)

    stood: list[Path] = []
    await attempt.ready()
    before = tree(store.root)
    await swept(attempt.call, store.faults, Meanwhile(comes, then), only_that_stays)
    expect(stood, "expected: a directory that is made before the session is\nseen:     none")


@dataclass(frozen=True)
class Step:
    """A step of a fork: the file calls that belong to it, and how many of them there are at least."""

    names: frozenset[str]
    paths: str = "*"
    least: int = 1
    further: int = 0
    """So many entries more are in the source, so that the step occurs in every store that writes in batches."""


STEPS: dict[str, Step] = {
    "reading": Step(frozenset({"read_line"}), "*_source.jsonl", least=2),
    "opening-the-source-twice": Step(frozenset({"open_line_reader"}), "*_source.jsonl", least=2),
    "staging": Step(frozenset({"write_file", "append_file"})),
    "writing": Step(frozenset({"append_file"}), further=1_200),
    "renaming": Step(frozenset({"publish_file"})),
    "file-information": Step(frozenset({"file_info"}), least=0),
    "opening-the-destination": Step(frozenset({"open_line_reader", "read_line"}), f"*_{NEW}.jsonl", least=0),
}
"""The steps that S-FORK-FAIL-08 names; a store can do without the last two."""


@case("S-FORK-FAIL-08", kinds=("jsonl",))
@rows("step", STEPS)
@rows("fork", branch_of_open_torn=(BRANCH, False, Short()), tree_of_closed_behind=(TREE, True, FailAfter()))
async def a_failing_step_is_followed_by_full_cleanup(
    store: SessionMaker, step: Step, fork: tuple[ForkOptions, bool, Fault]
) -> None:
    """Each failing step of a fork (reading, opening the source, the second time too, staging, writing, renaming, file
    information, opening the destination) is followed by full cleanup: the file tree is as before, the id is free for
    `create` and for `fork`, and the source is as it was.

    If this fails, look at: the second scan begun outside the part that cleans up; the destination opened after the
    temporary file is forgotten; a reader that stays open.
    """
    options, closed, fault = fork
    attempt: Makes = Forks(options, closed=closed, further=step.further)
    check = StandsAsBefore(store, await attempt.arrange(store))
    await check.ready()

    async def is_cleaned_up(n: int, hit: Hit, outcome: Stepped) -> None:
        await check(n, hit, outcome)
        await expect_free(store, attempt, f"after a fork that was struck at {hit}")

    struck = await swept(attempt.call, store.faults, fault, is_cleaned_up, names=step.names, paths=step.paths)
    expect(struck >= step.least, f"expected: at least {step.least} file calls of that step\nseen:     {struck}")
    await attempt.accept("what a fork gave that nothing struck")
