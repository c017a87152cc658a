"""Addresses are apart: no separator joins two of them, and no delete takes a neighbour along (sections 4 to 7)."""

from __future__ import annotations

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet

SEPARATORS = "".join(
    map(chr, (*range(1, 48), *range(58, 65), *range(91, 97), *range(123, 160), 0x2028, 0xFFFF, 0x10FFFF))
)
"""Letters that a store may put between the parts of a compound key; U+0000 is in no address."""

KEYS = ("", "a", "A", "a ", "ab", "a:", "a%", "%", "_", "*", "b", "\U00010000")


@case("S-ADDR-02")
@rows("kind", value="value", list="list")
async def no_separator_joins_two_addresses(store: SessionMaker, kind: str) -> None:
    """Whatever letter is in them, a namespace and a key never meet those of another address: `a:b` with `c` is not `a`
    with `b:c`, and `ab` with `c` is not `a` with `bc`.

    If this fails, look at: one key made of both with a separator; a separator that is not escaped.
    """
    subject = await store.create()
    pairs = [("ab", "c"), ("a", "bc"), ("abc", "")]
    for letter in SEPARATORS:
        pairs += [(f"a{letter}b", "c"), ("a", f"b{letter}c"), (f"a{letter}", "b"), ("a", f"{letter}b")]
    if kind == "value":
        await subject.commit(*(ValueSet(value_address(*pair), list(pair)) for pair in pairs))
        for pair in pairs:
            row = await subject.session.get_value(value_address(*pair))
            expect_equal(row and row.value, list(pair), of=f"the scalar at {pair!r}")
    else:
        await subject.commit(*(ListAppend(list_address(*pair), list(pair)) for pair in pairs))
        for pair in pairs:
            elements = await subject.session.read_list(list_address(*pair))
            expect_equal([one.value for one in elements], [list(pair)], of=f"the list at {pair!r}")
    await subject.check_everywhere()


@case("S-LIST-06")
@rows("key", {f"key-{number}": key for number, key in enumerate(KEYS)})
async def deleting_a_list_leaves_its_neighbours(store: SessionMaker, key: str) -> None:
    """Deleting a list deletes that list and no other, whatever its key is.

    If this fails, look at: a delete by prefix, pattern or without case; an empty key that means the whole namespace.
    """
    subject = await store.create()
    await subject.commit(*(ListAppend(list_address("garden.log", one), one) for one in KEYS))
    await subject.commit(ListDelete(list_address("garden.log", key)))
    for one in KEYS:
        elements = await subject.session.read_list(list_address("garden.log", one))
        expect_equal([element.value for element in elements], [] if one == key else [one], of=f"the list {one!r}")
    await subject.check_everywhere()


@case("S-VAL-02")
@rows("key", {f"key-{number}": key for number, key in enumerate(KEYS)})
async def deleting_a_scalar_leaves_its_neighbours(store: SessionMaker, key: str) -> None:
    """Deleting a scalar deletes that scalar and no other, whatever its key is.

    If this fails, look at: a delete by prefix, pattern or without case; an empty key that means the whole namespace.
    """
    subject = await store.create()
    await subject.commit(*(ValueSet(value_address("garden.plan", one), one) for one in KEYS))
    await subject.commit(ValueDelete(value_address("garden.plan", key)))
    seen = [row.address.key for row in await subject.session.scan_values(value_address("garden.plan"))]
    expect_equal(seen, sorted(one for one in KEYS if one != key), of="the keys that are left")
    await subject.check_everywhere()
