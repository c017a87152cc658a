"""The options of a fork: two kinds, no defaults that choose for the caller, checked before all else (section 13)."""

from __future__ import annotations

import asyncio
import dataclasses
from types import SimpleNamespace
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.racing import raced, words
from forkproof.makers import SessionMaker
from forkproof.makers.records import idle_lane_state, lane_configuration
from forkstore.contract.addresses import branch_tip, lane_config, lane_state
from forkstore.contract.errors import InvalidForkOptions, InvalidSessionId, UnknownBranch
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import ValueSet

NO_OPTIONS: dict[str, Any] = {
    "none": None,
    "branch-wire": {"scope": "branch", "branch": "main", "position": "at", "id": "fork"},
    "tree-wire": {"scope": "tree", "id": "fork"},
    "empty-dict": {},
    "name": "main",
    "word": "tree",
    "tuple": ("main", None, "at", "fork"),
    "list": [],
    "number": 0,
    "true": True,
    "class": BranchFork,
    "lookalike": SimpleNamespace(branch="main", entry_id=None, position="at", id="fork"),
    "tree-lookalike": SimpleNamespace(id="fork"),
}

MALFORMED: dict[str, tuple[str, Any]] = {
    "branch-none": ("branch", BranchFork(None, id="fork")),  # type: ignore[arg-type]
    "branch-number": ("branch", BranchFork(1, id="fork")),  # type: ignore[arg-type]
    "branch-bytes": ("branch", BranchFork(b"main", id="fork")),  # type: ignore[arg-type]
    "branch-list": ("branch", BranchFork(["main"], id="fork")),  # type: ignore[arg-type]
    "entry-number": ("entry_id", BranchFork("main", 1, id="fork")),  # type: ignore[arg-type]
    "entry-false": ("entry_id", BranchFork("main", False, id="fork")),  # type: ignore[arg-type]
    "entry-bytes": ("entry_id", BranchFork("main", b"e1", id="fork")),  # type: ignore[arg-type]
    "entry-list": ("entry_id", BranchFork("main", ["e1"], id="fork")),  # type: ignore[arg-type]
    "position-upper": ("position", BranchFork("main", position="AT", id="fork")),  # type: ignore[arg-type]
    "position-after": ("position", BranchFork("main", position="after", id="fork")),  # type: ignore[arg-type]
    "position-empty": ("position", BranchFork("main", position="", id="fork")),  # type: ignore[arg-type]
    "position-none": ("position", BranchFork("main", position=None, id="fork")),  # type: ignore[arg-type]
    "position-true": ("position", BranchFork("main", position=True, id="fork")),  # type: ignore[arg-type]
    "position-list": ("position", BranchFork("main", position=["at"], id="fork")),  # type: ignore[arg-type]
}
"""Options with one malformed field, and the field that the refusal has to name."""

MALFORMED_IDS: dict[str, Any] = {"number": 1, "zero": 0, "false": False, "bytes": b"fork", "list": ["fork"]}


@case("S-FORK-OPT-01")
@rows("options", NO_OPTIONS)
async def anything_but_fork_options_is_refused(store: SessionMaker, options: Any) -> None:
    """Options that are neither a `BranchFork` nor a `TreeFork`, None and the wire form included, raise
    `InvalidForkOptions`, and nothing is made.

    If this fails, look at: attributes read without a look at the class; a wire form taken by the repository itself; a
    scope chosen where none was given.
    """
    source = await store.linear_session()
    with refused(InvalidForkOptions):
        await store.repo.fork(source.metadata, options)
    await store.assert_only_known_sessions(source)
    await source.check()


@case("S-FORK-OPT-01")
@rows("options", branch=BranchFork("main"), tree=TreeFork())
async def both_kinds_of_options_are_taken(store: SessionMaker, options: Any) -> None:
    """A `BranchFork` and a `TreeFork` are options, with nothing given but what they need.

    If this fails, look at: an option that is required though it has a default.
    """
    source = await store.bushy_session()
    fork = await source.fork(options)
    await store.assert_only_known_sessions(source, fork)
    await store.check_each(fork, source)


@case("S-FORK-OPT-02")
async def nothing_chooses_for_the_caller(store: SessionMaker) -> None:
    """A fork cannot be called without options, nor with options spread over keywords, and a `BranchFork` cannot be
    built without a branch. The options have the fields of section 13, and no others.

    If this fails, look at: a default scope; a default branch named main; keyword options beside the two classes.
    """
    source = await store.linear_session()
    fork: Any = store.repo.fork
    with refused(TypeError):
        await fork(source.metadata)
    for keywords in ({"id": "fork"}, {"branch": "main"}, {"entry_id": "e1"}, {"position": "at"}, {"scope": "tree"}):
        with refused(TypeError):
            await fork(source.metadata, **keywords)
        with refused(TypeError):
            await fork(source.metadata, TreeFork(id="fork"), **keywords)
    branch_fork: Any = BranchFork
    tree_fork: Any = TreeFork
    for build in (branch_fork, lambda: branch_fork(id="fork"), lambda: tree_fork(branch="main")):
        with refused(TypeError):
            build()
    built = [dataclasses.asdict(options) for options in (BranchFork("b"), TreeFork())]
    expected = [{"branch": "b", "entry_id": None, "position": "at", "id": None}, {"id": None}]
    expect_equal(built, expected, of="the fields of the options")
    await store.assert_only_known_sessions(source)


