"""The workbench: variants of one good file with their verdicts, and fresh records that would fit behind its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from forkgen.verdict import Verdict
from forkstore.contract.records import Record, zero_usage

from .changes import appended, record_text
from .source import Survey
from .variant import Change, Damaged

NAMESPACE = "damage.probe"


@dataclass(frozen=True)
class Workbench:
    """A surveyed good file, and what can be made of it."""

    survey: Survey

    def corrupt(
        self, name: str, line: int, change: Change, clauses: Sequence[str], cause: str | None = None
    ) -> Damaged:
        """A variant that `open` refuses in the given line."""
        return self._made(Damaged(name, Verdict.CORRUPT, tuple(clauses), line, cause), change)

    def unsupported(self, name: str, version: str, change: Change, clauses: Sequence[str]) -> Damaged:
        """A variant of a version that no store reads."""
        return self._made(Damaged(name, Verdict.UNSUPPORTED, tuple(clauses), version=version), change)

    def opens(
        self, name: str, change: Change, clauses: Sequence[str], *, next_seq: int | None = None, repaired: bool = False
    ) -> Damaged:
        """A variant that opens with the state of the good file."""
        seq = self.survey.next_seq if next_seq is None else next_seq
        return self._made(Damaged(name, Verdict.OPENS, tuple(clauses), next_seq=seq, repaired=repaired), change)

    def opens_before(self, name: str, change: Change, clauses: Sequence[str], *, repaired: bool) -> Damaged:
        """A variant that opens without the last transaction."""
        seq = self.survey.next_seq_before
        return self._made(Damaged(name, Verdict.OPENS_BEFORE, tuple(clauses), next_seq=seq, repaired=repaired), change)

    def opens_with(self, name: str, line: bytes, added: Sequence[Record], clauses: Sequence[str]) -> Damaged:
        """A variant that opens, with one more line that holds the added records."""
        seq = max(self.survey.next_seq, added[-1]["seq"] + 1)
        made = Damaged(name, Verdict.OPENS, tuple(clauses), added=tuple(added), next_seq=seq)
        return self._made(made, appended(line + b"\n"))

    def opens_with_record(self, name: str, record: Record, clauses: Sequence[str]) -> Damaged:
        """A variant that opens, with one more record on a line of its own."""
        return self.opens_with(name, record_text(record), [record], clauses)

    def corrupt_end(self, name: str, line: bytes, clauses: Sequence[str], cause: str | None = None) -> Damaged:
        """A variant with one more line, complete and wrong."""
        return self.corrupt(name, self.survey.end, appended(line + b"\n"), clauses, cause)

    def _made(self, damaged: Damaged, change: Change) -> Damaged:
        return replace(damaged, _lines=self.survey.lines, _change=change)

    def entry(self, offset: int = 0, **fields: Any) -> Record:
        """A stored entry record that fits behind the end; a root unless a parent is given."""
        seq = self.survey.next_seq + offset
        message = {"role": "user", "content": "rake the gravel — früh", "timestamp": 1_760_000_000_000}
        own: Record = {"kind": "entry", "id": f"damage-{seq}", "parentId": None, "type": "message", "message": message}
        return own | {"seq": seq, "timestamp": self.survey.header["createdAt"]} | fields

    def custom(self, offset: int = 0, **fields: Any) -> Record:
        """A stored custom entry that fits behind the end."""
        entry = self.entry(offset, type="custom")
        del entry["message"]
        return entry | {"customType": "weather", "data": {"rain": 2.5}} | fields

    def usage(self, offset: int = 0, **fields: Any) -> Record:
        """A stored usage row that fits behind the end."""
        seq = self.survey.next_seq + offset
        own: Record = {"kind": "usage", "id": f"damage-{seq}", "usage": zero_usage(), "adjustment": False}
        return own | {"seq": seq} | fields

    def value(self, value: Any = "dry", offset: int = 0, **fields: Any) -> Record:
        """A stored set that fits behind the end."""
        seq = self.survey.next_seq + offset
        own: Record = {"kind": "value", "op": "set", "seq": seq, "namespace": NAMESPACE, "key": "bed", "value": value}
        return own | fields

    def element(self, value: Any = "dry", offset: int = 0, **fields: Any) -> Record:
        """A stored list append that fits behind the end."""
        return self.value(value, offset, kind="list", op="append") | fields
