"""What the generated records say: messages of every role, entries of every type, usage, lane values (spec sections 3
and 4.2). Made-up gardens; shapes as chat programs store them.

Every function builds a fresh object from the generator it is given, so that a caller may change what he got.
"""

from __future__ import annotations

from typing import Final

from forkstore.contract.records import Json, Record

from .random import Generator

MESSAGE_TIME: Final = 1_650_000_000_000
"""Timestamp of the first message of every session, Unix milliseconds; each further entry is a second later."""
DIGITS: Final = 8
"""Width of the index in generated ids and keys, so that their order is the order of their indexes up to 10^8."""

_BEDS: Final = (
    "north bed",
    "herb spiral",
    "cold frame",
    "pond edge",
    "bean row",
    "long border",
    "seed tray",
    "orchard",
)
_DEEDS: Final = ("water", "weed", "mulch", "thin out", "stake", "harvest", "net", "sow again")
_SIGNS: Final = ("dry", "moist", "in flower", "full of snails", "ready", "late", "shaded", "— wie üblich — fein 🌱")
_TOOLS: Final = ("read_sensor", "open_valve", "list_beds", "forecast")
_STOPS: Final = ("stop", "stop", "toolUse", "length", "error", "aborted", "deferred")
THINKING_LEVELS: Final = ("off", "minimal", "low", "medium", "high", "xhigh", "max")


def sentence(draw: Generator) -> str:
    """One plain sentence."""
    number = draw.next()
    deed, bed, sign = _DEEDS[number & 7], _BEDS[number >> 3 & 7], _SIGNS[number >> 6 & 7]
    return f"{deed} the {bed}: {sign}, {number >> 9 & 63} litres"


def text_block(text: str) -> Record:
    """A text block."""
    return {"type": "text", "text": text}


def user_message(text: str, index: int) -> Record:
    """A question, as one text block."""
    return {"role": "user", "content": [text_block(text)], "timestamp": MESSAGE_TIME + index * 1_000}


def message(draw: Generator, index: int) -> Record:
    """A message of a conversation: the roles follow each other as in one, by index."""
    return _ROLES[index % len(_ROLES)](draw, index)


def _question(draw: Generator, index: int) -> Record:
    return user_message(sentence(draw), index)


def _plain_question(draw: Generator, index: int) -> Record:
    return {"role": "user", "content": sentence(draw), "timestamp": MESSAGE_TIME + index * 1_000}


def _picture(draw: Generator, index: int) -> Record:
    picture = {"type": "image", "data": "aGVsbG8gYmVhbnM=", "mimeType": "image/png"}
    return {
        "role": "user",
        "content": [text_block(sentence(draw)), picture],
        "timestamp": MESSAGE_TIME + index * 1_000,
    }


def _answer(draw: Generator, index: int) -> Record:
    stop = draw.choice(_STOPS)
    content = [{"type": "thinking", "thinking": f"Überlege: {sentence(draw)} …"}, text_block(sentence(draw))]
    if stop == "toolUse":
        content.append(_tool_call(draw, index))
    answer = {
        "role": "assistant",
        "content": content,
        "api": "messages",
        "provider": "garden",
        "model": "gärtner-1",
        "usage": usage(draw),
        "stopReason": stop,
        "timestamp": MESSAGE_TIME + index * 1_000,
    }
    return answer | {"errorMessage": "no water"} if stop == "error" else answer


def _tool_call(draw: Generator, index: int) -> Record:
    arguments = {"bed": draw.choice(_BEDS), "limits": [draw.below(100) / 8, 1e-9]}
    return {"type": "toolCall", "id": f"call-{index}", "name": draw.choice(_TOOLS), "arguments": arguments}


def tool_result(draw: Generator, index: int) -> Record:
    """What a tool gave."""
    return {
        "role": "toolResult",
        "toolCallId": f"call-{index - 1}",
        "toolName": draw.choice(_TOOLS),
        "content": [text_block(f"{sentence(draw)}\nand\ttabbed")],
        "isError": draw.chance(1, 8),
        "details": {"readings": [[draw.below(9), draw.below(9) / 4, -0.125], [], {"none": None}], "ok": True},
        "timestamp": MESSAGE_TIME + index * 1_000,
    }


def _note(draw: Generator, index: int) -> Record:
    return {
        "role": "custom",
        "customType": "note",
        "content": sentence(draw),
        "display": draw.chance(1, 2),
        "timestamp": MESSAGE_TIME + index * 1_000,
    }


