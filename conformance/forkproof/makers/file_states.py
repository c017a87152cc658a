"""Sessions as files in hard states: torn, legacy, damaged, huge. Each is a file that no store has open.

The kit puts the files in place (seam raw-files), with what says what a right store must make of them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forkgen import Generated, recipe
from forkgen.damage import Damaged, Verdict, damage
from forkgen.jsonl import lines
from forkgen.legacy import LegacyFile
from forkgen.recipes.benchmark import CLOCK
from forkproof.makers import records, small_file
from forkproof.makers.subject import Subject
from forkproof.oracle.file_lines import lines_in
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.legacy_model import LegacyModel, legacy_model
from forkproof.oracle.model import SessionModel
from forkproof.oracle.state import Record
from forkstore.contract.addresses import branch_tip, session_name
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ValueSet

if TYPE_CHECKING:
    from forkproof.makers.maker import SessionMaker

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class FileSession:
    """A session that is a file so far: where it is, and the metadata to open, fork or delete it by."""

    store: SessionMaker
    path: Path
    metadata: SessionMetadata


@dataclass(frozen=True, eq=False)
class DamagedSession(FileSession):
    """A file with a damage whose verdict is known."""

    variant: Damaged

    async def open(self) -> Subject:
        """Opens a variant that opens; the subject's model says what must be left. Raises what `repo.open` raises."""
        return self.store.subject(await self.store.repo.open(self.metadata), self.model)

    @property
    def model(self) -> SessionModel:
        """What a right store shows. Raises ValueError for a variant that does not open."""
        if self.variant.verdict not in (Verdict.OPENS, Verdict.OPENS_BEFORE):
            raise ValueError(f"the variant {self.variant.name} does not open")
        good = lines_in(small_file.small_file(cwd=self.metadata.cwd or ""), self.path).transactions
        kept = good[:-1] if self.variant.verdict is Verdict.OPENS_BEFORE else good
        found = [record for transaction in kept for record in transaction]
        model = model_of_records([*found, *self.variant.added], parent_session_id=self._header.get("parentSessionId"))
        model.look_at((one["namespace"], one["key"]) for rows in good for one in rows if "namespace" in one)
        return model if self.variant.next_seq is None else replace(model, next_seq=self.variant.next_seq)

    @property
    def _header(self) -> Record:
        """The first line as the damage left it: it is the only place where a variant that opens may say more."""
        first = b"".join(self.variant.chunks()).partition(b"\n")[0]
        header: Record = json.loads(first.removeprefix(BYTE_ORDER_MARK))
        return header


@dataclass(frozen=True, eq=False)
class LegacySession(FileSession):
    """A legacy v3 file with its outcome."""

    case: LegacyFile

    async def open(self) -> Subject:
        """Opens a file that opens. The subject's model holds the ids that this reading gave. Raises what `repo.open`
        raises.
        """
        session = await self.store.repo.open(self.metadata)
        return self.store.subject(session, self.model([entry["id"] for entry in await session.scan_entries()]))

    def model(self, ids: list[str]) -> LegacyModel:
        """What a session must show whose reading gave the entries these ids, in their order."""
        return legacy_model(self.case, ids)


@dataclass(frozen=True, eq=False)
class HugeSession(FileSession):
    """A long session of the recipe `benchmark`. There is no model, which would be as large: `generated.expectation` and
    `forkgen.check_session` judge it as they read.
    """

    generated: Generated


async def torn_tail(store: SessionMaker, *, keep: int | None = None, id: str | None = None) -> Subject:
    """A closed session of the store's own whose last line lost its end: `keep` bytes of it are left, half unless told.

    The model is that before the torn transaction. Raises ValueError when `keep` is not between 1 and the length of the
    line without its LF.
    """
    subject = await store.linear_session(3, id=id)
    before = copy.deepcopy(subject.model)
    parent = subject.model.tip("main")
    torn = records.message_entry("torn", parent, "gone — 水をやる 🌱")
    await subject.commit(EntryInsert(torn), ValueSet(branch_tip("main"), "torn"), ValueSet(session_name(), "torn 2.5"))
    before.look_at(subject.model.touched)
    await subject.close()
    path = store.path_of(subject)
    data = path.read_bytes()
    start = data.rindex(b"\n", 0, -1) + 1
    length = len(data) - start - 1
    left = length // 2 if keep is None else keep
    if not 1 <= left <= length:
        raise ValueError(f"{left} bytes of a line of {length} are no torn tail")
    store.raw.cut(path, start + left)
    subject.model = before
    return subject


def damage_variants(store: SessionMaker) -> Iterator[Damaged]:
    """Every damage of the small file, for the store's cwd (forkgen.damage)."""
    return damage(small_file.small_file(cwd=store.raw.cwd))


def damaged(store: SessionMaker, variant: Damaged) -> DamagedSession:
    """One of `damage_variants`, in the place of the one before it: that one must be closed."""
    path = store.raw.plant(variant.chunks(), id=small_file.ID)
    return DamagedSession(store, path, store.raw.metadata(path), variant)


def legacy(store: SessionMaker, case: LegacyFile) -> LegacySession:
    """A case of `forkgen.legacy`, in the place of the one before it; the files it names lie outside the store."""
    elsewhere = store.raw.elsewhere()
    for name, contents in case.companions:
        (elsewhere / name).write_bytes(contents)
    there = case.in_directory(elsewhere)
    path = store.raw.plant(there.contents, id=case.id, cwd=case.cwd, created_at=case.created_at)
    return LegacySession(store, path, store.raw.metadata(path), there)


def huge(store: SessionMaker, entries: int, id: str = "huge") -> HugeSession:
    """A session of so many entries of the recipe `benchmark`, written past the store."""
    generated = recipe("benchmark")(seed=0, size=entries)
    session = lines(generated, id=id, cwd=store.raw.cwd, created_at=CLOCK)
    path = store.raw.plant(session, id=id, created_at=CLOCK)
    return HugeSession(store, path, store.raw.metadata(path), generated)
