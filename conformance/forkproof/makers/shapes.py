"""The shapes: what each maker writes into an empty session. Fixed content, no chance; everything through mutation
scopes.
"""

from __future__ import annotations

from typing import Any

from forkproof.makers import records
from forkproof.makers.subject import Subject
from forkstore.contract.addresses import (
    branch_tip,
    entry_label,
    lane_config,
    lane_state,
    list_address,
    operation_meta,
    operation_preparation,
    operation_result,
    operation_state,
    operation_tool_args,
    operation_tool_memo,
    pending_assistant_frames,
    pending_entry,
    pending_tool_output,
    session_name,
    value_address,
)
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

BATCH = 250


async def linear(subject: Subject, entries: int, branch: str = "main") -> Subject:
    """`e1` … `en` on one lane, one commit each; the roles of messages take turns, every fifth entry is a custom one."""
    await subject.configure(branch)
    await subject.set_tip(branch, None)
    messages = list(records.messages_of_every_role().values())
    for number in range(1, entries + 1):
        id = f"e{number}"
        entry = records.message_entry(id, None, message=messages[(number - 1) % len(messages)])
        if number % 5 == 0:
            entry = records.custom_entry(id, None, data={"number": number, "share": number / 8})
        await subject.append(branch, entry=entry)
    return subject


async def bushy(subject: Subject, branch: str = "main") -> Subject:
    """A tree with shared paths; `branch` is a lane with its tip at `tip`.

    ::

        root ─ trunk ─ fork-point ─ tip ─ child-of-tip      (child-of-tip: newer than the tip, no branch reaches it)
          │              ├─ left ─ left-leaf                 lane "left"
          │              └─ right                            data-only branch "right"
          └─ lost ─ lost-leaf                                no branch reaches them
        second-root ─ second-leaf                            lane "second"
        usage row: usage-1
    """
    parents = {
        "root": None,
        "trunk": "root",
        "fork-point": "trunk",
        "left": "fork-point",
        "tip": "fork-point",
        "right": "fork-point",
        "lost": "root",
        "left-leaf": "left",
        "second-root": None,
        "second-leaf": "second-root",
        "child-of-tip": "tip",
        "lost-leaf": "lost",
    }
    await subject.insert(*(records.message_entry(id, parent, f"{id} — grün") for id, parent in parents.items()))
    await subject.commit(
        ValueSet(branch_tip(branch), "tip"),
        ValueSet(branch_tip("left"), "left-leaf"),
        ValueSet(branch_tip("right"), "right"),
        ValueSet(branch_tip("second"), "second-leaf"),
    )
    await subject.configure(branch)
    await subject.configure("left", thinking="high")
    await subject.configure("second")
    await subject.spend("usage-1", "tip")
    return subject


async def lanes(subject: Subject) -> Subject:
    """Branches of every kind over the chain `e1` … `e6`.

    `main` idle lane at e6 · `busy` open operation and inbox · `back` lane moved back from e6 to e2 · `empty` lane
    with a null tip · `data` tip alone · `null` null tip alone · `half` tip and configuration · `state-only` state
    without tip · `dangling` tip that names no entry · `""`-like odd names: `ünï:코드`, ` ` and `main ` (a blank at the
    end).
    """
    await linear(subject, 6)
    await subject.commit(ValueSet(branch_tip("busy"), "e4"), *_lane("busy", records.busy_lane_state()))
    await subject.commit(ValueSet(branch_tip("back"), "e6"), *_lane("back"))
    await subject.set_tip("back", "e2")
    await subject.commit(ValueSet(branch_tip("empty"), None), *_lane("empty"))
    await subject.commit(
        ValueSet(branch_tip("data"), "e3"),
        ValueSet(branch_tip("null"), None),
        ValueSet(branch_tip("half"), "e1"),
        ValueSet(lane_config("half"), records.lane_configuration("low")),
        ValueSet(lane_state("state-only"), records.busy_lane_state("op-9")),
        ValueSet(branch_tip("dangling"), "names-no-entry"),
    )
    for name in ("ünï:코드", " ", "main "):
        await subject.commit(ValueSet(branch_tip(name), "e5"), *_lane(name))
    return subject


