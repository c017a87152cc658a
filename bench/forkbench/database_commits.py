"""The time of a one-entry commit to a database, as a ratio to a plain loop of the same four statements.

The loop does the least that such a commit can be: one immediate transaction with the session's row updated, the entry
inserted, and its row and its segment in the branch index, on one connection, in WAL mode with `synchronous` NORMAL. It
checks nothing, encodes nothing and waits for no other thread. Its session is one of the same kind of store, elsewhere.
"""

from __future__ import annotations

from contextlib import closing
from typing import Final

import apsw

from forkstore.contract.codec import encode
from forkstore.contract.records import Record
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert

from .database_planting import BRANCH_ENTRY, ENTRY, connect
from .databases import DatabaseStore
from .figures import Figure, WrongAnswer
from .rounds import Rounds
from .session_costs import message

BODY: Final = {"message": message()}
"""The payload of each entry: about 190 bytes."""
LOOPS: Final = 3
"""How much more often the loop goes round in its turn, so that it lasts about as long as that of the commits."""
ROOT: Final = "entry-00000000"
COUNTS: Final = "UPDATE sessions SET message_count = ?, usage_payload = ?, next_seq = ? WHERE id = ?"
SEGMENT_END: Final = "UPDATE branch_meta SET tip_entry_id = ?, tip_seq = ? WHERE session_id = ? AND branch_id = ?"


class PlainLoop:
    """Commits of one entry each to a session that holds its root alone, and that no store has open."""

    def __init__(self, connection: apsw.Connection, session_id: str) -> None:
        self.committed = 1
        self._tip = ROOT
        self._session_id = session_id
        self._execute = connection.cursor().execute
        self._payload = encode(BODY, "payload").decode()
        self._usage = connection.execute("SELECT usage_payload FROM sessions WHERE id = ?", (session_id,)).get

    def commit(self) -> None:
        """One more entry, below the last one."""
        execute, session_id, seq = self._execute, self._session_id, self.committed + 1
        entry_id = f"entry-{self.committed:08d}"
        execute("BEGIN IMMEDIATE")
        execute(COUNTS, (seq, self._usage, seq + 1, session_id))
        execute(ENTRY, (session_id, entry_id, self._tip, seq, "message", 0, self._payload))
        execute(BRANCH_ENTRY, (session_id, ROOT, entry_id, seq, "message"))
        execute(SEGMENT_END, (entry_id, seq, session_id, ROOT))
        execute("COMMIT")
        self._tip, self.committed = entry_id, seq


async def commit_cost(
    store: DatabaseStore, elsewhere: DatabaseStore, *, bound: float, pairs: int = 15, block: int = 200
) -> Figure:
    """A commit of one entry through a mutation scope, against the loop. Raises WrongAnswer when an entry is lost."""
    rounds = Rounds(pairs, "loop", "commit")
    async with store.opened() as repo, elsewhere.opened() as looped:
        session, rooted = await repo.create(id="commits"), await looped.create(id="loop")
        for one in (session, rooted):
            await _commit(one, _entry(0))
        await rooted.close()
        with closing(connect(rooted.metadata.path or "")) as connection:
            loop = PlainLoop(connection, rooted.metadata.id)
            committed = 1
            for turn in rounds:
                if turn.side == "loop":
                    with turn.each(block * LOOPS):
                        for _ in range(block * LOOPS):
                            loop.commit()
                else:
                    entries = [_entry(committed + index) for index in range(block)]
                    with turn.each(block):
                        for entry in entries:
                            await _commit(session, entry)
                    committed += block
        await session.close()
        await _check(await repo.open(session.metadata), pairs * block + 1)
        await _check(await looped.open(rooted.metadata), pairs * block * LOOPS + 1)
    return Figure(
        "commit of one entry / plain loop of its four statements",
        rounds.ratio("commit", "loop"),
        bound,
        {"commit µs": rounds.median_us("commit"), "loop µs": rounds.median_us("loop")},
    )


def _entry(index: int) -> Record:
    """The entry of this number, below the one before."""
    parent = f"entry-{index - 1:08d}" if index else None
    return {"id": f"entry-{index:08d}", "parentId": parent, "type": "message", **BODY}


async def _commit(session: Session, entry: Record) -> None:
    scope = await session.begin_mutation()
    await scope.commit([EntryInsert(entry)])
    await scope.end()


async def _check(session: Session, entries: int) -> None:
    """Closes a session. Raises WrongAnswer unless it holds so many entries, one below the other."""
    count = (await session.get_stats()).message_count
    path = await session.scan_branch_structure(f"entry-{entries - 1:08d}", order="oldest_first")
    if not count == entries == len(path):
        raise WrongAnswer(f"{entries} entries were committed to {session.metadata.id}, {count} are there")
    await session.close()
