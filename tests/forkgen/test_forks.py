"""What an expectation says of forks, against the kit's oracle and against the memory store."""

from __future__ import annotations

import asyncio

import pytest

from forkgen import RECIPES, Expectation, check_session, recipe
from forkproof.oracle.classifier import ForkRefused
from forkstore.contract.errors import SessionStoreError, UndeclaredNamespace
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from tests.forkgen.sessions import SOURCE, Kept, expected, fork_options, kept, logical

MOST = 40
"""Forks of one session; more are left out at even distances."""


def outcome(expectation: Expectation, options: ForkOptions) -> Expectation | SessionStoreError:
    try:
        return expectation.fork(options)
    except SessionStoreError as refusal:
        return refusal


async def check_fork(source: Kept, options: ForkOptions, forked: Expectation) -> None:
    assert expected(forked) == logical(source.model.fork(options, SOURCE).state())
    session = await source.repo.fork(source.session.metadata, options)
    await check_session(session, forked)
    assert session.metadata.parent_session_id == SOURCE
    await session.close()
    await source.repo.delete(session.metadata)


async def check_refusal(source: Kept, options: ForkOptions, refusal: SessionStoreError) -> None:
    with pytest.raises(ForkRefused) as by_the_oracle:
        source.model.fork(options, SOURCE)
    assert by_the_oracle.value.refusal == type(refusal).__name__
    with pytest.raises(type(refusal)) as by_the_store:
        await source.repo.fork(source.session.metadata, options)
    if not isinstance(refusal, UndeclaredNamespace):
        assert str(by_the_store.value) == str(refusal)
        assert by_the_oracle.value.attributes.items() <= vars(refusal).items()


@pytest.mark.parametrize("name", [name for name in RECIPES if name not in ("reserved", "giant")])
@pytest.mark.parametrize(("seed", "size"), [(0, 1), (1, 12), (7, 90)])
def test_forks_hold_what_is_expected(name: str, seed: int, size: int) -> None:
    async def checked() -> None:
        generated = recipe(name)(seed, size)
        async with kept(generated) as source:
            tree, nowhere, *others = fork_options(generated.expectation)
            for options in (tree, nowhere, *others[:: 1 + len(others) // MOST]):
                told = outcome(generated.expectation, options)
                if isinstance(told, SessionStoreError):
                    await check_refusal(source, options, told)
                else:
                    await check_fork(source, options, told)
            assert isinstance(outcome(generated.expectation, tree), Expectation)
            assert isinstance(outcome(generated.expectation, nowhere), SessionStoreError)

    asyncio.run(checked())


def test_every_branch_can_be_forked_at_and_before_every_entry_of_its_path() -> None:
    async def checked() -> None:
        generated = recipe("labels")(5, 20)
        async with kept(generated) as source:
            for entry_id in generated.expectation.path("main"):
                for options in (BranchFork("main", entry_id), BranchFork("main", entry_id, "before")):
                    await check_fork(source, options, generated.expectation.fork(options))

    asyncio.run(checked())


def test_a_giant_reaches_its_forks() -> None:
    async def checked() -> None:
        generated = recipe("giant")(0, 3)
        async with kept(generated) as source:
            for options in (TreeFork(), BranchFork("main")):
                await check_fork(source, options, generated.expectation.fork(options))

    asyncio.run(checked())


def test_live_undeclared_rows_refuse_every_fork() -> None:
    async def checked() -> None:
        generated = recipe("reserved")(3, 10)
        undeclared = set(generated.expectation.undeclared())
        async with kept(generated) as source:
            for options in (TreeFork(), BranchFork("main"), BranchFork("main", "reserved-entry-00000002", "before")):
                told = outcome(generated.expectation, options)
                assert isinstance(told, UndeclaredNamespace)
                await check_refusal(source, options, told)
                with pytest.raises(UndeclaredNamespace) as refusal:
                    await source.repo.fork(source.session.metadata, options)
                assert (refusal.value.namespace, refusal.value.kind) in undeclared

    asyncio.run(checked())


def test_dead_undeclared_rows_refuse_no_fork() -> None:
    assert list(recipe("reserved_dead")(3, 10).expectation.undeclared()) == []


@pytest.mark.parametrize("name", ["everything", "lanes", "labels"])
def test_a_fork_of_a_fork_holds_what_is_expected(name: str) -> None:
    async def checked() -> None:
        generated = recipe(name)(2, 60)
        middle = list(generated.expectation.path("main"))[1]
        async with kept(generated) as source:
            tree = await source.repo.fork(source.session.metadata, TreeFork())
            branch = await source.repo.fork(tree.metadata, BranchFork("main", middle))
            last = await source.repo.fork(branch.metadata, TreeFork())
            forked = generated.expectation.tree_fork().branch_fork("main", middle)
            await check_session(branch, forked)
            await check_session(last, forked.tree_fork())
            assert expected(forked) == expected(forked.tree_fork())

    asyncio.run(checked())
