"""Damaged session files, each with the verdict of a right store (spec sections 22.1, 22.3, 23; appendix C).

`damage` takes a good file of format 4 and gives every variant of it: byte-order marks, line ends, encodings, NUL runs,
headers, every check on records, broken histories, odd payloads, and last the file torn at every byte of its last
transaction. The file is read line by line, once to survey it and once per variant that is asked for its bytes, so
memory is a few times its longest line, whatever its size.

    header ───────────────── header-…        fields, versions, bytes of line 1
    line 2 ───────────────── …-second-line   damaged early: everything behind it must not be read past it
    …
    line n ── torn-at-byte-0 … torn-at-byte-k
    line n + 1 ───────────── …-at-end        one more line, complete and wrong, or right and odd
"""

from __future__ import annotations

from collections.abc import Iterator

from forkgen.verdict import Verdict

from .framing import framing
from .headers import headers
from .history import history
from .making import Workbench
from .payloads import payloads
from .records import records
from .source import NotAGoodFile, Source, survey
from .tails import tails
from .variant import Damaged

__all__ = ["Damaged", "NotAGoodFile", "Source", "Verdict", "damage"]


def damage(source: Source) -> Iterator[Damaged]:
    r"""Every variant of a good file, in a fixed order, under names that are unique; torn tails come last.

    `source` is a path, the bytes, or chunks of bytes. Chunks that can be iterated only once go through a temporary
    file. The source must stay as it is while variants are read. Raises NotAGoodFile and OSError on the first step.

    >>> good = b'{"v":4,"kind":"header","id":"a","storageVersion":1,"createdAt":0,"cwd":"/srv/garden"}\n'
    >>> variants = {variant.name: variant for variant in damage(good)}
    >>> variants["empty-file"].verdict, variants["empty-file"].line
    (<Verdict.CORRUPT: 'corrupt'>, 1)
    >>> b"".join(variants["torn-at-byte-5"].chunks())
    b'{"v":'
    """
    bench = Workbench(survey(source))
    for room in (framing, headers, records, history, payloads, tails):
        yield from room(bench)
