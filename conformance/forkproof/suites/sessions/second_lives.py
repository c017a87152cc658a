"""What was deleted and made again is like anything else: it is read, reopened, forked and judged (sections 6 to 16)."""

from __future__ import annotations

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import idle_lane_state, lane_configuration
from forkproof.suites.sessions.forking import expect_refused, expect_sound, forked, from_open_and_closed, in_both_scopes
from forkstore.contract.addresses import (
    Address,
    branch_tip,
    entry_label,
    lane_config,
    lane_state,
    list_address,
    session_name,
    value_address,
)
from forkstore.contract.errors import BranchExists, UndeclaredNamespace
from forkstore.contract.forks import ForkOptions, TreeFork
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet, Write

LIVES = ("first", "second", "third")

SCALARS: dict[Address, object] = {
    session_name(): "Garten",
    entry_label("root"): "start",
    entry_label("tip"): "here",
    value_address("garden.plan", "bed"): "carrots",
    value_address("garden.plan"): None,
    branch_tip("main"): "tip",
    lane_config("main"): lane_configuration(),
    lane_state("main"): idle_lane_state(),
}
"""What every life ends with, by address; the label of `root` and the scalar `bed` differ from life to life."""

BEDS = list_address("garden.log", "beds")


def _of_life(life: str) -> list[Write]:
    writes: list[Write] = [ValueSet(address, value) for address, value in SCALARS.items()]
    return [*writes, ValueSet(entry_label("root"), life), ListAppend(BEDS, life), ListAppend(BEDS, life)]


async def _thrice_made(store: SessionMaker, *, in_one_commit: bool = False) -> Subject:
    """The tree of `bushy_session` whose rows of every kind lived, were deleted, and live again, for the third time."""
    source = await store.bushy_session()
    deletes: list[Write] = [*map(ValueDelete, SCALARS), ListDelete(BEDS)]
    for life in LIVES:
        if in_one_commit:
            await source.commit(*deletes, *_of_life(life))
        else:
            await source.commit(*deletes)
            await source.commit(*_of_life(life))
    return source


async def _expect_scalars(subject: Subject, addresses: list[Address]) -> None:
    for address in addresses:
        row = await subject.session.get_value(address)
        expected = LIVES[-1] if address == entry_label("root") else SCALARS[address]
        expect_equal([] if row is None else [row.value], [expected], of=f"the value at {address}")


async def _expect_in_a_fork(store: SessionMaker, source_is: str, options: ForkOptions, *addresses: Address) -> None:
    source = await _thrice_made(store)
    fork = await forked(source, options, source_is)
    await _expect_scalars(fork, list(addresses))
    await expect_sound(fork, source)


