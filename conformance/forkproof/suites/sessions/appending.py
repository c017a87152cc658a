"""What the suites of branches and appends share: a branch that must be there, a mark, an append that the model
follows.
"""

from __future__ import annotations

from typing import Any

from forkproof.expect import ClauseBroken, expect
from forkproof.makers import Subject
from forkproof.oracle.state import copied
from forkstore.contract.addresses import branch_tip, value_address
from forkstore.contract.store import Branch
from forkstore.contract.writes import CommitResult, EntryInsert, ValueSet, Write

MARK = value_address("garden.mark")


async def branch_of(subject: Subject, name: str = "main") -> Branch:
    """The branch of that name. Raises ClauseBroken when the store does not find it."""
    branch = await subject.session.branch(name)
    if branch is None:
        raise ClauseBroken(f"expected: a branch {name!r}\nseen:     None")
    return branch


async def mark(subject: Subject) -> int:
    """Makes a commit of the case's own; gives the next sequence after it."""
    return (await subject.commit(ValueSet(MARK, "beds"))).seqs[-1] + 1


async def follow_append(subject: Subject, name: str, entry_id: str, **fields: Any) -> None:
    """Tells the model of an append: one commit of the entry and the tip, numbered as the rows say."""
    entry, row = await subject.session.get_entry(entry_id), await subject.session.get_value(branch_tip(name))
    if entry is None or row is None:
        raise ClauseBroken(f"expected: the appended entry {entry_id!r} and the tip\nseen:     {entry!r} and {row!r}")
    inserted = {"id": entry_id, "parentId": subject.model.tip(name), **fields}
    writes: dict[int, Write] = {
        entry["seq"]: EntryInsert(inserted),
        row.seq: ValueSet(branch_tip(name), entry_id),
    }
    seqs = sorted(writes)
    expect(seqs[-1] - seqs[0] == 1, f"expected: entry and tip in one commit\nseen:     the sequences {seqs}")
    result = CommitResult(seqs[0], seqs, entry["timestamp"], await subject.session.get_stats())
    subject.follow(result, *(writes[seq] for seq in seqs))


async def append_message(subject: Subject, name: str, message: dict[str, Any]) -> str:
    """`append_message` of the store itself, followed by the model; gives the id of the entry."""
    kept = copied(message)
    entry_id = await (await branch_of(subject, name)).append_message(message)
    await follow_append(subject, name, entry_id, type="message", message=kept)
    return entry_id
