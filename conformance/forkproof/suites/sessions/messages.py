"""Messages: pending ones are refused, all others come back (section 9: S-SESS-10, 11)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkproof.oracle.state import copied
from forkproof.suites.sessions.appending import append_message, branch_of, mark
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import PendingMessage
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")
PENDING = made.assistant_message("half a wo", stop_reason="pending")


@case("S-SESS-10")
@rows("name", lane="main", null_tip="null")
async def an_append_of_a_pending_message_is_refused(store: SessionMaker, name: str) -> None:
    """`append_message` refuses an assistant message that is pending with `PendingMessage`; nothing changes, and the
    settled message is taken afterwards.

    If this fails, look at: a check of the role or the stop reason alone; a tip moved before the check.
    """
    subject = await store.bushy_session()
    await subject.set_tip("null", None)
    next_seq = await mark(subject)
    branch = await branch_of(subject, name)
    with refused(PendingMessage):
        await branch.append_message(copied(PENDING))
    expect_equal(await mark(subject), next_seq + 1, of="the next sequence after the refusal and one write")
    await subject.check()
    await append_message(subject, name, {**PENDING, "stopReason": "stop"})
    await subject.check_everywhere()


async def _commit_by_begin_mutation(subject: Subject, writes: list[Write]) -> None:
    scope = await subject.session.begin_mutation()
    try:
        await scope.commit(writes)
    finally:
        await scope.end()


@case("S-SESS-10")
@rows("place", first=0, middle=2, last=4)
@rows("way", mutate="mutate", begin_mutation="begin_mutation")
async def a_scope_refuses_a_pending_message(store: SessionMaker, place: int, way: str) -> None:
    """The commit of a scope that inserts a pending assistant message anywhere among good writes is refused with
    `PendingMessage`, and nothing changes.

    If this fails, look at: a check of the first write only; a check that only `append_message` makes.
    """
    subject = await store.bushy_session()
    next_seq = await mark(subject)
    writes: list[Write] = [
        ValueSet(VALUE, 1),
        EntryInsert(made.message_entry("good", "tip")),
        ListAppend(LIST, 1),
        ValueSet(branch_tip("main"), "good"),
    ]
    writes.insert(place, EntryInsert(made.message_entry("pending", "tip", message=copied(PENDING))))
    with refused(PendingMessage):
        if way == "mutate":
            await subject.commit(*writes)
        else:
            await _commit_by_begin_mutation(subject, writes)
    subject.model.look_at([(VALUE.namespace, VALUE.key), (LIST.namespace, LIST.key)])
    expect_equal(await mark(subject), next_seq + 1, of="the next sequence after the refusal and one write")
    await subject.check_everywhere()


def _all_messages() -> list[dict[str, Any]]:
    """Settled assistant messages of each stop reason, one of every other role, and some that only look pending."""
    settled = [made.assistant_message(f"stopped by {reason}", stop_reason=reason) for reason in made.SETTLED]
    roles = [message for role, message in made.messages_of_every_role().items() if role != "assistant"]
    looking = [{**made.user_message("not mine"), "stopReason": "pending"}, {"role": "oracle", "stopReason": "pending"}]
    return [*settled, *roles, *looking, {**PENDING, "stopReason": "stop", "stop_reason": "pending", "pending": True}]


@case("S-SESS-11")
@rows("way", append_message="append", scope="scope")
async def settled_messages_and_other_roles_come_back_unchanged(store: SessionMaker, way: str) -> None:
    """Messages of each of the six settled stop reasons, and of every other role, come back unchanged and in order,
    live and after reopening.

    If this fails, look at: a list of roles or stop reasons that is too short; fields that are dropped, added or put in
    another order; pending looked for in messages of other roles.
    """
    subject = await store.bushy_session()
    messages = _all_messages()
    for number, message in enumerate(messages):
        if way == "append":
            await append_message(subject, "second", copied(message))
        else:
            await subject.append("second", entry=made.message_entry(f"m{number}", None, message=copied(message)))
    for moment in ("live", "reopened"):
        path = await (await branch_of(subject, "second")).find_entries(order="oldest_first")
        seen = [entry["message"] for entry in path[-len(messages) :]]
        expect_equal(seen, messages, of=f"the messages, {moment}", ordered=True)
        await subject.reopen()
    await subject.check()