@case("S-FORK-CLS-02")
@in_both_scopes
@from_open_and_closed
async def a_label_that_was_deleted_and_set_again_is_copied(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """A label that was deleted before and is there again is in the fork, with its present text.

    If this fails, look at: deletes collected into a set that later sets do not leave; deletes applied last.
    """
    await _expect_in_a_fork(store, source_is, options, entry_label("root"), entry_label("tip"))


@case("S-FORK-CLS-01", needs=())
@in_both_scopes
@from_open_and_closed
async def a_name_that_was_deleted_and_set_again_is_copied(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """The name of a session that had none for a while is in the fork.

    If this fails, look at: deletes collected into a set that later sets do not leave; deletes applied last.
    """
    await _expect_in_a_fork(store, source_is, options, session_name())


@case("S-FORK-TREE-06")
@from_open_and_closed
async def a_scalar_that_was_deleted_and_set_again_is_copied(store: SessionMaker, source_is: str) -> None:
    """An application scalar that was deleted before and is there again is in the fork, null too.

    If this fails, look at: deletes collected into a set that later sets do not leave; deletes applied last.
    """
    addresses = [address for address in SCALARS if address.namespace == "garden.plan"]
    await _expect_in_a_fork(store, source_is, TreeFork(), *addresses)


@case("S-FORK-TREE-02", needs=())
@from_open_and_closed
async def a_tip_that_was_deleted_and_set_again_is_copied(store: SessionMaker, source_is: str) -> None:
    """A branch whose tip row was gone for a while is in the fork.

    If this fails, look at: branches that count as deleted for ever.
    """
    await _expect_in_a_fork(store, source_is, TreeFork(), branch_tip("main"))


@case("S-FORK-TREE-03")
@from_open_and_closed
async def a_lane_that_was_deleted_and_made_again_is_copied(store: SessionMaker, source_is: str) -> None:
    """Configuration and state that were gone for a while are in the fork.

    If this fails, look at: lane rows that count as deleted for ever.
    """
    await _expect_in_a_fork(store, source_is, TreeFork(), lane_config("main"), lane_state("main"))


@case("S-FORK-TREE-07")
@from_open_and_closed
async def a_list_that_was_deleted_twice_holds_its_last_life(store: SessionMaker, source_is: str) -> None:
    """A list that was deleted more than once and appended to again holds what came last, equal elements too.

    If this fails, look at: a list that counts as deleted for ever; the first delete found and not the last; equal
    elements merged.
    """
    source = await _thrice_made(store)
    fork = await forked(source, TreeFork(), source_is)
    elements = [element.value for element in await fork.session.read_list(BEDS)]
    expect_equal(elements, [LIVES[-1]] * 2, of="the list in the fork")
    await expect_sound(fork, source)


UNDECLARED: dict[str, tuple[Write, Write]] = {
    "value": (ValueSet(value_address("pi.unknown", "k"), 1), ValueDelete(value_address("pi.unknown", "k"))),
    "list": (ListAppend(list_address("pi.unknown", "k"), 1), ListDelete(list_address("pi.unknown", "k"))),
}


@case("S-FORK-CLS-04", "S-FORK-CLS-05", needs=())
@in_both_scopes
@from_open_and_closed
@rows("kind", {kind: kind for kind in UNDECLARED})
async def an_undeclared_row_that_was_deleted_and_made_again_fails_the_fork(
    store: SessionMaker, options: ForkOptions, source_is: str, kind: str
) -> None:
    """A row in an undeclared namespace that was deleted and made again is current, and fails the fork.

    If this fails, look at: a delete that excuses every row of its address, those that came later too.
    """
    made, deleted = UNDECLARED[kind]
    source = await store.linear_session()
    for write in (made, deleted, made):
        await source.commit(write)
    await expect_refused(source, options, source_is, UndeclaredNamespace, namespace="pi.unknown", kind=kind)


@case("S-REPO-06")
@rows("in_one_commit", apart=False, together=True)
async def what_was_deleted_and_made_again_is_there_after_reopening(store: SessionMaker, in_one_commit: bool) -> None:
    """Rows that were deleted and made again, in other commits or in the same one, are there after reopening, and what
    was deleted last is not.

    If this fails, look at: deletes replayed after all other writes; tombstones by address without a sequence.
    """
    subject = await _thrice_made(store, in_one_commit=in_one_commit)
    await subject.commit(ValueDelete(entry_label("tip")))
    await subject.reopen()
    await _expect_scalars(subject, [address for address in SCALARS if address != entry_label("tip")])
    await subject.check_everywhere()


@case("S-SESS-01")
async def a_branch_whose_tip_row_is_gone_is_not_found(store: SessionMaker) -> None:
    """A branch that was found before is not found once its tip row is gone, and is found again when it is back.

    If this fails, look at: branch objects kept by name.
    """
    subject = await store.linear_session()
    for present in (True, False, True):
        await subject.commit(ValueSet(branch_tip("main"), "e4") if present else ValueDelete(branch_tip("main")))
        found = await subject.session.branch("main")
        expect_equal(found is not None, present, of="whether the branch is found")


@case("S-SESS-04")
async def the_name_of_a_branch_without_a_tip_row_is_free(store: SessionMaker) -> None:
    """A branch whose tip row was deleted exists no more: its name can be given again, and then it is taken.

    If this fails, look at: a register of names beside the tip rows.
    """
    subject = await store.linear_session()
    await subject.session.create_branch("left", "e2")
    await subject.session.delete_value(branch_tip("left"))
    try:
        branch = await subject.session.create_branch("left", "e1")
    except BranchExists:
        branch = None
    expect_equal(branch and await branch.get_tip_id(), "e1", of="the tip of the branch that was made again")
