"""Odd lines and payloads: JSON that is none, JSON that a commit would not write, unknown fields and types (22.3, C-50).

What is right here shows the record that a reader must see; what is wrong is corruption in its line.
"""

from __future__ import annotations

from collections.abc import Iterator

from forkstore.contract.records import Json, zero_usage

from .changes import Raw, line_changed, record_text
from .making import Workbench
from .variant import Damaged

_CLAUSES = ["S-JSONL-FMT-10"]
_DEEPEST = 210
_MOST_DIGITS = 4300

_NO_JSON = {
    "nan": "NaN",
    "infinity": "Infinity",
    "minus-infinity": "-Infinity",
    "raw-tab": '"a\tb"',
    "raw-escape": '"a\x1bb"',
    "raw-cr": '"a\rb"',
    "unknown-escape": r'"\x41"',
    "cut-escape": r'"\u00"',
    "unclosed-text": '"a',
    "leading-zero": "01",
    "leading-plus": "+1",
    "leading-point": ".5",
    "trailing-point": "5.",
    "bare-exponent": "1e",
    "bare-minus": "-",
    "hexadecimal": "0x10",
    "underscore": "1_000",
    "trailing-comma": "[1,]",
    "missing-comma": "[1 2]",
    "single-quotes": "'a'",
    "bare-name": "{a:1}",
    "upper-case-literal": "True",
    "undefined": "undefined",
    "comment": "1/*one*/",
    "byte-order-mark": "\ufeff1",
    "nothing": "",
}
"""Texts of a value that the strict grammar does not have."""

_BEYOND = {
    "float-overflow": "1e400",
    "negative-float-overflow": "-1E+400",
    "float-just-beyond": "1.7976931348623159e308",
    "integer-too-long": "9" * (_MOST_DIGITS + 1),
    "negative-integer-too-long": "-" + "9" * (_MOST_DIGITS + 1),
    "integer-too-long-in-object": '{"a":[' + "1" * (_MOST_DIGITS + 1) + "]}",
    "array-too-deep": "[" * (_DEEPEST + 1) + "]" * (_DEEPEST + 1),
    "object-too-deep": '{"a":' * _DEEPEST + "{}" + "}" * _DEEPEST,
    "far-too-deep": "[" * 100_000 + "]" * 100_000,
}
"""Texts that are JSON, but corruption as a payload (S-VAL-17)."""


def _nested(depth: int) -> list[Json]:
    value: list[Json] = []
    for _ in range(depth - 1):
        value = [value]
    return value


