"""Random legacy files that open: every kind of record on every kind of parent, references in every direction."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from forkgen.legacy.records import header, id_of, record, text_of
from forkstore.contract.records import Record

Drawn = Callable[[Random, int, list[int]], Record]
"""The further fields of record `number`, whose path (itself left out) is given, oldest first."""
_SPENT: Final[Record] = {"input": 3, "output": 2, "cost": {"total": 0.5}}


def random_tree(random: Random, size: int) -> bytes:
    """A file with records 1 to `size`; about one in eight goes back to null or to any earlier record."""
    paths: dict[int | None, list[int]] = {None: []}
    records = []
    for number in range(1, size + 1):
        parent = number - 1 or None
        if parent is not None and random.random() < 0.3:
            parent = random.choice([None, *range(1, number)])
        kind = random.choice([kind for kind in FIELDS if kind != "compaction" or parent is not None])
        records.append(record(number, kind, parent, **FIELDS[kind](random, size, paths[parent])))
        paths[number] = [*paths[parent], number]
    return text_of(header(), *records)


def _message(random: Random, _size: int, _path: list[int]) -> Record:
    message: dict[str, Any] = {"role": random.choice(["user", "assistant", "toolResult"]), "content": "x", "n": 0.5}
    return {"message": message | random.choice([{}, {"usage": _SPENT}, {"usage": {"reasoning": 4}}])}


def _custom(random: Random, _size: int, _path: list[int]) -> Record:
    return {"customType": "weather"} | random.choice([{}, {"data": None}, {"data": [1, {"rain": 2.5}]}])


def _custom_message(random: Random, _size: int, _path: list[int]) -> Record:
    return {"customType": "hint", "content": "saw", "display": True} | random.choice([{}, {"details": [1]}])


def _branch_summary(random: Random, size: int, _path: list[int]) -> Record:
    origin = random.choice(["root", id_of(random.randint(1, size))])
    return {"fromId": origin, "summary": random.choice(["", "other tree"])} | _summary_fields(random)


def _compaction(random: Random, _size: int, path: list[int]) -> Record:
    kept = {"firstKeptEntryId": id_of(random.choice(path))}
    return {"summary": "pruned", "tokensBefore": random.choice([5, 0.5])} | kept | _summary_fields(random)


def _summary_fields(random: Random) -> Record:
    return random.choice([{}, {"usage": _SPENT, "fromHook": True}, {"details": {"files": []}}])


def _label(random: Random, size: int, _path: list[int]) -> Record:
    return {"targetId": id_of(random.randint(1, size))} | random.choice([{}, {"label": ""}, {"label": "here"}])


FIELDS: Final[dict[str, Drawn]] = {
    "message": _message,
    "custom": _custom,
    "custom_message": _custom_message,
    "branch_summary": _branch_summary,
    "compaction": _compaction,
    "model_change": lambda random, _size, _path: {"provider": "orchard", "modelId": random.choice(["o-1", "o-2"])},
    "thinking_level_change": lambda random, _size, _path: {"thinkingLevel": random.choice(["off", "high"])},
    "active_tools_change": lambda random, _size, _path: {"activeToolNames": random.choice([[], ["saw"]])},
    "session_info": lambda random, _size, _path: random.choice([{}, {"name": ""}, {"name": "pruning"}]),
    "label": _label,
}
