"""Legacy files that open: what becomes the lane `main`, its tip, the session name and the labels (S-V3-13, S-V3-14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forkstore.contract.records import Record

from .outcome import LegacyFile, entry, label_deleted, label_set, lane, name_set, opens, tip
from .records import label, model, record, thinking, tools, user, user_message

_LANE = "S-V3-14 S-V3-26"
_NAMES = "S-V3-13"


def lanes() -> Iterator[LegacyFile]:
    """Every case of this room."""
    yield from _configurations()
    yield from _tips()
    yield from _names()
    yield from _labels()


def _messages(*parents: tuple[int, int | None]) -> list[Record]:
    return [
        entry(seq, number, parent, "message", message=user_message(number))
        for seq, (number, parent) in enumerate(parents, 1)
    ]


def _case(name: str, records: Sequence[Record], entries: Sequence[Record], *derived: Record) -> LegacyFile:
    return opens(name, records, entries, derived, _LANE)


def _configurations() -> Iterator[LegacyFile]:
    one = _messages((3, None))
    yield _case("lane-complete", [model(1, None), thinking(2, 1), user(3, 2)], one, tip(3), *lane())
    yield _case("lane-without-thinking", [model(1, None), tools(2, 1, "saw"), user(3, 2)], one, tip(3))
    yield _case("lane-without-model", [thinking(1, None), tools(2, 1, "saw"), user(3, 2)], one, tip(3))
    yield _case("lane-with-tools-only", [tools(1, None, "saw"), tools(2, 1), user(3, 2)], one, tip(3))
    yield _case("lane-off-the-path", [model(1, None), thinking(2, 1), user(3, None)], one, tip(3))
    half = [model(1, None), thinking(2, None), user(3, 1)]
    yield _case("lane-thinking-off-the-path", half, one, tip(3))
    after = [user(3, None), thinking(4, 3, "off"), model(5, 4)]
    yield _case("lane-behind-the-last-entry", after, one, tip(3), *lane("o-2", "off"))
    nearest = [
        model(1, None, "o-1"),
        thinking(2, 1, "low"),
        user(3, 2),
        tools(4, 3, "saw", "rake"),
        model(5, 4, "o-5"),
        user(6, 5),
        thinking(7, 6, "xhigh"),
        tools(8, 7, "rake"),
        user(9, 8),
        model(10, 3, "o-9"),
        thinking(11, 10, "max"),
        tools(12, 11, "hose"),
        user(13, 9),
    ]
    entries = _messages((3, None), (6, 3), (9, 6), (13, 9))
    yield _case("lane-nearest-on-the-path", nearest, entries, tip(13), *lane("o-5", "xhigh", "rake"))
    cleared = [model(1, None), thinking(2, 1), tools(3, 2, "saw"), tools(4, 3), user(5, 4)]
    yield _case("lane-tools-cleared", cleared, _messages((5, None)), tip(5), *lane())


def _tips() -> Iterator[LegacyFile]:
    discarded = [model(1, None), thinking(2, 1), label(3, 2, 1, label="lost")]
    yield _case("tip-null-lane-complete", discarded, [], tip(None), *lane())
    yield _case("tip-null-data-only", [record(1, "session_info", None, name="")], [], tip(None))
    back = [user(1, None), user(2, 1), user(3, 2), model(4, 1)]
    yield _case("tip-moved-back", back, _messages((1, None), (2, 1), (3, 2)), tip(1))
    to_null = [user(1, None), user(2, 1), model(3, None)]
    yield _case("tip-back-to-null", to_null, _messages((1, None), (2, 1)), tip(None))


def _names() -> Iterator[LegacyFile]:
    first = record(2, "session_info", 1, name="pruning")
    last: dict[str, tuple[Record, ...]] = {
        "name-set": (),
        "name-cleared-by-absence": (record(3, "session_info", 2),),
        "name-cleared-by-empty-text": (record(3, "session_info", 2, name=""),),
        "name-replaced": (record(3, "session_info", 2, name="raking — früh"),),
        "name-of-another-branch": (record(3, "session_info", None, name="elsewhere"), user(4, 2)),
    }
    named = {"name-set": ["pruning"], "name-replaced": ["raking — früh"], "name-of-another-branch": ["elsewhere"]}
    for name, more in last.items():
        records = [user(1, None), first, *more]
        parents: list[tuple[int, int | None]] = [(1, None), (4, 1)] if name == "name-of-another-branch" else [(1, None)]
        derived = [*map(name_set, named.get(name, [])), tip(parents[-1][0])]
        yield opens(name, records, _messages(*parents), derived, _NAMES)


def _labels() -> Iterator[LegacyFile]:
    pair = [user(1, None), user(2, 1)]
    entries = _messages((1, None), (2, 1))
    behind = {
        "label-set": ([label(3, 2, 1, label="a")], [label_set(1, "a")]),
        "label-set-twice": (
            [label(3, 2, 1, label="a"), label(4, 3, 1, label="b"), label(5, 4, 2, label="c")],
            [label_set(1, "a"), label_set(1, "b"), label_set(2, "c")],
        ),
        "label-cleared-by-absence": (
            [label(3, 2, 1, label="a"), label(4, 3, 1)],
            [label_set(1, "a"), label_deleted(1)],
        ),
        "label-cleared-by-empty-text": (
            [label(3, 2, 1, label="a"), label(4, 3, 1, label="")],
            [label_set(1, "a"), label_deleted(1)],
        ),
        "label-cleared-and-set-again": (
            [label(3, 2, 1, label="a"), label(4, 3, 1), label(5, 4, 1, label="b")],
            [label_set(1, "a"), label_deleted(1), label_set(1, "b")],
        ),
        "label-cleared-that-never-was": ([label(3, 2, 1)], [label_deleted(1)]),
        "label-of-blanks": ([label(3, 2, 1, label=" ")], [label_set(1, " ")]),
        "label-on-discarded-record": (
            [model(3, 2), label(4, 3, 3, label="a"), label(5, 4, 4, label="b")],
            [label_set(2, "a"), label_set(2, "b")],
        ),
        "label-on-itself": ([label(3, 2, 3, label="a")], [label_set(2, "a")]),
        "label-on-remapped-target-cleared": (
            [model(3, 2), label(4, 3, 2, label="a"), label(5, 4, 3)],
            [label_set(2, "a"), label_deleted(2)],
        ),
    }
    for name, (labels, derived) in behind.items():
        yield opens(name, [*pair, *labels], entries, [*derived, tip(2)], _NAMES)
    to_null = [model(1, None), user(2, 1), label(3, 2, 1, label="lost"), label(4, 3, 1)]
    yield opens("label-on-null", to_null, _messages((2, None)), [tip(2)], _NAMES)
    forward = [user(1, None), label(2, 1, 3, label="later"), user(3, 2)]
    derived = [label_set(3, "later"), tip(3)]
    yield opens("label-on-later-record", forward, _messages((1, None), (3, 1)), derived, _NAMES)
    off_path = [user(1, None), label(2, 1, 1, label="a"), user(3, None)]
    derived = [label_set(1, "a"), tip(3)]
    yield opens("label-off-the-path", off_path, _messages((1, None), (3, None)), derived, _NAMES)
