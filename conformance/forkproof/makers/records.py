"""Records as chat programs really store them (sections 3 and 4.2): messages of every role, entries, usage rows, lane
values.
"""

from __future__ import annotations

from typing import Any

from forkstore.contract.records import ABSENT

Record = dict[str, Any]

MESSAGE_TIME = 1_650_000_000_000
SETTLED = ("stop", "length", "toolUse", "error", "aborted", "deferred")


def user_message(text: str) -> Record:
    """A question, as one text block."""
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": MESSAGE_TIME}


def assistant_message(text: str, *, stop_reason: str = "stop") -> Record:
    """An answer that thinks, speaks and calls a tool, with its spending."""
    return {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Überlege: ∑ der Beete ≤ 3 …"},
            {"type": "text", "text": text},
            {
                "type": "toolCall",
                "id": "call-1",
                "name": "read_sensor",
                "arguments": {"bed": "north", "limits": [0.1, 1e-9]},
            },
        ],
        "api": "messages",
        "provider": "benchmark",
        "model": "gärtner-1",
        "usage": usage(),
        "stopReason": stop_reason,
        "timestamp": MESSAGE_TIME + 1,
        "endTurn": True,
    }


def tool_result(text: str) -> Record:
    """What a tool gave, with nested details."""
    return {
        "role": "toolResult",
        "toolCallId": "call-1",
        "toolName": "read_sensor",
        "content": [{"type": "text", "text": text}, {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}],
        "isError": False,
        "details": {"readings": [[1, 2.5, -0.125], [], {"none": None}], "ok": True},
        "timestamp": MESSAGE_TIME + 2,
    }


def messages_of_every_role() -> dict[str, Record]:
    """One message per role of section 3.4, by role."""
    at = MESSAGE_TIME + 3
    return {
        "user": user_message("water the beans — 水をやる 🌱"),
        "assistant": assistant_message("done"),
        "toolResult": tool_result("moist\nand\ttabbed"),
        "custom": {"role": "custom", "customType": "note", "content": "by hand", "display": True, "timestamp": at},
        "branchSummary": {"role": "branchSummary", "summary": "the rainy path", "fromId": "e1", "timestamp": at},
        "compactionSummary": {"role": "compactionSummary", "summary": "beans", "tokensBefore": 310, "timestamp": at},
        "bashExecution": {
            "role": "bashExecution",
            "command": 'ls "$HOME"',
            "output": "a\u2028b\r\n",
            "exitCode": 0,
            "cancelled": False,
            "truncated": False,
            "timestamp": at,
        },
    }


def usage(**optional: float) -> Record:
    """A usage object with a small cost; `cacheWrite1h` and `reasoning` where asked for."""
    cost = {"input": 0.011, "output": 0.06, "cacheRead": 0.0, "cacheWrite": 0.001, "total": 0.072}
    return {"input": 11, "output": 6, "cacheRead": 5, "cacheWrite": 1, "totalTokens": 23, "cost": cost, **optional}


def message_entry(id: str, parent: str | None, text: str = "water the beans — 水をやる 🌱", **fields: Any) -> Record:
    """A new entry of type `message` with a user message, or with `message=` given."""
    message = fields.pop("message", None) or user_message(text)
    return {"id": id, "parentId": parent, "type": "message", "message": message, **fields}


def custom_entry(id: str, parent: str | None, custom_type: str = "weather", data: Any = ABSENT) -> Record:
    """A new entry of type `custom`; without `data` unless it is given."""
    entry = {"id": id, "parentId": parent, "type": "custom", "customType": custom_type}
    return entry if data is ABSENT else {**entry, "data": data}


def compaction_entry(id: str, parent: str | None) -> Record:
    """A new entry of type `compaction` with a retained tail, details and usage."""
    return {
        "id": id,
        "parentId": parent,
        "type": "compaction",
        "summary": "the beans were watered",
        "retainedTail": [user_message("and the peas?"), assistant_message("later")],
        "tokensBefore": 310,
        "fromHook": False,
        "details": {"files": ["bed.md"], "ratio": 0.25},
        "usage": usage(),
    }


def branch_summary_entry(id: str, parent: str | None, from_id: str | None = None) -> Record:
    """A new entry of type `branch_summary`."""
    return {
        "id": id,
        "parentId": parent,
        "type": "branch_summary",
        "fromId": from_id,
        "summary": "the rainy path",
        "fromHook": True,
    }


def usage_row(id: str, entry_id: str | None = None, **fields: Any) -> Record:
    """A new usage row. `usage=` replaces its numbers, `details=` and other fields are added."""
    row: Record = {
        "id": id,
        "usage": fields.pop("usage", None) or usage(),
        "adjustment": fields.pop("adjustment", False),
    }
    return {**row, **({} if entry_id is None else {"entryId": entry_id}), **fields}


def lane_configuration(thinking: str = "off") -> Record:
    """The configuration of a lane."""
    return {
        "model": {"provider": "benchmark", "modelId": "gärtner-1"},
        "thinkingLevel": thinking,
        "activeToolNames": ["read_sensor", "open_valve"],
    }


def idle_lane_state() -> Record:
    """The state of a lane that does nothing."""
    return {"currentOperationId": None, "lastOperationId": None, "inbox": []}


def busy_lane_state(operation: str = "op-1", *waiting: str) -> Record:
    """The state of a lane with an open operation and waiting inbox items."""
    inbox = [{"entryId": entry, "kind": "steer"} for entry in waiting or ("pending-1",)]
    return {"currentOperationId": operation, "lastOperationId": "op-0", "inbox": inbox}