_ODD: dict[str, tuple[str, Json]] = {
    "lone-surrogates": (r'"\ud800a\udc00"', "\ud800a\udc00"),
    "lone-surrogate-in-name": (r'{"\ud83d":1}', {"\ud83d": 1}),
    "surrogate-pair": (r'"\ud83c\udf31"', "🌱"),
    "escapes": (r'"\u0061\/\b\f\n\r\t\"\\\u0000"', 'a/\b\f\n\r\t"\\\0'),
    "raw-delete": ('"a\x7fb"', "a\x7fb"),
    "integer-2-53": ("9007199254740993", 9007199254740993),
    "integer-2-63": ("9223372036854775808", 2**63),
    "integer-below-2-63": ("-9223372036854775809", -(2**63) - 1),
    "integer-of-many-digits": ("9" * _MOST_DIGITS, 10**_MOST_DIGITS - 1),
    "float-in-odd-notation": ("[2.50,1E5,1e-7,0.10e+1]", [2.5, 100000.0, 1e-7, 1.0]),
    "float-greatest": ("1.7976931348623157e308", 1.7976931348623157e308),
    "doubled-names": ('{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
    "spaces-between-tokens": ('[ 1 ,\t{ "a" : 2 }\r]', [1, {"a": 2}]),
    "null": ("null", None),
    "deep": ("[" * _DEEPEST + "]" * _DEEPEST, _nested(_DEEPEST)),
}
"""Texts of a value and what they say: read as they stand (S-VAL-15, S-VAL-16)."""


def payloads(bench: Workbench) -> Iterator[Damaged]:
    """Every odd line and payload."""
    yield from _lines(bench)
    yield from _values(bench)
    yield from _unknown_parts(bench)


def _lines(bench: Workbench) -> Iterator[Damaged]:
    value = record_text(bench.value())
    wrong = {
        "number": b"7",
        "text": b'"text"',
        "null": b"null",
        "true": b"true",
        "array-of-numbers": b"[1]",
        "array-with-null": b"[" + value + b",null]",
        "array-of-arrays": b"[[" + value + b"]]",
        "two-values": value + b" " + value,
        "array-without-end": b"[" + value,
        "array-trailing-comma": b"[" + value + b",]",
        "broken-object": value[:-1],
        "empty-object": b"{}",
        "prose": b"the beans were watered",
    }
    for name, line in wrong.items():
        yield bench.corrupt_end(f"line-{name}", line, [*_CLAUSES, "S-JSONL-TAIL-06"])
    empty_end = line_changed(bench.survey.line_count, lambda line: line + b"[]\n")
    yield bench.opens("line-empty-array-at-end", empty_end, ["S-JSONL-FMT-02"])
    empty_second = line_changed(1, lambda line: line + b"[]\n[ ]\n")
    yield bench.opens("line-empty-arrays-second", empty_second, ["S-JSONL-FMT-02", "S-JSONL-FORK-11"])
    yield bench.opens_with("line-array-of-one", b"[" + value + b"]", [bench.value()], ["S-JSONL-FMT-02"])
    spaced = value.replace(b":", b" : ").replace(b",", b" ,\t")
    yield bench.opens_with("line-spaces-between-tokens", b" " + spaced + b"\r", [bench.value()], ["S-JSONL-FMT-03"])
    doubled = value.replace(b'"seq":', b'"seq":0,"key":7,"seq":')
    yield bench.opens_with("line-doubled-structural-names", doubled, [bench.value()], ["S-VAL-15"])
    backwards = dict(reversed(bench.value().items()))
    yield bench.opens_with_record("line-fields-reversed", backwards, ["S-JSONL-FMT-08"])


def _values(bench: Workbench) -> Iterator[Damaged]:
    for name, text in _NO_JSON.items():
        yield bench.corrupt_end(f"json-{name}", record_text(bench.value(Raw(text))), _CLAUSES)
    for name, text in _BEYOND.items():
        for kind, record in {
            "value": bench.value(Raw(text)),
            "element": bench.element(Raw(text)),
            "entry": bench.custom(data=Raw(text)),
            "usage-row": bench.usage(details=Raw(text)),
        }.items():
            yield bench.corrupt_end(f"beyond-{name}-in-{kind}", record_text(record), ["S-VAL-17"])
    for name, (text, value) in _ODD.items():
        clauses = ["S-VAL-15", "S-VAL-16"]
        yield bench.opens_with(f"odd-{name}-value", record_text(bench.value(Raw(text))), [bench.value(value)], clauses)
        entry = record_text(bench.custom(data=Raw(text)))
        yield bench.opens_with(f"odd-{name}-entry", entry, [bench.custom(data=value)], clauses)
    tail = _compaction(bench, [{"role": "user", "content": _nested(_DEEPEST - 1), "timestamp": 0}])
    yield bench.opens_with_record("odd-deep-retained-tail", tail, ["S-VAL-17"])


def _compaction(bench: Workbench, tail: Json) -> dict[str, Json]:
    fields = {"summary": "raked", "retainedTail": tail, "tokensBefore": 310, "fromHook": False}
    entry = bench.entry(type="compaction")
    del entry["message"]
    return entry | fields


def _unknown_parts(bench: Workbench) -> Iterator[Damaged]:
    unknown = {"note": {"deep": [None, 1.5]}, "": "no name"}
    yield bench.opens_with_record("unknown-fields-on-entry", bench.entry() | unknown, ["S-JSONL-FMT-08", "S-ENT-04"])
    yield bench.opens_with_record("unknown-fields-on-usage-row", bench.usage() | unknown, ["S-JSONL-FMT-08"])
    more = zero_usage() | {"cacheWrite1h": 4, "reasoning": 2.5, "note": "x"}
    yield bench.opens_with_record("unknown-fields-in-usage", bench.usage(usage=more), ["S-JSONL-FMT-08"])
    for name, kind in {
        "unknown-entry-type": "forecast",
        "empty-entry-type": "",
        "entry-type-in-capitals": "Message",
    }.items():
        entry = bench.entry(type=kind, forecast=["rain", 0.25])
        yield bench.opens_with_record(name, entry, ["S-JSONL-FMT-09"])
    child = bench.entry(1, parentId=bench.entry()["id"])
    line = b"[" + record_text(bench.entry(type="forecast")) + b"," + record_text(child) + b"]"
    yield bench.opens_with(
        "unknown-entry-type-as-parent", line, [bench.entry(type="forecast"), child], ["S-JSONL-FMT-09"]
    )
    yield bench.opens_with_record("data-null", bench.custom(data=None), ["S-ENT-05"])
    for namespace in ("pi", "pi.unknown", "pi.op", "pi2.events"):
        record = bench.value(namespace=namespace)
        yield bench.opens_with_record(f"namespace-{namespace}", record, ["S-ADDR-06", "S-FORK-CLS-08"])
    wrong_kind = bench.element(namespace="pi.branch.tip", key="main")
    yield bench.opens_with_record("tip-as-list", wrong_kind, ["S-ADDR-06", "S-FORK-CLS-06"])
