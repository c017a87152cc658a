"""The model of a legacy v3 session: normalized as section 26.2 says, with the statistics of its own messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from forkgen.legacy import LegacyFile
from forkproof.expect import expect_subset
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.ledger import zero_usage
from forkproof.oracle.model import Placed, SessionModel
from forkproof.oracle.state import LogicalState, Record


@dataclass
class LegacyModel(SessionModel):
    """A session that is still v3: an empty ledger, and yet the usage of its messages (S-V3-15).

    The first commit that is not empty upgrades it. `follow_upgrade` then tells the model of the row that came with it.
    """

    imported: Record = field(default_factory=zero_usage)

    def state(self) -> LogicalState:
        """As for any session, with the imported usage while there is no ledger."""
        state = super().state()
        return state if self.ledger else replace(state, usage=self.imported)

    def follow_upgrade(self, rows: Sequence[Record]) -> None:
        """Learns the id and the sequence of the import row from a ledger that was read after the upgrade.

        Breaks the clause unless its first row is the one of S-V3-19. Further rows are the model's own already.
        """
        row = dict(rows[0]) if rows else {}
        expected = {"usage": self.imported, "adjustment": True, "details": {"source": "v3-import"}}
        expect_subset(row, expected, of="the first usage row after the upgrade")
        imported = {"id": row.get("id"), **expected}
        self.ledger = {str(row.get("id")): Placed(imported, row.get("seq")), **self.ledger}


def legacy_model(case: LegacyFile, ids: Sequence[str]) -> LegacyModel:
    """What a session must show that was opened from the file and gave its entries these fresh ids, in their order.

    Raises ValueError for a wrong number of ids, and for a file that does not open.
    """
    if case.normalized is None:
        raise ValueError(f"the legacy file {case.name} does not open")
    normalized = case.normalized.filled(ids)
    entries = [{"kind": "entry", **entry} for entry in normalized.entries]
    base = model_of_records(
        [*entries, *normalized.derived], parent_session_id=case.parent_session_id, next_seq=normalized.next_seq
    )
    return LegacyModel(**vars(base), imported=normalized.usage)
