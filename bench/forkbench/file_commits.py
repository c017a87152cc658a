"""The time of a one-entry commit to a session file, as a ratio to a plain loop, and to a loop and another store.

The loop does the least that such a commit can be: it encodes the line that the store itself has written last, with the
contract's codec, and appends it with one `os.write`. It checks nothing, and waits for nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from forkproof.makers.raw_files import path_of
from forkstore.contract.codec import encode
from forkstore.contract.records import Json
from forkstore.contract.store import Branch, Session, SessionRepo

from .figures import Figure, WrongAnswer
from .rounds import Rounds
from .session_costs import message
from .session_files import FileStore

BODY: Final = message()
"""The message that is appended: a line of about 480 bytes."""
LOOPS: Final = 8
"""How much more often the loop goes round in its turn, so that it lasts about as long as that of the commits."""


async def commit_costs(
    store: FileStore,
    beside: SessionRepo,
    options: dict[str, Any],
    *,
    loop_bound: float,
    beside_bound: float,
    pairs: int = 31,
    block: int = 500,
) -> list[Figure]:
    """`branch.append_message`, against the loop, and against the loop and the same call on the store `beside`.

    `options` are what that one's `create` takes. Raises WrongAnswer when a message is lost in any of the three.
    """
    rounds = Rounds(pairs, "loop", "beside", "append")
    async with store.opened() as repo:
        session, other = await repo.create(cwd=store.cwd), await beside.create(**options)
        branches = {"append": await _begun(session), "beside": await _begun(other)}
        path = path_of(session.metadata)
        written = path.read_bytes().splitlines()[-1]
        records = json.loads(written)
        size = pairs * block * LOOPS * (len(encode(records, "line")) + 1)
        with _plain_file(path.with_suffix(".plain"), size) as descriptor:
            await _take_turns(rounds, descriptor, records, branches, block)
        await session.close()
        for one in (await repo.open(session.metadata), other):
            await _check_and_close(one, pairs * block + 2)
    return _figures(rounds, len(written) + 1, loop_bound=loop_bound, beside_bound=beside_bound)


async def _take_turns(rounds: Rounds, descriptor: int, records: Json, branches: dict[str, Branch], block: int) -> None:
    for turn in rounds:
        if turn.side == "loop":
            with turn.each(block * LOOPS):
                for _ in range(block * LOOPS):
                    os.write(descriptor, encode(records, "line") + b"\n")
        else:
            branch = branches[turn.side]
            with turn.each(block):
                for _ in range(block):
                    await branch.append_message(BODY)


def _figures(rounds: Rounds, size: int, *, loop_bound: float, beside_bound: float) -> list[Figure]:
    loop = {"append µs": rounds.median_us("append"), "loop µs": rounds.median_us("loop")}
    return [
        Figure(
            "append_message / plain loop", rounds.ratio("append", "loop"), loop_bound, {**loop, "bytes a line": size}
        ),
        Figure(
            "append_message / the same beside and plain loop",
            rounds.ratio("append", "beside", "loop"),
            beside_bound,
            {**loop, "beside µs": rounds.median_us("beside")},
        ),
    ]


async def _begun(session: Session) -> Branch:
    """A branch of two messages: the second one has a parent, as all others will."""
    branch = await session.create_branch("main", None)
    for _ in range(2):
        await branch.append_message(BODY)
    return branch


@contextmanager
def _plain_file(path: Path, size: int) -> Iterator[int]:
    """A new file to append to, by its descriptor; removed afterwards. Raises WrongAnswer when it has another size."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
    try:
        yield descriptor
        if os.fstat(descriptor).st_size != size:
            raise WrongAnswer(f"the loop has written {os.fstat(descriptor).st_size} bytes, not {size}")
    finally:
        os.close(descriptor)
        path.unlink()


async def _check_and_close(session: Session, messages: int) -> None:
    count = (await session.get_stats()).message_count
    if count != messages:
        raise WrongAnswer(f"{messages} messages were appended to {session.metadata.id}, {count} are there")
    await session.close()