def _command(draw: Generator, index: int) -> Record:
    return {
        "role": "bashExecution",
        "command": 'ls "$BEDS"',
        "output": f"{sentence(draw)}\r\n",
        "exitCode": draw.below(3),
        "cancelled": False,
        "truncated": False,
        "timestamp": MESSAGE_TIME + index * 1_000,
    }


def _summary_of_a_branch(draw: Generator, index: int) -> Record:
    return {
        "role": "branchSummary",
        "summary": sentence(draw),
        "fromId": None,
        "timestamp": MESSAGE_TIME + index * 1_000,
    }


def _summary_of_a_compaction(draw: Generator, index: int) -> Record:
    return {
        "role": "compactionSummary",
        "summary": sentence(draw),
        "tokensBefore": draw.below(9_000),
        "timestamp": MESSAGE_TIME + index * 1_000,
    }


_ROLES: Final = (
    _question,
    _answer,
    tool_result,
    _answer,
    _plain_question,
    _answer,
    _command,
    _picture,
    _answer,
    _note,
    _summary_of_a_branch,
    _summary_of_a_compaction,
)


def message_fields(body: Record) -> Record:
    """The fields of a message entry beside its id and parent."""
    return {"type": "message", "message": body}


def conversation_fields(draw: Generator, index: int) -> Record:
    """The fields of an entry of a conversation: mostly messages; now and then a custom entry, with data, with null and
    without (S-ENT-05), and a message that ends its run.
    """
    match index % 32:
        case 13:
            return {"type": "custom", "customType": "weather", "data": {"rain": draw.below(50) / 4}}
        case 14:
            return {"type": "custom", "customType": "weather"}
        case 15:
            return {"type": "custom", "customType": "marker", "data": None}
        case 31:
            return message_fields(message(draw, index)) | {"terminate": True}
    return message_fields(message(draw, index))


def usage(draw: Generator) -> Record:
    """A usage object of the required numbers; costs are exact ratios of whole numbers, in millionths."""
    given, made, read, written = draw.below(4_000), draw.below(1_000), draw.below(2_000), draw.below(100)
    return {
        "input": given,
        "output": made,
        "cacheRead": read,
        "cacheWrite": written,
        "totalTokens": given + made + read + written,
        "cost": {
            "input": given * 3 / 1_000_000,
            "output": made * 15 / 1_000_000,
            "cacheRead": read * 3 / 10_000_000,
            "cacheWrite": written * 15 / 4_000_000,
            "total": (given * 12 + made * 60 + read * 12 // 10 + written * 15) / 4_000_000,
        },
    }


def json_value(draw: Generator, depth: int = 2) -> Json:
    """A small JSON value of any kind."""
    match draw.below(8 if depth else 6):
        case 0:
            return None
        case 1:
            return draw.chance(1, 2)
        case 2:
            return draw.between(-1_000, 1_000)
        case 3:
            return draw.between(-1_000, 1_000) / 8
        case 4:
            return ""
        case 5:
            return sentence(draw)
        case 6:
            return [json_value(draw, depth - 1) for _ in range(draw.below(4))]
        case _:
            return {f"{draw.choice(_BEDS)} {name}": json_value(draw, depth - 1) for name in range(draw.below(4))}


def lane_configuration(
    provider: str = "garden", model: str = "gärtner-1", thinking: str = "off", *tools: str
) -> Record:
    """The configuration of a lane."""
    return {
        "model": {"provider": provider, "modelId": model},
        "thinkingLevel": thinking,
        "activeToolNames": list(tools),
    }


def drawn_configuration(draw: Generator) -> Record:
    """A configuration of any thinking level with some tools."""
    return lane_configuration("garden", "gärtner-2", draw.choice(THINKING_LEVELS), *_TOOLS[: draw.below(5)])


def idle_state() -> Record:
    """The state of a lane that does nothing, in the contract's key order."""
    return {"currentOperationId": None, "lastOperationId": None, "inbox": []}


def busy_state(operation: str, last: str | None, waiting: list[str]) -> Record:
    """The state of a lane with an open operation and one inbox item per waiting entry."""
    kinds = ("steer", "followUp", "nextRun", "write")
    inbox = [{"entryId": entry, "kind": kinds[place % 4]} for place, entry in enumerate(waiting)]
    return {"currentOperationId": operation, "lastOperationId": last, "inbox": inbox}