async def labelled(subject: Subject) -> Subject:
    """The tree of `bushy` with a name and labels: on the path, beside it, unreachable, renamed, deleted, and on an
    unknown entry.
    """
    await bushy(subject)
    await subject.commit(ValueSet(session_name(), "Garten, 3. Beet 🌿"))
    await subject.commit(
        ValueSet(entry_label("root"), "start"),
        ValueSet(entry_label("tip"), "here"),
        ValueSet(entry_label("left-leaf"), "left — links"),
        ValueSet(entry_label("lost"), "unreachable"),
        ValueSet(entry_label("child-of-tip"), "newer than the tip"),
        ValueSet(entry_label("unknown-entry"), "names no entry"),
        ValueSet(entry_label("usage-1"), "names a usage row"),
        ValueSet(entry_label("trunk"), "first"),
        ValueSet(entry_label("right"), "to be deleted"),
    )
    await subject.commit(ValueSet(entry_label("trunk"), "second"), ValueDelete(entry_label("right")))
    return subject


async def lists(subject: Subject) -> Subject:
    """Lists in namespace `garden.log`: `kept` (5), `gone` (deleted), `again` (deleted, then 3 more), `busy` (deleted
    and appended to in one commit), the empty key (mixed values). `garden.log` also holds scalars at the keys `kept`
    and `gone`.
    """
    log = "garden.log"
    for number in range(5):
        await subject.commit(*(ListAppend(list_address(log, key), {"n": number}) for key in ("kept", "gone", "again")))
    await subject.commit(ListDelete(list_address(log, "gone")), ListDelete(list_address(log, "again")))
    again = list_address(log, "again")
    await subject.commit(*(ListAppend(again, f"second life {number}") for number in range(3)))
    busy = list_address(log, "busy")
    await subject.commit(ListAppend(busy, 1), ListDelete(busy), ListAppend(busy, 2), ListAppend(busy, 2.0))
    values: list[Any] = [None, True, 0, -0.5, "é", [], {}, [[{"a": None}]]]
    await subject.commit(*(ListAppend(list_address(log), value) for value in values))
    await subject.commit(ValueSet(value_address(log, "kept"), "a scalar beside a list"))
    await subject.commit(ValueSet(value_address(log, "gone"), None))
    return subject


async def rich(subject: Subject) -> Subject:
    """The source of S-FORK-EQ-02: the shapes above in one session, and an open operation with everything that belongs
    to it.
    """
    await labelled(subject)
    await lists(subject)
    await subject.insert(
        records.compaction_entry("compaction", "tip"),
        records.branch_summary_entry("summary", "compaction", "left-leaf"),
        records.custom_entry("weather", "summary", data={"rain": 2.5, "none": None}),
        records.custom_entry("bare", "weather"),
        records.message_entry("answer", "bare", message=records.assistant_message("✓ watered", stop_reason="toolUse")),
        records.message_entry("result", "answer", message=records.tool_result("moist"), terminate=True),
    )
    await subject.commit(ValueSet(branch_tip("main"), "result"), ValueSet(branch_tip("null"), None))
    await subject.configure("main", state=records.busy_lane_state("op-1", "pending-1", "pending-2"), thinking="max")
    await subject.commit(*_application_scalars())
    await subject.commit(
        ValueDelete(value_address("garden.plan", "row:3")), ValueDelete(value_address("garden.plan", "never"))
    )
    await subject.commit(*_open_operation("op-1"))
    await subject.commit(
        UsageInsert(
            records.usage_row("usage-2", "answer", usage=records.usage(reasoning=7), details={"why": "wässern"})
        ),
        UsageInsert(
            records.usage_row("usage-3", "no-such-entry", usage=records.usage(cacheWrite1h=2), adjustment=True)
        ),
    )
    return subject


