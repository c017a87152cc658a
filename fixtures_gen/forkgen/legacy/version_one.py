"""One conversation in the versions 1, 2 and 3, and the step from 1 to 3 (appendix A.4).

Stores refuse versions 1 and 2; a tool that still has such files derives version 3 from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from forkgen.verdict import Verdict
from forkstore.contract.records import Record

from .outcome import LegacyFile, entry, lane, opens, tip
from .records import assistant_message, date, header, id_of, text_of, time_of, user_message

_SPENT: Final[Record] = {"input": 4, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 6} | {
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
}
_HOOK: Final[Record] = {"role": "hookMessage", "customType": "hint", "content": "small saw", "display": True}


def _unnumbered(number: int, kind: str, **fields: object) -> Record:
    return {"type": kind, "timestamp": date(time_of(number)), **fields}


def _header_one() -> Record:
    return {name: value for name, value in header().items() if name != "version"}


VERSION_ONE: Final[tuple[Record, ...]] = (
    _header_one(),
    _unnumbered(1, "model_change", provider="orchard", modelId="o-2"),
    _unnumbered(2, "thinking_level_change", thinkingLevel="medium"),
    _unnumbered(3, "message", message=user_message(3)),
    _unnumbered(4, "message", message={**_HOOK, "timestamp": time_of(4)}),
    _unnumbered(5, "message", message=assistant_message(5, _SPENT)),
    _unnumbered(6, "compaction", summary="pear pruned", firstKeptEntryIndex=4, tokensBefore=540),
    _unnumbered(7, "message", message=user_message(7)),
)
"""The conversation in version 1: a header without version, records without ids, a position in place of a name."""

FROM_THE_HEADER: Final[tuple[Record, ...]] = (
    *VERSION_ONE[:6],
    {**VERSION_ONE[6], "firstKeptEntryIndex": 0},
    VERSION_ONE[7],
)
"""The same, but the compaction keeps from the header on, for which version 3 has no name."""


def version_three(version_one: Sequence[Record]) -> Iterator[Record]:
    """The version 3 file of a version 1 file, record by record (appendix A.4).

    Ids are numbered, so that one file gives one file.
    """
    first, *records = version_one
    yield {"type": first["type"], "version": 3} | first
    for index, record in enumerate(records, 1):
        parent = None if index == 1 else id_of(index - 1)
        named = {"type": record["type"], "id": id_of(index), "parentId": parent} | record
        if "firstKeptEntryIndex" in named:
            kept = named.pop("firstKeptEntryIndex")
            named |= {"firstKeptEntryId": id_of(kept)} if kept else {}
        message = named.get("message")
        if isinstance(message, dict) and message.get("role") == "hookMessage":
            named["message"] = message | {"role": "custom"}
        yield named


def version_two() -> Iterator[Record]:
    """The conversation in version 2: named records as in version 3, the message role still as in version 1."""
    for old, record in zip(VERSION_ONE, version_three(VERSION_ONE), strict=True):
        if record["type"] == "session":
            yield record | {"version": 2}
        else:
            yield record | {"message": old["message"]} if "message" in old else record


def derived_files() -> Iterator[LegacyFile]:
    """The conversation in version 3, with what a store makes of it."""
    hook = {**_HOOK, "role": "custom", "timestamp": time_of(4)}
    answer = assistant_message(5, _SPENT)
    pruned = {"summary": "pear pruned", "tokensBefore": 540, "fromHook": False}
    entries = [
        entry(1, 3, None, "message", message=user_message(3)),
        entry(2, 4, 3, "message", message=hook),
        entry(3, 5, 4, "message", message=answer),
        entry(4, 6, 5, "compaction", retainedTail=[hook, answer], **pruned),
        entry(5, 7, 6, "message", message=user_message(7)),
    ]
    contents = text_of(*version_three(VERSION_ONE))
    clauses = "S-V3-08 S-V3-11 S-V3-14"
    yield opens("derived-from-version-1", [], entries, [tip(7), *lane()], clauses, _SPENT, contents=contents)
    contents = text_of(*version_three(FROM_THE_HEADER))
    name = "derived-from-version-1-keeping-the-header"
    yield LegacyFile(name, Verdict.CORRUPT, contents, ("S-V3-12",), named=id_of(6))
