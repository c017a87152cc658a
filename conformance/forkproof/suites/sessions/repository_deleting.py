"""Deleting sessions: what goes, what stays, and what a cancelled delete leaves (section 11.2)."""

from __future__ import annotations

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.makers import SessionMaker, Subject
from forkstore.contract.errors import SessionNotFound
from forkstore.contract.forks import BranchFork, TreeFork


@case("S-REPO-17")
@in_any_state
async def a_deleted_session_is_gone(subject: Subject) -> None:
    """After `delete` the session is neither listed nor openable, a second delete raises `SessionNotFound`, and its id
    is free for an empty session.

    If this fails, look at: rows or files that stay and come back under the id; a list that is cached; a delete that
    succeeds without finding anything.
    """
    store = subject.store
    others = [id for id in await store.listed_ids() if id != subject.id]
    await subject.close()
    await store.repo.delete(subject.metadata)
    expect_equal(await store.listed_ids(), others, of="the sessions that are listed after the delete")
    with refused(SessionNotFound, session_id=subject.id):
        await store.repo.open(subject.metadata)
    with refused(SessionNotFound, session_id=subject.id):
        await store.repo.delete(subject.metadata)
    again = await store.create(subject.id)
    again.model.look_at(subject.model.touched)
    await again.check("a session created with the id of a deleted one")
    expect_equal((await again.commit()).first_seq, 1, of="its next sequence")


@case("S-REPO-17")
@rows("name", plain="b", prefix="a", longer="a_b", upper="B")
async def a_delete_leaves_other_sessions_alone(store: SessionMaker, name: str) -> None:
    """Deleting one session leaves all others as they were, also those with similar ids.

    If this fails, look at: a delete by prefix or suffix; ids compared without case; tables without the session in
    their key.
    """
    subjects = {id: await store.rich_session(id) for id in ("a", "b", "a_b", "ab", "B")}
    target = subjects.pop(name)
    await target.close()
    await store.repo.delete(target.metadata)
    await store.assert_only_known_sessions(*subjects.values())
    for subject in subjects.values():
        await subject.check(f"the session {subject.id!r} after {name!r} was deleted")
    await store.check_each(*subjects.values())


@case("S-REPO-18")
@rows("closed", forks_open=False, forks_closed=True)
async def forks_outlive_their_source(store: SessionMaker, closed: bool) -> None:
    """Deleting a session does not affect the sessions forked from it, nor theirs: they keep everything, their parent id
    too.

    If this fails, look at: a delete that cascades; rows that a fork shares with its source; a parent id cleared by a
    foreign key; a delete refused because of the forks.
    """
    source = await store.rich_session()
    tree, branch = await source.fork(TreeFork()), await source.fork(BranchFork("main"))
    grandchild = await tree.fork(TreeFork())
    forks = [tree, branch, grandchild]
    if closed:
        for fork in forks:
            await fork.close()
    for gone in (source, tree):
        await gone.close()
        await store.repo.delete(gone.metadata)
    await store.assert_only_known_sessions(branch, grandchild)
    parents = {metadata.id: metadata.parent_session_id for metadata in await store.list()}
    expect_equal(parents, {branch.id: source.id, grandchild.id: tree.id}, of="the parents that are listed")
    await store.check_each(branch, grandchild)


@case("S-REPO-19", needs=())
@rows("again_after", once=None, twice=1, twice_later=2)
async def a_cancelled_delete_is_whole(store: SessionMaker, again_after: int | None) -> None:
    """A `delete` that is cancelled at any of its suspensions leaves the session wholly there or wholly gone, and not
    reserved.

    If this fails, look at: a delete in several steps that are not shielded; a reservation that is not given back.
    """
    bystander = await store.linear_session(id="bystander")
    targets = [await store.rich_session("target")]
    await targets[-1].close()

    async def check(_: int, outcome: Stepped) -> None:
        expect_equal(outcome.kind, "cancelled", of="how a cancelled delete ended")
        target = targets[-1]
        if target.id in await store.listed_ids():
            await target.open()
            await target.check("the session after its delete was cancelled")
        else:
            with refused(SessionNotFound):
                await store.repo.open(target.metadata)
            targets.append(await store.rich_session("target"))
        await targets[-1].close()

    await cancelled_at_every_suspension(lambda: store.repo.delete(targets[-1].metadata), check, again_after=again_after)
    await store.assert_only_known_sessions(bystander)
    await bystander.check()
