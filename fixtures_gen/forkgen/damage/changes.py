"""The tools that break a file: each takes the lines of a good one and gives the chunks of a damaged one."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from forkstore.contract.records import Record

from .source import Site
from .variant import Change

BYTE_ORDER_MARK = codecs.BOM_UTF8


class Raw(str):
    """JSON text that goes into a record as it stands, because no Python value would print so."""

    __slots__ = ()


def record_text(record: Record) -> bytes:
    """The JSON text of a record; `Raw` members stand as they are, lone surrogates as escapes."""
    members = (
        f"{_text(name)}:{member if isinstance(member, Raw) else _text(member)}" for name, member in record.items()
    )
    return ("{" + ",".join(members) + "}").encode()


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def line_changed(number: int, change: Callable[[bytes], bytes]) -> Change:
    """One line, its LF included, goes through a function; all others stay."""

    def changed(lines: Iterable[bytes]) -> Iterator[bytes]:
        for count, line in enumerate(lines, 1):
            yield change(line) if count == number else line

    return changed


def record_changed(site: Site, change: Callable[[Record], Record]) -> Change:
    """One record goes through a function that gives another; the rest of its line keeps its meaning."""

    def changed(line: bytes) -> bytes:
        value = json.loads(line)
        if site.index is None:
            return record_text(change(value)) + b"\n"
        value[site.index] = change(value[site.index])
        return b"[" + b",".join(map(record_text, value)) + b"]\n"

    return line_changed(site.line, changed)


def record_copied(site: Site, seq: int) -> Change:
    """One record comes again behind the last line, equal but for its sequence."""

    def changed(lines: Iterable[bytes]) -> Iterator[bytes]:
        copied = b""
        for count, line in enumerate(lines, 1):
            if count == site.line:
                value = json.loads(line)
                copied = record_text((value if site.index is None else value[site.index]) | {"seq": seq})
            yield line
        yield copied + b"\n"

    return changed


def each_line_changed(change: Callable[[bytes], bytes]) -> Change:
    """Every line goes through a function."""
    return lambda lines: map(change, lines)


def before_lf(inserted: bytes) -> Callable[[bytes], bytes]:
    """A function that puts bytes before the LF of a line."""
    return lambda line: line[:-1] + inserted + b"\n"


def prepended(*chunks: bytes) -> Change:
    """Bytes before the first line."""

    def changed(lines: Iterable[bytes]) -> Iterator[bytes]:
        yield from chunks
        yield from lines

    return changed


def appended(*chunks: bytes) -> Change:
    """Bytes behind the last line."""

    def changed(lines: Iterable[bytes]) -> Iterator[bytes]:
        yield from lines
        yield from chunks

    return changed


def cut(size: int) -> Change:
    """The first `size` bytes."""

    def changed(lines: Iterable[bytes]) -> Iterator[bytes]:
        left = size
        for line in lines:
            if not left:
                return
            kept = line[:left]
            left -= len(kept)
            yield kept

    return changed


def glued(again: Callable[[], Iterator[bytes]], before: bytes = b"") -> Change:
    """The file and, behind it, another one."""

    def changed(lines: Iterable[bytes]) -> Iterator[bytes]:
        yield from lines
        yield before
        yield from again()

    return changed


def recoded(encoding: str) -> Change:
    """The text of the file in another encoding; a byte-order mark only if the encoding itself writes one."""

    def changed(lines: Iterable[bytes]) -> Iterator[bytes]:
        encoder = codecs.getincrementalencoder(encoding)()
        for line in lines:
            yield encoder.encode(line.decode())

    return changed


def replaced_by(*chunks: bytes) -> Change:
    """Nothing of the file but these bytes."""
    return lambda _lines: iter(chunks)


def one_after_the_other(*changes: Change) -> Change:
    """Several changes, each on the lines that the one before gave; each must give whole lines but for the last."""

    def changed(lines: Iterable[bytes]) -> Iterator[bytes]:
        for change in changes:
            lines = change(lines)
        return iter(lines)

    return changed
