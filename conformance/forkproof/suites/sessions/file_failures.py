"""Operations on files and databases that fail or are cancelled, one after the other, under every call of a store
(section 2.6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, Short
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import (
    BRANCH,
    LARGE,
    TREE,
    Appends,
    Attempt,
    Closes,
    Commits,
    Creates,
    Deletes,
    Forks,
    Lists,
    Opens,
    Reads,
)
from forkproof.suites.sessions.file_attempts import ForksLegacy, ForksTorn, OpensLegacy, OpensTorn, Upgrades
from forkproof.suites.sessions.sweeping import share
from forkstore.contract.errors import (
    SessionExists,
    SessionFileChanged,
    SessionNotFound,
    SessionStoreError,
    StoreIOError,
)
from forkstore.contract.files import FileError, FileErrorCode

Make = Callable[[], Attempt]

CODES: tuple[FileErrorCode, ...] = get_args(FileErrorCode)
ANSWERS = frozenset({"not_found", "not_directory", "is_directory", "exists"})
"""Codes that tell what stands at a path: a store may take them for an answer, and act upon it."""
OF_ANSWERS: dict[str, tuple[type[SessionStoreError], ...]] = {
    "not_found": (SessionNotFound, SessionFileChanged),
    "not_directory": (SessionNotFound, SessionFileChanged),
    "is_directory": (SessionNotFound, SessionFileChanged),
    "exists": (SessionExists,),
}
FAULTS: dict[str, Sequence[Fault]] = {
    "answers": [Fail(code) for code in CODES if code in ANSWERS],
    "refusals": [Fail(code) for code in CODES if code not in ANSWERS],
    "halfway": [FailAfter(), Short()],
}
ABOUT_ONE_PLACE = frozenset({"not_found", "permission_denied", "not_directory", "is_directory", "invalid"})
"""Codes that make a file, or a session directory, one that a listing cannot recognise (S-REPO-13)."""

NEED_NO_FILE = (Closes, Reads)
"""What a store can do without any such operation."""
SHARES = 9
"""Of a database's operations a row strikes one in so many."""
PLAIN: dict[str, Make] = {
    "create": Creates,
    "create-elsewhere": lambda: Creates(elsewhere=True),
    "open": Opens,
    "delete": Deletes,
    "branch-fork-of-open": lambda: Forks(BRANCH, closed=False),
    "tree-fork-of-closed": lambda: Forks(TREE, closed=True),
    "commit": Commits,
    "large-commit": lambda: Commits(LARGE),
    "append-message": Appends,
    "reads": Reads,
    "close": Closes,
}
OF_FILES: dict[str, Make] = {
    "open-torn": OpensTorn,
    "open-legacy": OpensLegacy,
    "fork-of-torn": lambda: ForksTorn(TREE),
    "fork-of-legacy": lambda: ForksLegacy(BRANCH),
    "upgrade": Upgrades,
}


def _expect_told(hit: Hit, outcome: Stepped) -> None:
    """Breaks the clause unless a call that did not return has raised a class of 2.6 from the failure."""
    error, code = outcome.error, hit.code or ""
    seen = f"{outcome.kind}: {type(error).__name__}: {error}"
    expect(isinstance(error, SessionStoreError), f"{hit}: {code}\nexpected: a class of section 2.6\nseen:     {seen}")
    expected: tuple[type[SessionStoreError], ...] = (StoreIOError, *OF_ANSWERS.get(code, ()))
    names = " or ".join(kind.__name__ for kind in expected)
    expect(isinstance(error, expected), f"{hit}: {code}\nexpected: {names}\nseen:     {seen}")
    cause = error.__cause__ if error is not None else None
    followed = code in ANSWERS and isinstance(cause, FileError)
    told = f"{hit}: {code}\nexpected: {type(error).__name__} from {hit.error!r}\nseen:     from {cause!r}"
    expect(hit.is_told_by(cause) or followed, told)
    if isinstance(error, StoreIOError):
        if isinstance(cause, FileError):
            expect_equal(error.code, cause.code, of=f"the code that the error carries ({hit})")
        texts = [bool(text) and isinstance(text, str) for text in (error.operation, error.path)]
        expect_equal(texts, [True, True], of=f"whether the error carries operation and path ({hit})")


async def _fail_everywhere(store: SessionMaker, attempt: Attempt, faults: Sequence[Fault]) -> None:
    """Lets the faults strike every file operation of the call, one at a time. What returns all the same must have done
    its work.
    """
    await attempt.arrange(store)
    struck = 0

    async def is_told(_: int, hit: Hit, outcome: Stepped) -> None:
        if outcome.kind == "returned":
            await attempt.accept(f"what a call gave that returned in spite of {hit}")
        else:
            _expect_told(hit, outcome)
        await attempt.ready()

    for number, fault in enumerate(faults):
        await attempt.ready()
        part = share(store, number, len(faults) * SHARES)
        struck += await swept(attempt.call, store.faults, fault, is_told, **part)
        await attempt.accept("what the call gives that no fault struck")
    expect(struck or isinstance(attempt, NEED_NO_FILE), "expected: operations that can fail\nseen:     none")


