"""The closed classifier: what a fork does with one row, by namespace, kind and scope (section 16).

The cases judge by the table of `fork_fates`.
"""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import idle_lane_state, message_entry
from forkproof.suites.sessions.fork_fates import APPLICATIONS, DECLARED, FAILING, TABLE, Fate, named
from forkproof.suites.sessions.forking import OPEN, expect_refused, expect_sound, forked, in_both_scopes
from forkstore.contract.addresses import Kind, list_address, value_address
from forkstore.contract.errors import UndeclaredNamespace
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet, Write

KEYS = ("", "main", "other", "on-path", "beside", "unknown")
"""Keys of the rows: empty, the forked branch, another branch, an entry of the path, one beside it, and neither."""

SCOPES: dict[str, ForkOptions] = {"branch": BranchFork("main"), "tree": TreeFork()}


async def _source(store: SessionMaker) -> Subject:
    """A lane `main` over two entries, and one entry beside its path."""
    subject = await store.create()
    await subject.insert(message_entry("on-path", None), message_entry("beside", "on-path"))
    await subject.insert(message_entry("top", "on-path"))
    await subject.set_tip("main", "top")
    await subject.configure("main")
    return subject


def _writes(namespace: str, kind: Kind) -> list[Write]:
    """One row per key; the tip of `main` keeps its place."""
    keys = [key for key in KEYS if (namespace, key) != ("pi.branch.tip", "main")]
    if kind == "list":
        return [ListAppend(list_address(namespace, key), {"of": key}) for key in keys]
    return [ValueSet(value_address(namespace, key), {"of": key}) for key in keys]


def _kept(fate: Fate, scope: str, key: str) -> list[Any]:
    """What the fork holds at one key: a list of the one value, or nothing."""
    value: Any = "top" if (fate, key) == ("tip", "main") else {"of": key}
    if fate == "state":
        value = idle_lane_state()
    taken = {
        "copy": True,
        "copy with its entry": key == "on-path" or (scope == "tree" and key == "beside"),
        "drop": False,
        "application": scope == "tree",
    }.get(fate, scope == "tree" or key == "main")
    return [value] if taken else []


async def _held(subject: Subject, namespace: str, kind: Kind, key: str) -> list[Any]:
    if kind == "list":
        return [element.value for element in await subject.session.read_list(list_address(namespace, key))]
    row = await subject.session.get_value(value_address(namespace, key))
    return [] if row is None else [row.value]


@case("S-FORK-CLS-01", needs=())
@rows("kind", scalar="value", element="list")
@rows("namespace", named(TABLE))
async def every_row_has_its_fate(store: SessionMaker, namespace: str, kind: Kind) -> None:
    """Each row of the source is copied, changed, dropped or refused as the table of section 16 says: in both scopes,
    from an open and from a closed source, at every key.

    If this fails, look at: names compared by prefix or without case; the kind ignored; a key that should decide and
    does not, or the other way round; unknown names let through.
    """
    source = await _source(store)
    await source.commit(*_writes(namespace, kind))
    fate = TABLE[namespace][0 if kind == "value" else 1]
    for source_is in ("open", "closed"):
        for scope, options in SCOPES.items():
            await _expect_fate(source, options, fate, (namespace, kind), f"{scope} fork of the {source_is} source")
        await source.close()


async def _expect_fate(source: Subject, options: ForkOptions, fate: Fate, row: tuple[str, Kind], of: str) -> None:
    namespace, kind = row
    scope = "branch" if isinstance(options, BranchFork) else "tree"
    if fate == "fail":
        with refused(UndeclaredNamespace, namespace=namespace, kind=kind):
            await source.store.repo.fork(source.metadata, options)
        await source.store.assert_only_known_sessions(source)
        return
    fork = await forked(source, options, OPEN)
    seen = {key: await _held(fork, namespace, kind, key) for key in KEYS}
    expect_equal(seen, {key: _kept(fate, scope, key) for key in KEYS}, of=f"{kind} rows of {namespace!r}, {of}")
    await fork.close()


