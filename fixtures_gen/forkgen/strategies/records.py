"""Strategies of stored records: messages, new entries, usage rows (spec section 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from forkstore.contract.records import COST_NUMBERS, OPTIONAL_USAGE_NUMBERS, USAGE_NUMBERS, Record

from .names import draw_fresh_id, texts
from .sharing import built_once
from .values import json_values

SETTLED: Final = ("stop", "length", "toolUse", "error", "aborted", "deferred")
_TAKEN_NAMES: Final = frozenset(
    {
        *("id", "parentId", "seq", "timestamp", "kind", "type", "customType", "message", "terminate", "summary"),
        *("retainedTail", "tokensBefore", "fromId", "fromHook", "details", "usage", "data", "entryId", "adjustment"),
    }
)
"""Field names that mean something on an entry, on a usage row, or in the frame of a record on disk."""


def messages() -> SearchStrategy[Record]:
    """Messages of every role of section 3.4, all of them settled (S-SESS-10).

    >>> find(messages(), lambda message: True)
    {'role': 'user', 'content': '', 'timestamp': 0}
    >>> find(messages(), lambda message: message["role"] == "bashExecution")["exitCode"]
    0
    """
    return _messages()


def new_entries(parents: Collection[str] = (), *, taken: Collection[str] = ()) -> SearchStrategy[Record]:
    """New entries of all four types, some with fields that nobody knows (S-ENT-04).

    The parent is null or one of `parents`; the id is none of these and none of `taken`.

    >>> find(new_entries(["e0"]), lambda entry: entry["parentId"])
    {'id': 'e1', 'parentId': 'e0', 'type': 'message', 'message': {'role': 'user', 'content': '', 'timestamp': 0}}
    """
    return _new_entries(tuple(parents), frozenset((*parents, *taken)))


def usage_rows(entry_ids: Collection[str] = (), *, taken: Collection[str] = ()) -> SearchStrategy[Record]:
    """Usage rows whose id is none of `entry_ids` and none of `taken`; they name one of these entries, or one that does
    not exist (S-ENT-07), or none. Sums of any number of them stay within what can be stored.

    >>> find(usage_rows(), lambda row: True)["id"], find(usage_rows(), lambda row: row["adjustment"])["usage"]["input"]
    ('u0', 0)
    """
    return _usage_rows(tuple(entry_ids), frozenset((*entry_ids, *taken)))


def usage_objects() -> SearchStrategy[Record]:
    """Usage objects (spec section 3.3): whole and broken numbers, negative ones too, optional ones now and then.

    >>> find(usage_objects(), lambda usage: "reasoning" in usage)["cost"]
    {'input': 0, 'output': 0, 'cacheRead': 0, 'cacheWrite': 0, 'total': 0}
    """
    return _usage_objects()


def draw_new_entry(draw: DrawFn, parents: Sequence[str], taken: Collection[str]) -> Record:
    """A new entry, for strategies that draw step by step."""
    entry_id = draw_fresh_id(draw, taken, "e")
    return {"id": entry_id, "parentId": draw(st.sampled_from((None, *parents))), **draw(_entry_fields())}


def draw_usage_row(draw: DrawFn, entry_ids: Sequence[str], taken: Collection[str]) -> Record:
    """A usage row, for strategies that draw step by step."""
    row = {"id": draw_fresh_id(draw, taken, "u"), **draw(_usage_row_fields())}
    return row | {"entryId": draw(st.sampled_from((*entry_ids, "no such entry")))} if draw(st.booleans()) else row


_new_entries = st.composite(draw_new_entry)
_usage_rows = st.composite(draw_usage_row)


@built_once
def _messages() -> SearchStrategy[Record]:
    blocks = _blocks()
    return st.one_of(
        _plain_message(),
        _record(role="user", content=st.one_of(texts(), blocks), timestamp=_times()),
        _record(
            _optional(errorMessage=texts(), responseId=texts(), diagnostics=json_values(2), endTurn=st.booleans()),
            role="assistant",
            content=blocks,
            api="messages",
            provider="garden",
            model=texts(),
            usage=usage_objects(),
            stopReason=st.sampled_from(SETTLED),
            timestamp=_times(),
        ),
        _record(
            _optional(details=json_values(2)),
            role="toolResult",
            toolCallId=texts(),
            toolName=texts(),
            content=blocks,
            isError=st.booleans(),
            timestamp=_times(),
        ),
        _record(
            _optional(details=json_values(2)),
            role="custom",
            customType=texts(),
            content=texts(),
            display=st.booleans(),
            timestamp=_times(),
        ),
        _record(role="branchSummary", summary=texts(), fromId=st.none() | texts(), timestamp=_times()),
        _record(role="compactionSummary", summary=texts(), tokensBefore=st.integers(0, 9_000), timestamp=_times()),
        _record(
            role="bashExecution",
            command=texts(),
            output=texts(),
            exitCode=st.integers(0, 255),
            cancelled=st.booleans(),
            truncated=st.booleans(),
            timestamp=_times(),
        ),
    )


@built_once
def _entry_fields() -> SearchStrategy[Record]:
    """The fields of new entries beside id and parent."""
    summary: dict[str, Any] = {"summary": texts(), "fromHook": st.booleans()}
    opaque = _optional(details=json_values(), usage=usage_objects())
    return st.one_of(
        _record(type="message", message=_plain_message()),
        _record(_optional(terminate=True), type="message", message=messages()),
        _record(_optional(data=json_values()), type="custom", customType=texts()),
        _record(
            opaque,
            type="compaction",
            **summary,
            retainedTail=st.lists(messages(), max_size=2),
            tokensBefore=st.integers(0, 9_000),
        ),
        _record(opaque, type="branch_summary", **summary, fromId=st.none() | texts()),
        _record(_unknown(), type="custom", customType=texts()),
        _record(_unknown(), type="message", message=messages()),
    )


@built_once
def _usage_row_fields() -> SearchStrategy[Record]:
    """The fields of usage rows beside id and entry."""
    rest = st.one_of(_optional(), _optional(details=json_values(2)), _unknown())
    return _record(rest, usage=usage_objects(), adjustment=st.booleans())


@built_once
def _usage_objects() -> SearchStrategy[Record]:
    broken = st.floats(-1e9, 1e9, allow_nan=False)
    numbers = st.one_of(st.integers(0, 9_000), st.integers(-(2**40), 2**40), broken)
    return _record(
        _optional(**dict.fromkeys(OPTIONAL_USAGE_NUMBERS, numbers)),
        **dict.fromkeys(USAGE_NUMBERS, numbers),
        cost=_record(None, **dict.fromkeys(COST_NUMBERS, numbers)),
    )


def _plain_message() -> SearchStrategy[Record]:
    """The one message that all others shrink to: no choice is smaller than several."""
    return st.builds(lambda: {"role": "user", "content": "", "timestamp": 0})


def _times() -> SearchStrategy[int]:
    return st.integers(0, 2**41)


@built_once
def _blocks() -> SearchStrategy[list[Record]]:
    block = st.one_of(
        _record(type="text", text=texts()),
        _record(type="thinking", thinking=texts()),
        _record(type="image", data="aGVsbG8gYmVhbnM=", mimeType="image/png"),
        _record(type="toolCall", id=texts(), name=texts(), arguments=st.dictionaries(texts(), json_values(1))),
    )
    return st.lists(block, max_size=3)


@built_once
def _unknown() -> SearchStrategy[Record]:
    """Fields that the contract does not name."""
    names = st.one_of(st.just("x"), texts()).filter(lambda name: name not in _TAKEN_NAMES)
    return st.dictionaries(names, json_values(2), min_size=1, max_size=2)


def _optional(**fields: Any) -> SearchStrategy[Record]:
    """Any choice of the fields, none first."""
    return st.fixed_dictionaries({}, optional={name: _strategy(field) for name, field in fields.items()})


def _record(rest: SearchStrategy[Record] | None = None, **fields: Any) -> SearchStrategy[Record]:
    """An object of these fields in this order, each a strategy or the value itself, and then the rest."""
    record: SearchStrategy[Record] = st.fixed_dictionaries({name: _strategy(field) for name, field in fields.items()})
    return record if rest is None else st.builds(lambda first, more: {**first, **more}, record, rest)


def _strategy(field: Any) -> SearchStrategy[Any]:
    return field if isinstance(field, SearchStrategy) else st.just(field)