@case("S-ERR-02", needs=("fault-injection",))
async def a_failing_list_reaches_the_caller(store: SessionMaker) -> None:
    """A `list` one of whose operations fails raises a class of section 2.6 from that failure, or leaves out the one
    file, or the files of the one session directory, that it could not read; a root that cannot be read is no empty
    store.

    If this fails, look at: every failure of a listing taken for an unknown file; a root that fails and gives nothing.
    """
    attempt = Lists()
    await attempt.arrange(store)
    paths = {metadata.id: getattr(metadata, "path", None) for metadata in await store.list()}

    async def is_told(_: int, hit: Hit, outcome: Stepped) -> None:
        if outcome.kind != "returned":
            _expect_told(hit, outcome)
            return
        missing = {"a", "b", "c"} - {metadata.id for metadata in outcome.value}
        struck = {id for id, path in paths.items() if path is not None and _is_place_of(hit.path, path)}
        code = hit.code or ""
        nothing_there = hit.name == "list_dir" and code in ("not_found", "not_directory")
        allowed = missing <= struck and code in ABOUT_ONE_PLACE
        told = (
            f"list, {hit}: {code}\nexpected: the failure, or all but those there\nseen:     without {sorted(missing)}"
        )
        expect(not missing or allowed or nothing_there, told)

    for number, code in enumerate(CODES):
        part = share(store, number, len(CODES))
        struck = await swept(attempt.call, store.faults, Fail(code), is_told, **part)
        expect(struck, "expected: operations that can fail\nseen:     none")
        await attempt.accept("the list that no fault struck")


@case("S-ERR-02", needs=("fault-injection",))
@rows("make", PLAIN)
@rows("faults", FAULTS)
async def a_failing_operation_reaches_the_caller(store: SessionMaker, make: Make, faults: Sequence[Fault]) -> None:
    """Whichever operation on a file or database fails, with whichever code, before its work, behind it or in the middle
    of it: the caller of the store gets a class of section 2.6 with that failure as its cause, or a result that is right
    all the same.

    If this fails, look at: a call outside the part that translates errors, such as the closing of a reader or the look
    at a file; `raise … from None`; a code that is taken for another; a failed append that is taken for done.
    """
    await _fail_everywhere(store, make(), faults)


@case("S-ERR-02", needs=("fault-injection", "raw-files"), kinds=("jsonl",))
@rows("make", OF_FILES)
@rows("faults", FAULTS)
async def a_failing_operation_reaches_the_caller_of_a_repair(
    store: SessionMaker, make: Make, faults: Sequence[Fault]
) -> None:
    """The same for the calls that repair a torn tail, read a legacy v3 file, or upgrade one.

    If this fails, look at: file calls of the repair or of the legacy reader outside the part that translates errors; a
    scan that is begun a second time by other code than the first.
    """
    await _fail_everywhere(store, make(), faults)


def _is_place_of(struck: str, path: str) -> bool:
    """Whether what was struck is a session's file, or a side file of it, or the directory that it is in."""
    place = Path(path).resolve()
    return Path(struck.removesuffix("-wal").removesuffix("-journal")).resolve() in (place, place.parent)


@case("S-ERR-03", needs=("fault-injection",))
@rows("make", {**PLAIN, "list": Lists})
@rows("fault", before=Cancel("before"), after=Cancel("after"))
async def a_call_cancelled_in_an_operation_is_cancelled(store: SessionMaker, make: Make, fault: Cancel) -> None:
    """A call that is cancelled inside any operation on a file or database, before or after the work of that was done,
    raises `CancelledError`.

    If this fails, look at: `except BaseException` around the operation; a cancellation that a task of the store's own
    swallows; a call that goes on and returns.
    """
    attempt = await make().arrange(store)
    await attempt.ready()

    async def is_cancelled(_: int, hit: Hit, outcome: Stepped) -> None:
        seen = f"{outcome.kind} {outcome.error!r}"
        expect(outcome.kind == "cancelled", f"cancelled in {hit}\nexpected: CancelledError\nseen:     {seen}")
        await attempt.ready()

    part = share(store, int(fault.when == "after"), 2 * SHARES)
    struck = await swept(attempt.call, store.faults, fault, is_cancelled, **part)
    expect(struck or isinstance(attempt, NEED_NO_FILE), "expected: operations that can be cancelled\nseen:     none")
