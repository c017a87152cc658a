"""Expectations are strict about types, say what was expected and seen, and never let a wrong refusal pass."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.expect import ClauseBroken, expect, expect_equal, expect_subset, refused, strictly_equal
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import EntryNotOnBranch, UnknownBranch
from forkstore.contract.store import ListElement, ValueRow


class Text(str):
    """A subclass that equals its plain sibling."""

    __slots__ = ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (True, 1),
        (1, 1.0),
        (0, False),
        (0.0, False),
        (None, False),
        ("a", b"a"),
        ([1], (1,)),
        (Text("a"), "a"),
        ([Text("a")], ["a"]),
        ({"a": [1, {"b": 1}]}, {"a": [1, {"b": True}]}),
        ({"a": 1}, {"a": 1, "b": None}),
        (ListElement(1, 1), ListElement(1, True)),
        (ListElement(1, "a"), {"seq": 1, "value": "a"}),
    ],
)
def test_what_differs_in_type_is_not_equal(seen, expected):
    assert not strictly_equal(seen, expected)
    with pytest.raises(ClauseBroken, match="of what"):
        expect_equal(seen, expected, of="of what")


@given(JSON)
def test_equal_values_are_equal(value):
    assert strictly_equal(value, value)
    expect_equal([value], [value], of="a value", ordered=True)


def test_member_order_counts_where_it_is_asked_for():
    seen, expected = {"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}
    expect_equal(seen, expected, of="members")
    with pytest.raises(ClauseBroken):
        expect_equal(seen, expected, of="members", ordered=True)
    row = ValueRow(value_address("a"), seen, 1), ValueRow(value_address("a"), expected, 1)
    assert strictly_equal(*row)
    assert not strictly_equal(*row, ordered=True)


def test_a_difference_is_shown_member_by_member():
    with pytest.raises(ClauseBroken) as broken:
        expect_equal({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]}, of="the record")
    message = str(broken.value)
    assert message.startswith("the record\nexpected: {'a': 1, 'b': [1, 3]}\nseen:     {'a': 1, 'b': [1, 2]}")
    assert message.endswith("differs at:\n  ['b'][1]: expected 3, seen 2")


def test_places_are_named_in_large_values():
    state = [{"id": f"e{n}", "text": "x" * 100, "n": [n]} for n in range(1_000)]
    wrong = [dict(record) for record in state]
    wrong[500] = {**wrong[500], "n": [True]}
    del wrong[999]
    with pytest.raises(ClauseBroken) as broken:
        expect_equal(wrong, state, of="the entries")
    lines = str(broken.value).splitlines()
    assert lines[:3] == ["the entries", "differs at:", "  the value: expected 1000 members, seen 999"]
    assert lines[3] == "  [500]['n'][0]: expected 500, seen True"
    assert lines[4].startswith("  [999]: expected {'id': 'e999'")
    assert lines[4].endswith("seen nothing")


def test_values_that_look_alike_are_told_apart():
    with pytest.raises(ClauseBroken, match=r"expected 'a' of type str, seen 'a' of type Text"):
        expect_equal([Text("a")], ["a"], of="a text")
    with pytest.raises(ClauseBroken, match=r"order of members: expected \['b', 'a'\], seen \['a', 'b'\]"):
        expect_equal({"a": 1, "b": 2}, {"b": 2, "a": 1}, of="members", ordered=True)


def test_a_message_is_bounded():
    with pytest.raises(ClauseBroken) as broken:
        expect_equal(["x" * 10_000_000] * 3, [str(n) * 100 for n in range(10_000)], of="large lists")
    assert len(str(broken.value)) < 30_000


def test_expect_takes_a_condition():
    expect(True, "fine")
    with pytest.raises(ClauseBroken, match="expected a; seen b"):
        expect([], "expected a; seen b")


def test_expect_subset_looks_at_the_named_members():
    expect_subset({"a": 1, "b": 2}, {"a": 1}, of="a record")
    for expected in ({"a": True}, {"c": 1}):
        with pytest.raises(ClauseBroken):
            expect_subset({"a": 1, "b": 2}, expected, of="a record")


def test_the_right_refusal_is_kept():
    with refused(EntryNotOnBranch, entry_id="x", branch=lambda branch: branch.startswith("m")) as refusal:
        raise EntryNotOnBranch("x", "main")
    assert refusal.error.branch == "main"


def test_one_of_several_classes_is_enough():
    with refused(UnknownBranch, EntryNotOnBranch):
        raise UnknownBranch("x")


def test_no_refusal_breaks_the_clause():
    with pytest.raises(ClauseBroken, match="the call succeeded"), refused(UnknownBranch, name="x"):
        pass


@pytest.mark.parametrize("error", [TypeError("no"), KeyError("x"), EntryNotOnBranch("x", "y")])
def test_another_class_breaks_the_clause_and_is_its_cause(error):
    with pytest.raises(ClauseBroken, match=type(error).__name__) as broken, refused(UnknownBranch):
        raise error
    assert broken.value.__cause__ is error


@pytest.mark.parametrize("attributes", [{"name": "y"}, {"name": 1}, {"nothing": "x"}, {"name": lambda name: False}])
def test_a_wrong_attribute_breaks_the_clause(attributes):
    with pytest.raises(ClauseBroken), refused(UnknownBranch, **attributes):
        raise UnknownBranch("x")


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), ClauseBroken("inner")])
def test_what_is_no_refusal_passes(error):
    with pytest.raises(type(error)) as passed, refused(UnknownBranch):
        raise error
    assert passed.value is error


def test_a_cancellation_can_be_expected():
    with refused(asyncio.CancelledError):
        raise asyncio.CancelledError


def test_a_refusal_needs_a_class():
    with pytest.raises(TypeError):
        refused()
