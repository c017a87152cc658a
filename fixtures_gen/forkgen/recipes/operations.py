"""A lane in the middle of its work: an operation is open, others have ended.

    0 ── 1 ── … ── 9 ── 10 ── … ── n−1   main     state: operation open, inbox: 4 waiting
    └─ operation 0 ─┘└─ operation 1 …             ended: its rows are deleted, its result stays

    open operation:  meta · state · arguments of 2 × 2 tool calls · 3 memos · preparation
                     4 pending entries · 1 tool output · a list of 5 assistant frames

Nothing of the work reaches a fork; the conversation does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import (
    MESSAGE_TIME,
    busy_state,
    json_value,
    lane_configuration,
    sentence,
    text_block,
    tool_result,
    user_message,
)
from forkgen.plan import Elements, Plan, Scalar, Transaction, in_order, lane_rows, merged
from forkgen.random import Generator
from forkgen.tree import numbered
from forkstore.contract.addresses import (
    Address,
    lane_state,
    operation_meta,
    operation_preparation,
    operation_result,
    operation_state,
    operation_tool_args,
    operation_tool_memo,
    pending_assistant_frames,
    pending_entry,
    pending_tool_output,
)
from forkstore.contract.records import Json, Record
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet

_SPAN: Final = 10
_FRAMES: Final = 5
_STAGES: Final = ("starting", "assistant.ready", "assistant.effect_pending", "tools", "checkpoint")


class Operations(Plan):
    """An open operation with pending entries, frames, checkpoints and memos; ended ones with their results."""

    name = "operations"

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        for number in range(self._ended):
            first = number * _SPAN
            yield [*self._begun(number), ValueSet(lane_state(self.home), busy_state(_id(number), None, []))]
            for index in range(first, min(first + _SPAN, self.entries.count)):
                stage = _STAGES[index % len(_STAGES)]
                yield [*self.append(index), ValueSet(operation_state(_id(number)), self._stage(stage, index))]
            yield self._end(number)
        yield self._begun(self._ended)
        yield [ValueSet(lane_state(self.home), self._busy())]
        yield [ListAppend(_frames(self._ended), frame) for frame in self._frames(self._ended)]

    def scalars(self) -> Iterator[Scalar]:
        rows = [*lane_rows(self.home, self.last_id, None, self._busy()), *self._work(self._ended)]
        results = ((operation_result(_id(number)), self._result(number)) for number in range(self._ended))
        return merged(in_order(rows), results)

    def lists(self) -> Iterator[Elements]:
        yield _frames(self._ended), iter(self._frames(self._ended))

    def touched_lists(self) -> Iterator[Address]:
        return map(_frames, range(self._ended + 1))

    @property
    def _ended(self) -> int:
        """How many operations have ended, which is also the number of the open one."""
        return -(-self.entries.count // _SPAN)

    def _begun(self, number: int) -> Transaction:
        work: Transaction = [ValueSet(address, value) for address, value in self._work(number)]
        return [*work, ListAppend(_frames(number), "a first frame"), ListDelete(_frames(number))]

    def _end(self, number: int) -> Transaction:
        """The frames come and go within the operation; its rows go, the result stays."""
        frames = [ListAppend(_frames(number), frame) for frame in self._frames(number)]
        gone: Transaction = [ValueDelete(address) for address, _ in self._work(number)]
        idle = ValueSet(lane_state(self.home), busy_state(_id(number), _id(number), []))
        result = ValueSet(operation_result(_id(number)), self._result(number))
        return [*frames, ListDelete(_frames(number)), *gone, idle, result]

    def _work(self, number: int) -> list[Scalar]:
        """The rows of an operation while it is open."""
        operation, draw = _id(number), self.random.split("work").child(number)
        rows: list[Scalar] = [
            (operation_meta(operation), self._meta(number)),
            (operation_state(operation), self._stage("tools", number)),
            (operation_preparation(operation, "tidy"), _preparation(draw)),
            (pending_tool_output(operation, "call-1"), tool_result(draw, 1)),
        ]
        rows += [
            (operation_tool_args(operation, step, source), {"bed": sentence(draw), "source": source})
            for step in range(2)
            for source in range(2)
        ]
        memos = ("seen", "tried", "wörtlich: später")
        rows += [(operation_tool_memo(operation, "call-1", memo), json_value(draw)) for memo in memos]
        for place, waiting in enumerate(self._waiting(number)):
            body: Record = {"type": "custom", "customType": "weather"}
            if place % 3:
                body = {"type": "message", "payload": user_message(sentence(draw), place)}
            rows.append((pending_entry(waiting), body))
        return rows

    def _waiting(self, number: int) -> list[str]:
        return [f"{_id(number)}-waiting-{place}" for place in range(4)]

    def _busy(self) -> Record:
        return busy_state(_id(self._ended), _id(self._ended - 1), self._waiting(self._ended))

    def _meta(self, number: int) -> Record:
        tip = self.entries.id(number * _SPAN - 1) if number and number * _SPAN <= self.entries.count else None
        return {
            "operationId": _id(number),
            "lane": self.home,
            "sourceTipId": tip,
            "startedAt": MESSAGE_TIME + number,
            "intent": {"kind": "run"},
        }

    def _stage(self, stage: str, index: int) -> Record:
        return {
            "at": stage,
            "control": {"step": index % 3},
            "settings": lane_configuration(),
            "latestAssistantEntryId": None,
        }

    def _result(self, number: int) -> Record:
        draw = self.random.split("results").child(number)
        result = {
            "operationId": _id(number),
            "kind": draw.choice(("run", "compaction", "navigation")),
            "status": draw.choice(("completed", "declined", "aborted", "failed")),
            "fromTipId": None,
            "tipId": self.entries.id(min(number * _SPAN + _SPAN, self.entries.count) - 1),
            "startedAt": MESSAGE_TIME + number,
            "endedAt": MESSAGE_TIME + number + draw.below(9_000),
        }
        return result | {"error": "no water"} if result["status"] == "failed" else result

    def _frames(self, number: int) -> list[Json]:
        draw = self.random.split("frames").child(number)
        return [{"index": frame, "delta": text_block(sentence(draw))} for frame in range(_FRAMES)]


def _id(number: int) -> str:
    return numbered("operation-", number)


def _frames(number: int) -> Address:
    return pending_assistant_frames(_id(number), f"{_id(number)}-response")


def _preparation(draw: Generator) -> Record:
    return {
        "kind": "compaction",
        "messagesToSummarize": [user_message(sentence(draw), 0)],
        "turnPrefixMessages": [],
        "fileOps": {"read": ["beds.md"], "edited": []},
        "tokensBefore": draw.below(9_000),
    }
