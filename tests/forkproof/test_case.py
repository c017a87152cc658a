"""Cases are values: names, sentences, tables, variants and their ids."""

import asyncio
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from forkproof.case import all_variants, case, cases_of, in_any_state, rows
from forkproof.makers.states import ANY_STATE
from forkproof.suites import sessions
from forkproof.suites.sessions import MODULES, cases


@case("S-LIST-01", "S-LIST-02", needs=("clock",))
@rows("order", ascending="asc", descending="desc")
@rows("limit", {"10k": 10_000}, one=1)
async def pages_are_whole(store, order, limit):
    """A page is
    whole.

    If this fails, look at: the first cause;
    the second cause.
    """
    store.append((order, limit))


def test_a_case_is_named_after_its_first_clause_and_its_function():
    assert pages_are_whole.name == "S-LIST-01-pages-are-whole"
    assert pages_are_whole.clauses == ("S-LIST-01", "S-LIST-02")
    assert pages_are_whole.needs == ("clock",)


def test_sentence_and_causes_come_from_the_docstring():
    assert pages_are_whole.sentence == "A page is whole."
    assert pages_are_whole.look_at == ("the first cause", "the second cause")


def test_tables_multiply_in_the_order_of_the_text():
    assert [bound.id for bound in pages_are_whole.variants()] == [
        "S-LIST-01-pages-are-whole-ascending-10k",
        "S-LIST-01-pages-are-whole-ascending-one",
        "S-LIST-01-pages-are-whole-descending-10k",
        "S-LIST-01-pages-are-whole-descending-one",
    ]


async def call_all():
    seen = []
    for bound in pages_are_whole.variants():
        await bound.start(store=seen, subject="not asked for")
    return seen


def test_values_arrive_as_keyword_arguments():
    assert asyncio.run(call_all()) == [("asc", 10_000), ("asc", 1), ("desc", 10_000), ("desc", 1)]


def test_row_values_are_copies():
    @case("S-LIST-01")
    @rows("value", shared=[])
    async def changes_its_value(value):
        value.append(1)
        assert value == [1]

    (bound,) = changes_its_value.variants()
    for _ in range(2):
        asyncio.run(bound.start())


def test_any_state_runs_over_the_makers_table():
    @case("S-LIST-01")
    @in_any_state
    @rows("n", one=1, two=2)
    async def holds(subject, n):
        """Holds."""

    variants = holds.variants()
    assert len(variants) == 2 * len(ANY_STATE)
    assert {bound.state for bound in variants} == set(ANY_STATE)
    assert len({bound.id for bound in variants}) == len(variants)


def test_two_cases_may_not_share_an_id():
    with pytest.raises(ValueError, match="two cases have the id"):
        all_variants([pages_are_whole, pages_are_whole])


@pytest.mark.parametrize("wrong", ["with blank", "a/b", "a[b]", "é", ""])
def test_row_names_have_to_fit_into_an_id(wrong):
    with pytest.raises(ValueError, match="cannot be part"):
        rows("x", {wrong: 1})


def test_decorators_refuse_what_they_cannot_use():
    with pytest.raises(TypeError, match="clauses"):
        case()
    with pytest.raises(TypeError, match="no value"):
        rows("x")
    with pytest.raises(TypeError, match="async"):
        case("S-LIST-01")(lambda store: None)
    for decorate in (rows("x", one=1), in_any_state):
        with pytest.raises(TypeError, match="below @case"):
            decorate(pages_are_whole)


def test_cases_of_a_module_keep_their_order():
    for module in MODULES:
        names = [found.function.__name__ for found in cases_of(module)]
        text = re.findall(r"^async def ([a-z]\w*)\(", Path(module.__file__).read_text(encoding="utf-8"), re.MULTILINE)
        assert names == text


def test_every_suite_file_that_has_cases_is_named():
    found = [import_module(f"{sessions.__name__}.{one.name}") for one in iter_modules(sessions.__path__)]
    assert {module.__name__ for module in found if cases_of(module)} == {module.__name__ for module in MODULES}


def test_every_case_of_the_suite_says_a_sentence_and_causes():
    for bound in cases():
        assert bound.case.sentence.endswith((".", ".)")), bound.id
        assert bound.case.look_at, bound.id


def test_ids_of_the_suite_are_plain_ascii():
    for bound in cases():
        assert re.fullmatch(r"[A-Za-z0-9.+-]+", bound.id), bound.id
