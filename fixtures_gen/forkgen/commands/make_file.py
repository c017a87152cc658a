"""`forkgen make RECIPE -o FILE`: a session as a file of format 4, the same bytes every time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from forkgen.jsonl import write_session
from forkgen.progress import Tally, bar
from forkgen.recipe import Generated

from .destination import check_file, writing

CREATED_AT: Final = 1_700_000_000_000
"""Unix milliseconds in the header: a constant, because the file is a function of the request."""
CWD: Final = "/srv/garden"


def default_id(generated: Generated) -> str:
    """The id of a session that was not given one."""
    return f"{generated.name}-{generated.seed}-{generated.size}"


def make_file(generated: Generated, path: Path, *, id: str | None, cwd: str | None, force: bool, as_json: bool) -> int:
    """Writes the file, which appears when it is complete. Raises UsageError, and InvalidValue for an id or cwd."""
    session_id, tally = default_id(generated) if id is None else id, Tally()
    check_file(path, force=force)
    with writing(path), bar(f"making {path.name}", tally.total(generated)) as step:
        transactions = tally.watched(generated, step)
        write_session(path, transactions, id=session_id, cwd=CWD if cwd is None else cwd, created_at=CREATED_AT)
        size = path.stat().st_size
    if as_json:
        made = {"recipe": generated.name, "seed": generated.seed, "size": generated.size, "id": session_id}
        counts = {"transactions": tally.transactions, "writes": tally.writes}
        print(json.dumps({**made, **counts, "file": str(path), "bytes": size}))
    else:
        print(f"{path}: session {session_id}, {tally}, {size} bytes")
    return 0
