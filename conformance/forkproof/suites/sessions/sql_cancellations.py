"""What a cancelled call leaves in the directory of the databases, and in a container: nothing (S-FORK-FAIL-02). The
suites of faults ask the same of calls that fail.
"""

from __future__ import annotations

from collections.abc import Callable

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.byteguard import tree
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import BRANCH, TREE, Creates, Forks, Makes, Opens

SQLITE = frozenset({"sqlite"})


@case("S-FORK-FAIL-02", needs=("raw-files",), kinds=SQLITE)
@rows("make", create=Creates, branch=lambda: Forks(BRANCH, closed=False), tree=lambda: Forks(TREE, closed=True))
async def a_cancelled_call_leaves_the_databases_as_they_were(store: SessionMaker, make: Callable[[], Makes]) -> None:
    """A `create` or `fork` that is cancelled at any of its suspensions leaves the directory of the databases as it was:
    no database, row, stage, draft or side file that is new, and every row of the other sessions.

    If this fails, look at: a stage that is removed by a step which the cancellation skips; a row that is published
    after the call was cancelled; a connection that is closed later than the call ends.
    """
    attempt = await make().arrange(store)
    beside = await store.linear_session(2, id="beside")
    await beside.close()
    directory, path = store.databases.directory, store.path_of(beside)
    before, stood = store.databases.picture(path), set(tree(directory).files)

    async def nothing_is_new(k: int, outcome: Stepped) -> None:
        if outcome.kind == "returned":
            attempt.value = outcome.value
            await attempt.accept(f"what a call gave that was cancelled at its suspension {k}")
        expect_equal(store.databases.picture(path), before, of=f"all rows, after a cancellation at suspension {k}")
        expect_equal(set(tree(directory).files), stood, of=f"all files, after a cancellation at suspension {k}")

    struck = await cancelled_at_every_suspension(attempt.call, nothing_is_new)
    expect(struck, "expected: a call that suspends\nseen:     none of its steps can be cancelled")
    await attempt.accept("what a call gave that nobody cancelled")


@case("S-FORK-FAIL-02", needs=("raw-files",), kinds=SQLITE)
async def a_cancelled_open_leaves_the_databases_as_they_were(store: SessionMaker) -> None:
    """An `open` that is cancelled at any of its suspensions leaves no file of its own, and the session is as it was.

    If this fails, look at: a connection that is not closed when the call is cancelled.
    """
    attempt = Opens()
    await attempt.arrange(store)
    before = tree(store.databases.directory)

    async def nothing_is_new(k: int, outcome: Stepped) -> None:
        if outcome.kind == "returned":
            attempt.value = outcome.value
            await attempt.accept(f"what an open gave that was cancelled at its suspension {k}")
        before.check(f"the directory, after an open that was cancelled at its suspension {k}")

    await cancelled_at_every_suspension(attempt.call, nothing_is_new)
    await attempt.accept("what an open gave that nobody cancelled")
