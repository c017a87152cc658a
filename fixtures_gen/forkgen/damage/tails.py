"""Torn tails: a file that ends in the middle of its last line (section 23, C-40)."""

from __future__ import annotations

from collections.abc import Iterator

from .changes import appended, cut, one_after_the_other, prepended, record_text
from .making import Workbench
from .variant import Damaged

_CLAUSES = ["S-JSONL-TAIL-01", "S-JSONL-TAIL-02", "S-JSONL-TAIL-04"]


def tails(bench: Workbench) -> Iterator[Damaged]:
    """Bytes without LF behind the good file, then the good file cut at every byte of its last line.

    A cut at byte 0 leaves no tail: the last transaction is simply not there. The last variant lacks the LF only.
    """
    yield from _more_than_the_file(bench)
    survey = bench.survey
    kept = survey.size - survey.last_line_size
    for byte in range(survey.last_line_size):
        name = f"torn-at-byte-{byte}"
        if survey.line_count == 1:
            yield bench.corrupt(name, 1, cut(kept + byte), ["S-JSONL-TAIL-05", "S-JSONL-FMT-06"])
        else:
            yield bench.opens_before(name, cut(kept + byte), _CLAUSES, repaired=byte > 0)


def _more_than_the_file(bench: Workbench) -> Iterator[Damaged]:
    whole = record_text(bench.value())
    for name, tail in {
        "whole-record": whole,
        "one-byte": b"{",
        "cut-letter": "früh".encode()[:3],
        "cut-number": b'{"kind":"value","op":"set","seq":12',
        "empty-array": b"[]",
        "spaces": b"  ",
        "cr": b"\r",
        "prose": b"not JSON at all",
        "header": b'{"v":5,"kind":"header"}',
        "malformed-utf8": b"\xff\xfe",
        "byte-order-mark": b"\xef\xbb\xbf",
    }.items():
        yield bench.opens(f"tail-{name}", appended(tail), _CLAUSES, repaired=True)
    marked = one_after_the_other(prepended(b"\xef\xbb\xbf"), appended(whole))
    yield bench.opens("tail-in-file-with-mark", marked, ["S-JSONL-TAIL-02", "S-JSONL-FMT-13"], repaired=True)
