"""Sources of forks that are files: open and closed ones, torn, with long lines, marked, and in legacy form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from forkgen.legacy import legacy_files
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_lines import lines_in
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.model import SessionModel
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import Session, SessionMetadata

LONG = 400_000
"""Characters of a long line's text: far more than a line reader takes at a time."""


@dataclass(frozen=True, eq=False)
class Source:
    """A session to be forked, with a whole lane `main`. `model` is what it holds; a legacy file has none, because every
    reading gives its entries new ids, and `entries` is their number.
    """

    store: SessionMaker
    metadata: SessionMetadata
    model: SessionModel | None
    entries: int = 0

    @property
    def path(self) -> Path:
        """Where the file is."""
        return Path(str(self.metadata.path))

    async def fork(self, options: ForkOptions) -> Session:
        """The destination of a fork, held to what it must show."""
        if self.model is not None:
            return (await self.forked(options)).session
        session = await self.store.repo.fork(self.metadata, options)
        seen = len(await session.scan_entries())
        expect_equal(seen, self.entries, of="the number of entries in the fork of a legacy file")
        return session

    async def forked(self, options: ForkOptions) -> Subject:
        """The same as a subject. Raises LookupError for a legacy file."""
        if self.model is None:
            raise LookupError("a legacy file has no model: its entries get new ids on each reading")
        session = await self.store.repo.fork(self.metadata, options)
        fork = self.store.subject(session, self.model.fork(options, self.metadata.id))
        await fork.check("the destination, read in full")
        return fork


def source_of(subject: Subject) -> Source:
    """A session of the store's own as a source."""
    return Source(subject.store, subject.metadata, subject.model)


async def planted(store: SessionMaker, data: bytes, id: str = "small", *, left_out: bytes = b"") -> Source:
    """A good file that was written past the store, with bytes behind it that belong to no transaction."""
    path = await store.plant(data + left_out, id=id)
    good = lines_in(data.removeprefix(b"\xef\xbb\xbf"), path)
    next_seq = good.header.get("nextSeq", 1)
    return Source(store, store.raw.metadata(path), model_of_records(good.records, next_seq=next_seq))


async def _open(store: SessionMaker) -> Source:
    return source_of(await store.rich_session(id="source"))


async def _closed(store: SessionMaker) -> Source:
    subject = await store.rich_session(id="source")
    await subject.close()
    return source_of(subject)


async def _torn(store: SessionMaker) -> Source:
    return source_of(await store.torn_tail_session(id="source"))


async def _long_lines(store: SessionMaker) -> Source:
    subject = await store.linear_session(2, id="source")
    await subject.append("main", "long — 水" * (LONG // 8))
    await subject.append("main", "short")
    return source_of(subject)


async def _long_tail(store: SessionMaker) -> Source:
    return await planted(store, small_file(cwd=store.raw.cwd), left_out=b'{"kind":"entry","id":"' + b"x" * LONG)


async def _marked(store: SessionMaker) -> Source:
    return await planted(store, b"\xef\xbb\xbf" + small_file(cwd=store.raw.cwd))


async def _legacy(store: SessionMaker) -> Source:
    found = next(one for one in legacy_files() if one.name == "lane-complete")
    session = store.legacy_session(found)
    entries = 0 if found.normalized is None else len(found.normalized.entries)
    return Source(store, session.metadata, None, entries)


SOURCES: dict[str, Callable[[SessionMaker], Awaitable[Source]]] = {
    "open": _open,
    "closed": _closed,
    "torn": _torn,
    "long-lines": _long_lines,
    "long-tail": _long_tail,
    "marked": _marked,
    "legacy": _legacy,
}
"""Makers by name; the open ones are `open` and `long-lines`."""
