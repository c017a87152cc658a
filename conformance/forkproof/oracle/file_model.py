"""The model of a session from the records of its file: what replay must give (sections 22.2 and 22.3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forkproof.oracle.model import Placed, SessionModel
from forkproof.oracle.state import Record, copied


def model_of_records(
    records: Iterable[Record], *, parent_session_id: str | None = None, next_seq: int = 1
) -> SessionModel:
    """What a session holds whose file has these records, oldest first; `next_seq` is the least next sequence.

    >>> model = model_of_records(lines_of(path).records)
    >>> model.state() == await subject.state()
    True
    """
    model = SessionModel(parent_session_id=parent_session_id, next_seq=next_seq)
    for record in records:
        _replay(model, record)
        model.next_seq = max(next_seq, record["seq"] + 1)
    return model


def _replay(model: SessionModel, record: Record) -> None:
    kind, seq = record["kind"], record["seq"]
    if kind in ("entry", "usage"):
        stored = {name: copied(value) for name, value in record.items() if name not in ("kind", "seq")}
        (model.entries if kind == "entry" else model.ledger)[stored["id"]] = Placed(stored, seq)
        return
    location = (record["namespace"], record["key"])
    model.touched.add(location)
    rows: dict[Any, Any] = model.scalars if kind == "value" else model.lists
    if record["op"] == "delete":
        rows.pop(location, None)
    elif kind == "value":
        model.scalars[location] = Placed(copied(record["value"]), seq)
    else:
        model.lists.setdefault(location, []).append(Placed(copied(record["value"]), seq))
