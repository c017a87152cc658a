"""Namespaces: which are reserved, and that reserved ones can be named (section 4)."""

from __future__ import annotations

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.makers import SessionMaker
from forkstore.contract.addresses import (
    list_address,
    value_address,
)
from forkstore.contract.errors import InvalidAddress, UndeclaredNamespace
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import ListAppend, ValueSet

APPLICATION = {
    "pi2": "pi2",
    "pip": "pip",
    "PI.x": "PI.x",
    "pi-slash": "pi/x",
    "PI": "PI",
    "Pi.tip": "Pi.branch.tip",
    "upper-tip": "PI.BRANCH.TIP",
    "blank-before": " pi.x",
    "blank-behind": "pi ",
    "dash": "pi-x",
    "underscore": "pi_x",
    "colon": "pi:x",
    "inside": "api.x",
    "behind": "x.pi",
    "dot-before": ".pi.x",
    "full-width-dot": "pi．x",  # noqa: RUF001 - the letter is the point
    "full-width": "ｐｉ.x",  # noqa: RUF001 - the letters are the point
    "dotless": "p\u0131.x",
    "zero-width": "pi\u200b.x",
    "percent": "pi%2Ex",
}
RESERVED = {
    "pi": "pi",
    "dot": "pi.",
    "pi.x": "pi.x",
    "two-dots": "pi..x",
    "longer-than-built-in": "pi.branch.tip2",
    "below-built-in": "pi.branch.tip.x",
    "other-case": "pi.Branch.tip",
    "blank": "pi. x",
}


@case("S-ADDR-05")
@rows("namespace", APPLICATION)
async def a_name_that_only_looks_reserved_is_an_application_name(store: SessionMaker, namespace: str) -> None:
    """A namespace that neither equals `pi` nor starts with `pi.` is an application namespace: a tree fork copies its
    rows, a branch fork leaves them out, neither is refused.

    If this fails, look at: a prefix test for `pi`; a test without case; names normalized or trimmed before the test.
    """
    source = await store.bushy_session()
    await source.commit(ValueSet(value_address(namespace, "k"), 1), ListAppend(list_address(namespace, "k"), 2))
    for options in (TreeFork(), BranchFork("main")):
        await (await source.fork(options)).check()
    await source.check()


@case("S-ADDR-05")
@rows("namespace", RESERVED)
@rows("kind", value="value", list="list")
async def a_reserved_name_is_never_an_application_name(store: SessionMaker, namespace: str, kind: str) -> None:
    """`pi` and every name that starts with `pi.` are reserved: without a rule of their own they stop a fork.

    If this fails, look at: built-in names tested by prefix; `pi` alone forgotten; unknown reserved names treated as
    the application's.
    """
    source = await store.bushy_session()
    value, element = ValueSet(value_address(namespace, "k"), 1), ListAppend(list_address(namespace, "k"), 1)
    await source.commit(value if kind == "value" else element)
    for options in (TreeFork(), BranchFork("main")):
        with refused(UndeclaredNamespace, namespace=namespace, kind=kind):
            await store.repo.fork(source.metadata, options)
    await source.check()


@case("S-ADDR-06")
@rows("namespace", {**RESERVED, "tip": "pi.branch.tip", "name": "pi.session.name"})
async def an_address_in_a_reserved_namespace_can_be_built(store: SessionMaker, namespace: str) -> None:
    """Addresses in reserved namespaces, undeclared ones too, can be built, read and scanned.

    If this fails, look at: a check of the namespace on reads, which belongs to the fork.
    """
    subject = await store.create()
    for key in ("", "k"):
        address, log = value_address(namespace, key), list_address(namespace, key)
        expect(address.namespace == log.namespace == namespace, f"expected: {namespace!r} kept\nseen:     {address!r}")
        try:
            seen: list[object] = [await subject.session.get_value(address), await subject.session.scan_values(address)]
            seen.append(await subject.session.read_list(log))
        except InvalidAddress as error:
            expect(False, f"expected: an address in {namespace!r} is legal\nseen:     {error!r}")
        else:
            expect_equal(seen, [None, [], []], of="what an empty session holds there")
