"""The generator: the published algorithm, and streams that do not depend on each other."""

from __future__ import annotations

from hashlib import blake2b

import pytest

from forkgen.random import WORD, Generator


def test_the_numbers_are_those_of_the_published_algorithm() -> None:
    draw = Generator(1234567)
    assert [draw.next() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_any_number_is_found_without_those_before_it() -> None:
    draw = Generator(99)
    assert [draw.next() for _ in range(50)] == [Generator(99).at(index) for index in range(50)]


def test_a_stream_by_label_does_not_depend_on_how_far_the_other_was_read() -> None:
    read = Generator(5)
    read.next()
    seed = int.from_bytes(blake2b(b"5/beds", digest_size=8).digest(), "big")
    assert read.split("beds").next() == Generator(5).split("beds").next() == Generator(seed).next()
    assert Generator(5).split("beds").next() != Generator(5).split("bed").next()
    assert Generator(5).split("beds").next() != Generator(6).split("beds").next()


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**63 + 1, WORD])
def test_a_bounded_number_is_below_its_bound(bound: int) -> None:
    draw = Generator(bound)
    assert all(0 <= draw.below(bound) < bound for _ in range(200))


def test_a_small_bound_gives_every_number() -> None:
    draw = Generator(0)
    assert {draw.below(7) for _ in range(200)} == set(range(7))
    assert {draw.between(-1, 1) for _ in range(100)} == {-1, 0, 1}
    assert {draw.choice("abc") for _ in range(100)} == set("abc")
    assert 200 < sum(draw.chance(1, 4) for _ in range(1_000)) < 300


@pytest.mark.parametrize("bound", [0, -1, WORD + 1])
def test_a_bound_that_no_number_fits_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match=r"not 1 … 2\^64"):
        Generator(0).below(bound)


def test_a_shuffle_keeps_all_items_and_is_the_same_every_time() -> None:
    items, again = list(range(20)), list(range(20))
    Generator(3).shuffle(items)
    Generator(3).shuffle(again)
    assert items == again != sorted(items) == list(range(20))
