"""Damage to lines and bytes, whatever they say: marks, line ends, NUL runs, encodings, glue, length (section 22.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from .changes import (
    BYTE_ORDER_MARK,
    appended,
    before_lf,
    cut,
    each_line_changed,
    glued,
    line_changed,
    one_after_the_other,
    prepended,
    recoded,
    record_text,
    replaced_by,
)
from .making import Workbench
from .variant import Damaged

NUL_RUN = bytes(4096)
WHITE_SPACE = b" \t\r\n"
"""What JSON allows between two tokens."""
_SEPARATORS = {
    "line-tabulation": "\v",
    "form-feed": "\f",
    "file-separator": "\x1c",
    "next-line": "\x85",
    "line-separator": "\u2028",
    "paragraph-separator": "\u2029",
    "no-break-space": "\xa0",
}


def framing(bench: Workbench) -> Iterator[Damaged]:
    """Every damage to the framing but torn tails."""
    yield from _byte_order_marks(bench)
    yield from _line_ends(bench)
    yield from _encodings(bench)
    yield from _nul_runs(bench)
    yield from _broken_lines(bench)
    yield from _glue(bench)
    yield from _long_lines(bench)


def _byte_order_marks(bench: Workbench) -> Iterator[Damaged]:
    clauses = ["S-JSONL-FMT-13"]
    yield bench.opens("mark-at-start", prepended(BYTE_ORDER_MARK), clauses)
    yield bench.corrupt("mark-twice-at-start", 1, prepended(BYTE_ORDER_MARK * 2), clauses)
    yield bench.corrupt("mark-behind-header", 1, line_changed(1, before_lf(BYTE_ORDER_MARK)), clauses)
    for place, number in _lines_to_break(bench):
        marked = line_changed(number, lambda line: BYTE_ORDER_MARK + line)
        yield bench.corrupt(f"mark-at-{place}-line", number, marked, clauses)
    yield bench.opens_with_record("mark-in-text", bench.value("\ufeffdry\ufeff"), clauses)


def _lines_to_break(bench: Workbench) -> Iterator[tuple[str, int]]:
    """The second, the middle and the last line, as far as they differ."""
    count = bench.survey.line_count
    places = {"second": 2, "middle": (count + 2) // 2, "last": count}
    taken: set[int] = set()
    for place, number in places.items():
        if 2 <= number <= count and number not in taken:
            taken.add(number)
            yield place, number


def _line_ends(bench: Workbench) -> Iterator[Damaged]:
    clauses = ["S-JSONL-FMT-03"]
    yield bench.opens("line-ends-crlf", each_line_changed(before_lf(b"\r")), clauses)
    yield bench.opens("line-ends-with-spaces", each_line_changed(before_lf(b" \t\r ")), clauses)
    yield bench.opens("line-starts-with-spaces", each_line_changed(lambda line: b" \t\r" + line), clauses)
    yield bench.corrupt(
        "line-ends-cr", 1, each_line_changed(lambda line: line[:-1] + b"\r"), [*clauses, "S-JSONL-TAIL-05"]
    )
    inside = "".join(_SEPARATORS.values()).replace("\v", "").replace("\f", "").replace("\x1c", "")
    yield bench.opens_with_record("separators-in-text", bench.value(f"a{inside}b\v\f\x1c\r\n\0"), clauses)
    for name, separator in _SEPARATORS.items():
        line = separator.encode() + record_text(bench.value())
        yield bench.corrupt_end(f"separator-outside-text-{name}", line, ["S-JSONL-FMT-10", *clauses])
    for name, blank in {"": b"", "-of-spaces": b" \t ", "-of-cr": b"\r"}.items():
        yield bench.corrupt_end(f"blank-line{name}-at-end", blank, ["S-JSONL-FMT-10"])
    blank_second = line_changed(1, lambda line: line + b"\n")
    yield bench.corrupt("blank-line-second", 2, blank_second, ["S-JSONL-FMT-10"])


def _encodings(bench: Workbench) -> Iterator[Damaged]:
    clauses = ["S-JSONL-FMT-10", "S-JSONL-FMT-06"]
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        yield bench.corrupt(f"encoded-{encoding}", 1, recoded(encoding), clauses)
    malformed = {
        "stray-continuation": b"\x80",
        "stray-ff": b"\xff",
        "overlong": b"\xc0\xaf",
        "surrogate": b"\xed\xa0\x80",
        "beyond-unicode": b"\xf4\x90\x80\x80",
        "cut-letter": b"\xe6\xb0",
        "latin-1": "grün".encode("latin-1"),
    }
    text = record_text(bench.value("@"))
    for name, octets in malformed.items():
        yield bench.corrupt_end(f"malformed-utf8-{name}", text.replace(b'"@"', b'"%b"' % octets), ["S-JSONL-FMT-10"])


def _nul_runs(bench: Workbench) -> Iterator[Damaged]:
    clauses = ["S-JSONL-FMT-10"]
    for place, number in _lines_to_break(bench):
        yield bench.corrupt(f"nul-run-before-{place}-line", number, line_changed(number, _nul_before), clauses)
        yield bench.corrupt(f"nul-run-inside-{place}-line", number, line_changed(number, _nul_inside), clauses)
        yield bench.corrupt(f"nul-run-instead-of-{place}-line", number, line_changed(number, _nul_instead), clauses)
    yield bench.corrupt_end("nul-run-at-end", NUL_RUN, clauses)
    tail = ["S-JSONL-TAIL-01", "S-JSONL-TAIL-02"]
    yield bench.opens("nul-run-as-torn-tail", appended(NUL_RUN), tail, repaired=True)


def _nul_before(line: bytes) -> bytes:
    return NUL_RUN + line


def _nul_instead(line: bytes) -> bytes:
    return bytes(len(line) - 1) + b"\n"


def _nul_inside(line: bytes) -> bytes:
    middle = len(line) // 2
    return line[:middle] + NUL_RUN + line[middle:]


_BREAKING = {
    "flipped-byte-structure": lambda text: bytes([text[0] ^ 1]) + text[1:],
    "flipped-byte-utf8": lambda text: text[:1] + bytes([text[1] | 0x80]) + text[2:],
    "lost-last-byte": lambda text: text[:-1],
    "lost-second-half": lambda text: text[: len(text) // 2],
    "lost-first-byte": lambda text: text[1:],
}
"""What makes any JSON object or array no JSON text."""


def _broken_lines(bench: Workbench) -> Iterator[Damaged]:
    clauses = ["S-JSONL-FMT-10", "S-JSONL-TAIL-06"]
    for place, number in _lines_to_break(bench):
        for name, breaking in _BREAKING.items():
            broken = line_changed(number, partial(_text_changed, breaking))
            yield bench.corrupt(f"{name}-in-{place}-line", number, broken, clauses)
    if bench.survey.line_count > 2:
        yield bench.corrupt("line-end-lost-in-second-line", 2, line_changed(2, lambda line: line[:-1]), clauses)


def _text_changed(change: Callable[[bytes], bytes], line: bytes) -> bytes:
    return change(line.strip(WHITE_SPACE)) + b"\n"


def _glue(bench: Workbench) -> Iterator[Damaged]:
    again, end = bench.survey.lines, bench.survey.end
    clauses = ["S-JSONL-FMT-10"]
    yield bench.corrupt("glued-to-itself", end, glued(again), clauses)
    yield bench.corrupt("glued-to-itself-with-mark", end, glued(again, BYTE_ORDER_MARK), [*clauses, "S-JSONL-FMT-13"])
    if bench.survey.line_count > 1:
        torn = one_after_the_other(cut(bench.survey.size - 2), glued(again))
        yield bench.corrupt("glued-to-itself-torn", end - 1, torn, clauses)
        last_twice = line_changed(end - 1, lambda line: line + line)
        if bench.survey.last_seq > bench.survey.last_seq_before:
            yield bench.corrupt("last-line-twice", end, last_twice, ["S-JSONL-FMT-11"])
    legacy = b'{"type":"session","version":3,"id":"shed-7","timestamp":"2025-10-09T08:53:20.000Z","cwd":"/srv/garden"}'
    yield bench.corrupt_end("glued-to-legacy-header", legacy, clauses)
    yield bench.corrupt("empty-file", 1, replaced_by(), ["S-JSONL-FMT-06", "S-JSONL-TAIL-05"])


def _long_lines(bench: Workbench) -> Iterator[Damaged]:
    text = "gravel " * 40_000
    yield bench.opens_with_record("long-line", bench.value(text), ["S-VAL-13"])
    yield bench.corrupt_end("long-line-broken", record_text(bench.value(text))[:-1], ["S-JSONL-FMT-10"])
    tail = record_text(bench.value(text))
    yield bench.opens("long-torn-tail", appended(tail), ["S-JSONL-TAIL-01", "S-JSONL-TAIL-02"], repaired=True)
    padded = line_changed(1, before_lf(b" " * 70_000))
    yield bench.opens("long-header", padded, ["S-REPO-14"])