@case("S-FORK-CLS-02")
@rows("source_is", open="open", closed="closed")
@rows(
    "fork",
    tip=(BranchFork("main"), {"root": "start", "trunk": "second", "tip": "here"}),
    older=(BranchFork("main", entry_id="trunk"), {"root": "start", "trunk": "second"}),
    before=(BranchFork("main", position="before"), {"root": "start", "trunk": "second"}),
    before_the_root=(BranchFork("main", entry_id="root", position="before"), {}),
    other_branch=(BranchFork("left"), {"root": "start", "trunk": "second", "left-leaf": "left — links"}),
    other_root=(BranchFork("second"), {}),
    tree=(
        TreeFork(),
        {
            "root": "start",
            "tip": "here",
            "left-leaf": "left — links",
            "lost": "unreachable",
            "child-of-tip": "newer than the tip",
            "trunk": "second",
        },
    ),
)
async def labels_follow_their_entries(
    store: SessionMaker, fork: tuple[ForkOptions, dict[str, str]], source_is: str
) -> None:
    """A label is in the fork exactly when its entry is: on the path, beside it, unreachable; never when it names no
    entry or a usage row; the current text, and not a deleted one.

    If this fails, look at: labels copied by sequence; labels of the whole tree in a branch fork; labels without an
    entry copied in a tree fork; the first text of a label kept.
    """
    options, labels = fork
    source = await store.labelled_session()
    made = await forked(source, options, source_is)
    copied = await made.session.scan_values(value_address("pi.entry.label"))
    expect_equal({row.address.key: row.value for row in copied}, labels, of="the labels of the fork")
    await expect_sound(made, source)


