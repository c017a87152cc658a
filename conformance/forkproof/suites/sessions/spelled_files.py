"""Session files that a case spells out itself, record by record, to see what a store makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forkproof.instruments.clocks import START
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import Record
from forkproof.oracle.file_lines import lines_in
from forkproof.oracle.file_model import model_of_records
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

ID = "spelled"
FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main", id="fork"), "tree": TreeFork(id="fork")}
ODD_TEXT = 'früh 水 🌱 \u2028\u2029\x85\x7f "\\/\b\f\n\r\t\v\x1f\0 \ufeff'
"""Letters that JSON escapes, letters that it does not, and some that others take for the end of a line."""


def text(value: Any) -> bytes:
    """The JSON text of a value as section 6.1 writes it: compact, members in their order, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def header(cwd: str, *, id: str = ID, created_at: int = START, **more: Any) -> bytes:
    """A first line, with its LF; `more` are further fields, in their order."""
    fields = {"v": 4, "kind": "header", "id": id, "storageVersion": 1, "createdAt": created_at, "cwd": cwd, **more}
    return text(fields) + b"\n"


def stored(record: Record, seq: int, timestamp: int = START) -> Record:
    """A new entry or usage row as it is stored (section 22.2)."""
    if "usage" in record and "type" not in record:
        return {"kind": "usage", **record, "seq": seq}
    return {"kind": "entry", **record, "seq": seq, "timestamp": timestamp}


def scalar(seq: int, namespace: str, key: str, value: Any) -> Record:
    """The record of a set."""
    return {"kind": "value", "op": "set", "seq": seq, "namespace": namespace, "key": key, "value": value}


def element(seq: int, namespace: str, key: str, value: Any) -> Record:
    """The record of a list append."""
    return {"kind": "list", "op": "append", "seq": seq, "namespace": namespace, "key": key, "value": value}


def deletion(kind: str, seq: int, namespace: str, key: str) -> Record:
    """The record of a delete; `kind` is `value` or `list`."""
    return {"kind": kind, "op": "delete", "seq": seq, "namespace": namespace, "key": key}


def line(*records: Record) -> bytes:
    """One transaction with its LF: an object for one record and an array for more."""
    return text(records[0] if len(records) == 1 else list(records)) + b"\n"


def last_line(path: Path) -> bytes:
    """The last line of a file, with its LF."""
    data = path.read_bytes()
    return data[data.rindex(b"\n", 0, -1) + 1 :]


async def opened_from(store: SessionMaker, data: bytes, id: str = ID) -> Subject:
    """The session in a file that is put in place, with the model of what its records say."""
    path = await store.plant(data, id=id)
    found = lines_in(data.removeprefix(b"\xef\xbb\xbf"), path)
    model = model_of_records(
        found.records,
        parent_session_id=found.header.get("parentSessionId"),
        next_seq=found.header.get("nextSeq", 1),
    )
    return store.subject(await store.repo.open(store.raw.metadata(path)), model)


async def expect_forks(store: SessionMaker, source: Subject) -> None:
    """Forks of the session, in both scopes, hold what its model says."""
    for options in FORKS.values():
        fork = await source.fork(options)
        await fork.check(f"the fork by {options!r}")
        await fork.close()
        await store.repo.delete(fork.metadata)
