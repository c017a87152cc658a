"""What the suites of transactions share: a commit of every kind of write, and how its result is numbered."""

from __future__ import annotations

from forkproof.expect import expect_equal
from forkproof.makers import records as made
from forkproof.makers.states import ANY_STATE
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.writes import (
    CommitResult,
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
)

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")
SMALL_STATES = {name: name for name in ANY_STATE if name != "large"}


def all_six(prefix: str, parent: str | None = None) -> list[Write]:
    """A commit of all six kinds of writes; its entries are `<prefix>-entry` and `<prefix>-custom`."""
    return [
        ListDelete(LIST),
        EntryInsert(made.message_entry(f"{prefix}-entry", parent)),
        ValueSet(VALUE, prefix),
        UsageInsert(made.usage_row(f"{prefix}-usage", f"{prefix}-entry", usage=made.usage(reasoning=3))),
        ListAppend(LIST, prefix),
        ValueDelete(value_address("garden.plan", "never")),
        EntryInsert(made.custom_entry(f"{prefix}-custom", f"{prefix}-entry")),
        ValueSet(branch_tip("from-commit"), f"{prefix}-custom"),
    ]


def expect_numbered(result: CommitResult, first: int, count: int) -> None:
    """Breaks the clause unless the result gives its writes the sequences from `first` on."""
    expect_equal(result.first_seq, first, of="first_seq of the commit")
    expect_equal(result.seqs, list(range(first, first + count)), of="the sequences of the commit's writes")
