"""What others do to a session's file, and the moments of a call at which they do it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from forkproof.instruments.stepping import Stepped, stepped
from forkstore.contract.store import SessionMetadata
from tests.forkstore.jsonl.decoding import value_line
from tests.forkstore.jsonl.moments import LOOKS, Meanwhile
from tests.forkstore.jsonl.planted import path_of, plant
from tests.forkstore.jsonl.stores import Store

MARK = b"\xef\xbb\xbf"
FOREIGN = value_line("1").replace(b'"seq":1', b'"seq":900') + b"\n"
Act = Callable[[Path], object]


def grow(path: Path) -> None:
    """Adds a transaction."""
    with path.open("ab") as file:
        file.write(FOREIGN)


def cut(path: Path) -> None:
    """Cuts off all but the first two lines."""
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("r+b") as file:
        file.truncate(sum(map(len, lines[:2])))


def other_content(path: Path) -> bytes:
    """A session that differs in one text, of the same size."""
    return path.read_bytes().replace(b"water", b"WATER").replace(b"prune", b"PRUNE")


def replace(path: Path) -> None:
    """Puts another file of the same size in its place."""
    draft = path.with_name("draft")
    draft.write_bytes(other_content(path))
    draft.replace(path)


def write_anew(path: Path) -> None:
    """Removes the file and writes one of the same size: systems like to give it the same identity."""
    content = other_content(path)
    path.unlink()
    path.write_bytes(content)


def remove(path: Path) -> None:
    path.unlink()


ACTS: dict[str, Act] = {
    "grows": grow,
    "is cut": cut,
    "is replaced": replace,
    "is written anew": write_anew,
    "is removed": remove,
}


class Foreign:
    """Does something to a file once, and keeps what stands there then."""

    def __init__(self, act: Act, path: Path) -> None:
        self._act = act
        self._path = path
        self.acted = False
        self.left: bytes | None = None

    def __call__(self) -> None:
        self._act(self._path)
        self.acted = True
        self.left = content_of(self._path)


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def without_tail(content: bytes | None) -> bytes | None:
    """A file after the repair of a torn tail."""
    if content is None or content.endswith(b"\n"):
        return content
    return content[: content.rfind(b"\n") + 1].removeprefix(MARK)


async def at_every_moment(
    store: Store,
    data: bytes,
    act: Act,
    call: Callable[[Any], Coroutine[Any, Any, Any]],
    check: Callable[[Path, Foreign, Stepped], Awaitable[object]],
    *,
    prepare: Callable[[SessionMetadata], Awaitable[Any]] | None = None,
) -> int:
    """Makes the call again and again on a fresh file; each time somebody acts just before another file call that is
    about that file, or about the one that is to take its place.

    `prepare` runs before anybody acts, and the call gets what it gives. Gives the number of moments.
    """
    for n in range(1, 100):
        metadata = plant(store.root, data)
        path = path_of(metadata)
        foreign = Foreign(act, path)
        subject = metadata if prepare is None else await prepare(metadata)
        store.faults.arm(Meanwhile(foreign), at=n, names=LOOKS, paths=f"{path}*")
        outcome = await stepped(partial(call, subject))
        hit = store.faults.hit
        store.faults.disarm()
        await check(path, foreign, outcome)
        if hit is None:
            return n - 1
    raise AssertionError("the call does not end")
