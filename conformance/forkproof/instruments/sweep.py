"""Faults, one operation at a time: makes a call with a fault at its n-th file or database operation, for every n.

The sister of `stepping`, which cancels at suspensions: the call runs in a task of its own there as here, and ends the
sweep when it passes untouched. Whatever a store does with its files or databases inside the call is hit once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from forkproof.expect import ClauseBroken
from forkproof.instruments.arming import Faults
from forkproof.instruments.fault_kinds import Fault, Hit
from forkproof.instruments.stepping import Call, Stepped, stepped


async def swept(
    call: Call,
    faults: Faults,
    fault: Fault,
    check: Callable[[int, Hit, Stepped], Awaitable[object]],
    *,
    names: Iterable[str] | None = None,
    paths: str = "*",
    sparse: bool | None = None,
    again_after: int | None = None,
    first: int = 1,
    stride: int = 1,
    limit: int = 1_000,
) -> int:
    """For n = 1, 2, …: makes the call, lets the fault strike its n-th operation, and awaits `check(n, hit, outcome)`.

    `names`, `paths`, `sparse` (None: where operations are many) and `again_after` are those of `Faults.arm`; `Cancel`
    cancels the task of the call, also where the store does its work in another task or thread. The check meets no fault
    any more, except that a full disk stays full until it calls `faults.room()`. The sweep ends with the first call that
    passes untouched (not checked; its error is raised as it is) and gives the number of operations that were hit, 0 for
    a call that makes none of those asked for. With `first` and `stride` it strikes n = first, first + stride, … only:
    the share of one of several sweeps.

    >>> async def nothing_is_left(n: int, hit: Hit, outcome: Stepped) -> None:
    ...     expect(outcome.kind == "raised", f"a fork that fails at {hit} raises; it {outcome.kind}")
    ...     await store.assert_only_known_sessions(source)
    >>> fork = lambda: store.repo.fork(source.metadata, TreeFork(id="f"))
    >>> await swept(fork, store.faults, Fail("permission_denied"), nothing_is_left, names=CHANGES)
    """
    wanted = None if names is None else frozenset(names)
    thin = faults.are_many if sparse is None else sparse

    def at(n: int) -> Call:
        async def armed() -> Any:
            caller = asyncio.current_task()
            faults.arm(fault, at=n, names=wanted, paths=paths, sparse=thin, again_after=again_after, caller=caller)
            return await call()

        return armed

    for n in range(first, limit + 1, stride):
        try:
            outcome = await stepped(at(n))
            hit = faults.hit
            if hit is None:
                if outcome.error is not None:
                    raise outcome.error
                return (n - first) // stride
            if not fault.lasting:
                faults.disarm()
            await check(n, hit, outcome)
        finally:
            faults.disarm()
    raise ClauseBroken(f"expected: a call that ends\nseen:     a {faults.world} operation after {limit} others")