@case("S-FORK-CLS-03", needs=())
@rows("source_is", open="open", closed="closed")
@in_both_scopes
async def unfinished_work_stays_with_the_source(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """Results, operation rows, pending entries, tool checkpoints and assistant frames are not in the fork; the source
    keeps them.

    If this fails, look at: only some of the namespaces dropped; frames copied because they are a list; work of the
    source removed by the fork.
    """
    source = await store.rich_session()
    work = [place for place in source.model.touched if place[0].startswith(("pi.op.", "pi.pending.", "pi.result"))]
    fork = await forked(source, options, source_is)
    for namespace, key in sorted(work):
        held = [await _held(fork, namespace, "value", key), await _held(fork, namespace, "list", key)]
        expect_equal(held, [[], []], of=f"scalar and list of the fork at {(namespace, key)!r}")
    await expect_sound(fork, source)


@case("S-FORK-CLS-04", "S-FORK-FAIL-01", needs=())
@rows("source_is", open="open", closed="closed")
@in_both_scopes
@rows("row", usual=("pi.unknown", "key", 1), null=("pi.unknown", "", None), key_of_the_lane=("pi", "main", "x"))
async def an_undeclared_scalar_fails_the_fork(
    store: SessionMaker, options: ForkOptions, row: tuple[str, str, Any], source_is: str
) -> None:
    """A current scalar in an undeclared namespace fails the fork in both scopes, whatever its key and value.

    If this fails, look at: null values skipped; branch scope that looks at its own rows only; rows dropped silently.
    """
    namespace, key, value = row
    source = await _source(store)
    await source.commit(ValueSet(value_address(namespace, key), value))
    refusal = {"namespace": namespace, "kind": "value"}
    await expect_refused(source, _with_id(options), source_is, UndeclaredNamespace, **refusal)


@case("S-FORK-CLS-05", "S-FORK-FAIL-01", needs=())
@rows("source_is", open="open", closed="closed")
@in_both_scopes
@rows("row", usual=("pi.unknown", "key", 1), null=("pi.unknown", "", None), key_of_the_lane=("pi", "main", "x"))
async def an_undeclared_element_fails_the_fork(
    store: SessionMaker, options: ForkOptions, row: tuple[str, str, Any], source_is: str
) -> None:
    """A surviving list element in an undeclared namespace fails the fork in both scopes, one that came after a delete
    of its list too.

    If this fails, look at: lists left out of the check; branch scope that never reads lists; rows dropped silently.
    """
    namespace, key, value = row
    source = await _source(store)
    address = list_address(namespace, key)
    await source.commit(ListAppend(address, "deleted"), ListDelete(address), ListAppend(address, value))
    refusal = {"namespace": namespace, "kind": "list"}
    await expect_refused(source, _with_id(options), source_is, UndeclaredNamespace, **refusal)


@case("S-FORK-CLS-06", "S-FORK-FAIL-01", needs=())
@rows("source_is", open="open", closed="closed")
@in_both_scopes
@rows("namespace", named(name for name, (_, element) in DECLARED.items() if element == "fail"))
async def a_list_in_a_namespace_of_scalars_fails_the_fork(
    store: SessionMaker, options: ForkOptions, namespace: str, source_is: str
) -> None:
    """A list in one of the six namespaces that hold scalars fails the fork like an undeclared one, also at a key that
    the fork would not take.

    If this fails, look at: the kind of the row ignored; rows of other keys skipped before they are judged.
    """
    source = await _source(store)
    await source.commit(ListAppend(list_address(namespace, "elsewhere"), {"wrong": "kind"}))
    refusal = {"namespace": namespace, "kind": "list"}
    await expect_refused(source, _with_id(options), source_is, UndeclaredNamespace, **refusal)


@case("S-FORK-CLS-07", needs=())
@rows("source_is", open="open", closed="closed", reopened="reopened")
@in_both_scopes
@rows("at_once", in_two_commits=False, in_one_commit=True)
async def deleted_rows_fail_no_fork(store: SessionMaker, options: ForkOptions, at_once: bool, source_is: str) -> None:
    """Undeclared scalars and lists, and lists in namespaces of scalars, that were deleted again fail no fork, though
    their records may still be in a file.

    If this fails, look at: dead records judged while a log is read; an empty list left behind by a delete; rows judged
    before their delete is seen.
    """
    source = await _source(store)
    scalars = [value_address(namespace, "k") for namespace in FAILING]
    lists = [list_address(namespace, "k") for namespace in (*FAILING, *DECLARED)]
    made: list[Write] = [*(ValueSet(at, 1) for at in scalars), *(ListAppend(at, 1) for at in lists)]
    gone: list[Write] = [*(ValueDelete(at) for at in scalars), *(ListDelete(at) for at in lists)]
    for writes in [made + gone] if at_once else [made, gone]:
        await source.commit(*writes)
    if source_is == "reopened":
        await source.reopen()
    await expect_sound(await forked(source, options, source_is), source)


@case("S-FORK-CLS-08", needs=())
@in_both_scopes
async def names_that_only_look_reserved_are_applications(store: SessionMaker, options: ForkOptions) -> None:
    """All application namespaces of the table at once, scalars and lists, fail no fork; a tree fork takes them all.

    If this fails, look at: a test for `pi` without the dot; names compared without case; separators other than a dot.
    """
    source = await _source(store)
    for namespace in APPLICATIONS:
        await source.commit(*_writes(namespace, "value"), *_writes(namespace, "list"))
    for source_is in ("open", "closed"):
        await expect_sound(await forked(source, options, source_is), source)


@case("S-FORK-CLS-08", needs=())
@in_both_scopes
async def listed_reserved_names_fail_one_by_one(store: SessionMaker, options: ForkOptions) -> None:
    """Each namespace that the contract lists as failing fails the fork, as a scalar and as a list; once its row is
    deleted the same session can be forked.

    If this fails, look at: names that equal a prefix without its dot; a declared name followed by more text.
    """
    source = await _source(store)
    for namespace in FAILING:
        scalar, elements = value_address(namespace, "k"), list_address(namespace, "k")
        await source.commit(ValueSet(scalar, 0))
        with refused(UndeclaredNamespace, namespace=namespace, kind="value"):
            await store.repo.fork(source.metadata, options)
        await source.commit(ValueDelete(scalar), ListAppend(elements, 0))
        with refused(UndeclaredNamespace, namespace=namespace, kind="list"):
            await store.repo.fork(source.metadata, options)
        await source.commit(ListDelete(elements))
    await expect_sound(await forked(source, options, OPEN), source)


def _with_id(options: ForkOptions) -> ForkOptions:
    return BranchFork("main", id="fork") if isinstance(options, BranchFork) else TreeFork(id="fork")