async def large(subject: Subject, entries: int) -> Subject:
    """`n0` … on the lane `main`, 250 a commit, every tenth a custom entry; `side` branches off in the middle and
    holds one more entry.
    """
    for start in range(0, entries, BATCH):
        numbers = range(start, min(start + BATCH, entries))
        await subject.insert(*(_numbered(number) for number in numbers))
    middle = f"n{entries // 2}"
    await subject.insert(records.message_entry("side-leaf", middle, "a branch in the middle"))
    await subject.commit(ValueSet(branch_tip("main"), f"n{entries - 1}"), ValueSet(branch_tip("side"), "side-leaf"))
    await subject.configure("main")
    await subject.commit(
        ValueSet(entry_label(middle), "middle"), ValueSet(value_address("garden.plan"), {"entries": entries})
    )
    return subject


def _numbered(number: int) -> records.Record:
    parent = None if number == 0 else f"n{number - 1}"
    if number % 10 == 9:
        return records.custom_entry(f"n{number}", parent, data={"number": number})
    return records.message_entry(f"n{number}", parent, f"message {number} — {'ü' * (number % 40)}")


def _lane(name: str, state: records.Record | None = None) -> tuple[Write, Write]:
    return (
        ValueSet(lane_config(name), records.lane_configuration()),
        ValueSet(lane_state(name), state or records.idle_lane_state()),
    )


def _application_scalars() -> tuple[Write, ...]:
    """Scalars in application namespaces, some with names that only look reserved, null values, empty and odd keys."""
    places = {
        ("garden.plan", ""): {"beds": ["north", "süd"], "ratio": 0.1},
        ("garden.plan", "row:3"): "to be deleted",
        ("garden.plan", "row:10"): None,
        ("garden.plan", "\uffff\U00010000"): 2**53 + 1,
        ("pi2.events", ""): [1, 1.0, True],
        ("PI.x", "k"): "case matters",
        ("pi/x", "k"): {"b": 1, "a": 2},
    }
    return tuple(ValueSet(value_address(namespace, key), value) for (namespace, key), value in places.items())


def _open_operation(operation: str) -> tuple[Write, ...]:
    """An operation in the middle of a turn: meta, state, checkpoints, pending work, frames, and the result of an
    earlier one.
    """
    frames = pending_assistant_frames(operation, "response-1")
    pending = {"type": "message", "payload": records.user_message("and the peas?")}
    meta = {"operationId": operation, "lane": "main", "sourceTipId": "tip", "startedAt": 1, "intent": {"kind": "run"}}
    result = {"operationId": "op-0", "kind": "run", "status": "completed", "fromTipId": None, "tipId": "tip"}
    return (
        ValueSet(operation_meta(operation), meta),
        ValueSet(
            operation_state(operation),
            {"at": "tools", "control": {}, "settings": {}, "latestAssistantEntryId": "answer"},
        ),
        ValueSet(operation_tool_args(operation, 0, 0), {"bed": "north"}),
        ValueSet(operation_tool_memo(operation, "call-1", "reading"), [0.5, None]),
        ValueSet(operation_preparation(operation, "task-1"), {"kind": "compaction", "messages": [], "fileOps": {}}),
        ValueSet(pending_entry("pending-1"), pending),
        ValueSet(pending_entry("pending-2"), {"type": "custom", "customType": "note"}),
        ValueSet(pending_tool_output(operation, "call-1"), records.tool_result("half of it")),
        ListAppend(frames, {"delta": "wa"}),
        ListAppend(frames, {"delta": "ter"}),
        ValueSet(operation_result("op-0"), {**result, "startedAt": 1, "endedAt": 2}),
        EntryInsert(records.message_entry("unreachable", "result", "written, but no tip reached it")),
    )
