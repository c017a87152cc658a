"""Query parameters as SQLite takes them: of any size and any text, where SQLite has 64 bits and UTF-8."""

from __future__ import annotations

from typing import Final

from forkstore.contract.text import has_lone_surrogate

_LARGEST: Final = 2**63 - 1


def sequence(number: int) -> int:
    """A bound on sequences, brought into the range of SQLite, in which all sequences lie far from both ends."""
    return max(-_LARGEST, min(number, _LARGEST))


def limited(limit: int | None, count: int = 0) -> int:
    """The LIMIT of a statement, of which `count` rows are there already; -1 is none."""
    return -1 if limit is None else min(limit - count, _LARGEST)


def any_text(text: str) -> str | bytes:
    """A text to compare with. A lone surrogate, which no stored text holds, becomes a BLOB, which equals no text."""
    return text.encode(errors="surrogatepass") if has_lone_surrogate(text) else text


def after_prefix(prefix: str) -> str | None:
    """The smallest text above all texts that start with the prefix; None if there is none."""
    for end in range(len(prefix), 0, -1):
        last = ord(prefix[end - 1])
        if last < 0x10FFFF:
            return prefix[: end - 1] + chr(0xE000 if last == 0xD7FF else last + 1)
    return None