@case("S-FORK-OPT-03")
@rows("malformed", MALFORMED)
async def a_malformed_option_is_refused(store: SessionMaker, malformed: tuple[str, Any]) -> None:
    """A branch that is not a string, an entry id that is neither a string nor None, and a position other than `at` and
    `before` raise `InvalidForkOptions`, which names the field; nothing is made.

    If this fails, look at: a falsy value taken for None; an unknown position taken for `at`; a value that cannot be
    hashed.
    """
    field, options = malformed
    source = await store.linear_session()
    with refused(InvalidForkOptions, field=field):
        await store.repo.fork(source.metadata, options)
    await store.assert_only_known_sessions(source, await store.create("fork"))


@case("S-FORK-OPT-03")
@rows("id", MALFORMED_IDS)
@rows("scope", branch="branch", tree="tree")
async def a_destination_id_that_is_no_string_is_refused(store: SessionMaker, scope: str, id: Any) -> None:
    """A destination id that is neither a string nor None raises `InvalidForkOptions`, or `InvalidSessionId`, which
    holds as well; nothing is made.

    If this fails, look at: a falsy id taken for no id; `str(id)`.
    """
    source = await store.linear_session()
    with refused(InvalidForkOptions, InvalidSessionId):
        await store.repo.fork(source.metadata, BranchFork("main", id=id) if scope == "branch" else TreeFork(id=id))
    await store.assert_only_known_sessions(source)


@case("S-FORK-OPT-04")
@rows("malformed", {name: MALFORMED[name] for name in ("branch-none", "entry-number", "position-after")})
async def options_are_checked_before_anything_is_read(store: SessionMaker, malformed: tuple[str, Any]) -> None:
    """Building malformed options raises nothing, and `fork` refuses them in its first step before it looks at anything:
    at a source that is gone, a destination that exists, a branch that does not.

    If this fails, look at: options checked after the source was found; options checked where they are used; a
    suspension before the check.
    """
    field, options = malformed
    source, gone = await store.linear_session(), await store.linear_session()
    await gone.close()
    await store.repo.delete(gone.metadata)
    taken = dataclasses.replace(options, id=source.id)
    for metadata, given in ((gone.metadata, options), (source.metadata, taken), (gone.metadata, taken)):
        with refused(InvalidForkOptions, field=field):
            await store.repo.fork(metadata, given)
    with refused(InvalidForkOptions, field="options"):
        await store.repo.fork(gone.metadata, None)  # type: ignore[arg-type]
    forking = asyncio.create_task(store.repo.fork(source.metadata, options))
    await asyncio.sleep(0)
    expect(forking.done(), "expected: malformed options are refused in the first step\nseen:     the fork still runs")
    with refused(InvalidForkOptions):
        await forking


@case("S-FORK-OPT-04")
@rows("options", {name: options for name, (_, options) in MALFORMED.items()})
async def malformed_options_reserve_nothing(store: SessionMaker, options: Any) -> None:
    """A fork with malformed options reserves nothing: a create of its destination id that is started right behind it
    succeeds.

    If this fails, look at: a reservation before the check of the options.
    """
    source = await store.linear_session()
    endings = await raced(
        store.repo.fork(source.metadata, options), store.repo.create(id="fork", **store.create_options)
    )
    expect_equal(words(endings), ["InvalidForkOptions", "returned"], of="the fork, and the create behind it")


@case("S-FORK-OPT-05")
@rows(
    "name",
    empty="",
    blank=" ",
    other_case="MAIN",
    blank_after="main ",
    prefix="mai",
    longer="main2",
    nul="main\x00",
    lone_surrogate="\ud800",
    entry_id="tip",
    namespace="pi.branch.tip",
    long="x" * 100_000,
)
async def a_name_without_a_tip_is_an_unknown_branch(store: SessionMaker, name: str) -> None:
    """The name of the branch is not checked by itself: any name without a tip row raises `UnknownBranch`, the empty
    name included.

    If this fails, look at: the check of `create_branch` reused; an empty name taken for none; an error of the encoder
    that passes through; names compared without case.
    """
    source = await store.bushy_session()
    for closed in (False, True):
        with refused(UnknownBranch, name=name):
            await store.repo.fork(source.metadata, BranchFork(name, id="fork"))
        if not closed:
            await source.close()
    await store.assert_only_known_sessions(source)


@case("S-FORK-OPT-05")
async def an_empty_name_with_a_tip_is_a_branch(store: SessionMaker) -> None:
    """A branch with the empty name, which only a commit can make, is forked like every other.

    If this fails, look at: an empty name taken for none; the check of `create_branch` reused.
    """
    source = await store.bushy_session()
    await source.commit(
        ValueSet(branch_tip(""), "trunk"),
        ValueSet(lane_config(""), lane_configuration()),
        ValueSet(lane_state(""), idle_lane_state()),
    )
    fork = await source.fork(BranchFork("", id="fork"))
    await store.check_each(fork, source)
