"""Damage to single records: every check of section 22.3, broken one at a time.

Each fault comes twice: in the first record of its kind that the good file holds, so that whole lines follow it, and in
one more record behind the end, so that the kind need not occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from forkstore.contract.records import COST_NUMBERS, OPTIONAL_USAGE_NUMBERS, USAGE_NUMBERS, Json, Record

from .changes import Raw, record_changed, record_text
from .making import Workbench
from .variant import Damaged

NO_STRING: dict[str, Json] = {"number": 7, "boolean": True, "array": ["e1"], "object": {}}
NO_NUMBER: dict[str, Json] = {"string": "1", "null": None, "boolean": True, "array": []}
NO_INTEGER: dict[str, Json] = {
    "string": "1",
    "null": None,
    "boolean": True,
    "fraction": 1.5,
    "whole-fraction": Raw("1.0"),
    "exponent": Raw("1e3"),
    "above-2-53": 2**53,
    "negative": -1,
}
_UNKNOWN_KINDS = {"unknown": "note", "upper-case": "Entry", "header": "header", "empty": ""}
_LONE_SURROGATE = {"lone-high-surrogate": "a\ud800b", "lone-low-surrogate": "\udc00"}


@dataclass(frozen=True)
class Fault:
    """One way to break a record of one kind; the kind is a question of the survey and a maker of the workbench."""

    kind: str
    name: str
    change: Callable[[Record], Record]


def records(bench: Workbench) -> Iterator[Damaged]:
    """Every record fault, at its first place and at the end."""
    for fault in faults():
        site = bench.survey.sites.get(fault.kind)
        name = f"{fault.kind.replace(' ', '-')}-{fault.name}"
        if site is not None:
            yield bench.corrupt(name, site.line, record_changed(site, fault.change), ["S-JSONL-FMT-10"])
        yield bench.corrupt_end(f"{name}-at-end", record_text(fault.change(_fresh(bench, fault.kind))), _AT_END)


_AT_END = ["S-JSONL-FMT-10", "S-JSONL-TAIL-06"]


def _fresh(bench: Workbench, kind: str) -> Record:
    makers: dict[str, Callable[[], Record]] = {
        "entry": bench.entry,
        "custom": bench.custom,
        "usage": bench.usage,
        "set": bench.value,
        "append": bench.element,
        "delete value": lambda: without("value", bench.value(op="delete")),
        "delete list": lambda: without("value", bench.element(op="delete")),
    }
    return makers[kind]()


def faults() -> Iterator[Fault]:
    """Every way to break a record."""
    for kind in ("entry", "custom", "usage", "set", "append", "delete value", "delete list"):
        yield from _fields(kind, "kind", {**NO_STRING, "null": None, **_UNKNOWN_KINDS})
        yield from _fields(kind, "seq", {**NO_INTEGER, "zero": 0})
    for kind in ("entry", "custom"):
        yield from _fields(kind, "id", {**NO_STRING, **_LONE_SURROGATE, "null": None})
        yield from _fields(kind, "parentId", {**NO_STRING, **_LONE_SURROGATE})
        yield from _fields(kind, "type", {**NO_STRING, **_LONE_SURROGATE, "null": None})
        yield from _fields(kind, "timestamp", NO_INTEGER)
    yield from _fields("custom", "customType", {**NO_STRING, **_LONE_SURROGATE, "null": None})
    yield Fault("entry", "custom-type-on-other-type", partial(having, {"customType": "weather"}))
    yield from _fields("usage", "id", {**NO_STRING, **_LONE_SURROGATE, "null": None})
    yield from _fields("usage", "adjustment", {"string": "false", "null": None, "number": 0})
    yield from _present("usage", "entryId", {**NO_STRING, **_LONE_SURROGATE, "null": None})
    yield from _usage_numbers()
    for kind in ("set", "append", "delete value", "delete list"):
        yield from _addresses(kind)
    yield from _operations()


def _fields(kind: str, field: str, values: dict[str, Json]) -> Iterator[Fault]:
    """A required field: missing, and with each of the values."""
    yield Fault(kind, f"without-{_dashed(field)}", partial(without, field))
    yield from _present(kind, field, values)


def _present(kind: str, field: str, values: dict[str, Json]) -> Iterator[Fault]:
    for name, value in values.items():
        yield Fault(kind, f"{_dashed(field)}-{name}", partial(having, {field: value}))


def _usage_numbers() -> Iterator[Fault]:
    yield from _fields("usage", "usage", {"null": None, "number": 7, "array": [], "empty": {}})
    yield Fault("usage", "without-cost", partial(_usage_changed, "cost", None))
    wrong: dict[str, Json] = {"null": None, "number": 7, "empty": {}}
    for name, cost in wrong.items():
        yield Fault("usage", f"cost-{name}", partial(_usage_changed, "cost", {"cost": cost}))
    for number in USAGE_NUMBERS:
        yield Fault("usage", f"without-number-{_dashed(number)}", partial(_usage_changed, number, None))
    for number in (*USAGE_NUMBERS, *OPTIONAL_USAGE_NUMBERS):
        for name, value in NO_NUMBER.items():
            change = partial(_usage_changed, number, {number: value})
            yield Fault("usage", f"number-{_dashed(number)}-{name}", change)
    for number in COST_NUMBERS:
        yield Fault("usage", f"without-cost-{_dashed(number)}", partial(_cost_changed, number, None))
        for name, value in NO_NUMBER.items():
            yield Fault("usage", f"cost-{_dashed(number)}-{name}", partial(_cost_changed, number, {number: value}))


def _addresses(kind: str) -> Iterator[Fault]:
    wrong = {**NO_STRING, **_LONE_SURROGATE, "null": None, "nul": "a\0b"}
    yield from _fields(kind, "namespace", {**wrong, "empty": ""})
    yield from _fields(kind, "key", wrong)


def _operations() -> Iterator[Fault]:
    foreign = {"set": "append", "append": "set", "delete value": "append", "delete list": "set"}
    for kind, other in foreign.items():
        names = {**NO_STRING, "null": None, "unknown": "replace", "of-the-other-kind": other, "upper-case": "Delete"}
        yield from _fields(kind, "op", names)
    for kind in ("set", "append"):
        yield Fault(kind, "without-value", partial(without, "value"))


def without(field: str, record: Record) -> Record:
    """The record without a field."""
    return {name: value for name, value in record.items() if name != field}


def having(fields: Record, record: Record) -> Record:
    """The record with other fields."""
    return record | fields


def _usage_changed(number: str, fields: Record | None, record: Record) -> Record:
    usage = without(number, record["usage"]) if fields is None else record["usage"] | fields
    return record | {"usage": usage}


def _cost_changed(number: str, fields: Record | None, record: Record) -> Record:
    cost = record["usage"]["cost"]
    cost = without(number, cost) if fields is None else cost | fields
    return record | {"usage": record["usage"] | {"cost": cost}}


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
