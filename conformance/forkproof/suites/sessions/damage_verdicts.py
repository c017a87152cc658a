"""What the suites of damaged session files share: good files, and a variant put in place, opened and held to its
verdict.

A suite asks many variants in one case. All of them are judged, and a broken clause names each that broke it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from forkgen.damage import Damaged, Verdict, damage
from forkgen.jsonl import lines
from forkproof.expect import ClauseBroken, expect_equal
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.clocks import START
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject, records
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_lines import lines_in
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.model import SessionModel
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import InvalidValue, SessionStoreError
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

ID = "good"
MARK = b"\xef\xbb\xbf"
LAST_SEQUENCE = 2**53 - 1
NAMED = 12
"""How many variants a broken clause names."""


def _letters() -> list[list[Write]]:
    """Two lines of one write each; the last is short, and full of letters of two, three and four bytes."""
    entry = records.message_entry("e1", None, message=records.user_message("früh 水をやる 🌱"))
    return [[ValueSet(branch_tip("main"), None)], [EntryInsert(entry)]]


def _numbers() -> list[list[Write]]:
    """A last line of numbers that are numbers still when they are cut, up to the last byte of the last record."""
    values = (12345, -2.125, 1e-07)
    sets = [ValueSet(value_address("garden.plan", str(number)), value) for number, value in enumerate(values)]
    return [[UsageInsert(records.usage_row("u1"))], [*sets, ListAppend(list_address("garden.log"), 6789)]]


def good_files(cwd: str) -> dict[str, bytes]:
    """Good files with the id `good`: everything in it, nothing but a header, letters, numbers."""
    made: dict[str, list[list[Write]]] = {"bare": [], "letters": _letters(), "numbers": _numbers()}
    spelled = {name: b"".join(lines(each, id=ID, cwd=cwd, created_at=START)) for name, each in made.items()}
    return {"rich": small_file(id=ID, cwd=cwd), **spelled}


@dataclass(frozen=True, eq=False)
class UnderDamage:
    """A good file and its damages, in the place where a store keeps it.

    >>> rich = UnderDamage.of(store, "rich")
    >>> await each(rich.variants("S-JSONL-FMT-12"), rich.expect_whole_verdict)
    """

    store: SessionMaker
    good: bytes

    @classmethod
    def of(cls, store: SessionMaker, name: str) -> UnderDamage:
        """The good file of that name, for the store's own cwd."""
        return cls(store, good_files(store.raw.cwd)[name])

    def variants(self, *clauses: str, verdicts: Iterable[Verdict] = Verdict) -> list[Damaged]:
        """The variants that show one of the clauses (all, when none is named), with one of the verdicts."""
        wanted, known = set(clauses), set(verdicts)
        every = (variant for variant in damage(self.good) if variant.verdict in known)
        return [variant for variant in every if not wanted or wanted & set(variant.clauses)]

    def place(self, variant: Damaged, tail: bytes = b"") -> Path:
        """Puts the variant where the session belongs, with more bytes behind it; it takes the place of the one before
        it.
        """
        return self.store.raw.plant(chain(variant.chunks(), [tail]), id=ID)

    async def refusal(self, path: Path) -> BaseException | None:
        """What `open` raised for a file, which must stay as it is, without a neighbour."""
        with ByteGuard(path, of="the file that is not to be opened"):
            opened = await ended(self.store.repo.open(self.store.raw.metadata(path)))
            if opened.error is None:
                await opened.value.close()
        return opened.error

    @asynccontextmanager
    async def opened(self, variant: Damaged, path: Path) -> AsyncIterator[Subject]:
        """The session in a file that was put in place, with the model of what it must show; it is closed behind the
        block.
        """
        opened = await ended(self.store.repo.open(self.store.raw.metadata(path)))
        _expect_told(opened.error, "it opens")
        subject = self.store.subject(opened.value, self.model(variant))
        try:
            yield subject
        finally:
            await subject.close()

    def model(self, variant: Damaged) -> SessionModel:
        """What a right store shows of a variant that opens."""
        kept = self._transactions[:-1] if variant.verdict is Verdict.OPENS_BEFORE else self._transactions
        header = b"".join(variant.chunks()).partition(b"\n")[0].removeprefix(MARK)
        parent_id = json.loads(header).get("parentSessionId")
        model = model_of_records([*chain(*kept), *variant.added], parent_session_id=parent_id)
        every = chain(chain(*self._transactions), variant.added)
        model.look_at((record["namespace"], record["key"]) for record in every if "namespace" in record)
        return replace(model, next_seq=variant.next_seq)

    async def expect_refused(self, variant: Damaged, tail: bytes = b"") -> None:
        """The class that the verdict names, with path, line or version, and cause; and no byte changed. A torn tail
        behind the file makes no difference.
        """
        path = self.place(variant, tail)
        error = await self.refusal(path)
        expected = {
            Verdict.CORRUPT: f"CorruptSession in line {variant.line}",
            Verdict.UNSUPPORTED: f"UnsupportedVersion {variant.version}",
        }
        _expect_told(error, expected[variant.verdict])
        expect_equal(getattr(error, "path", None), str(path.resolve()), of="the path that the error carries")
        if variant.cause is not None and error is not None:
            expect_equal(type(error.__cause__).__name__, variant.cause, of="the cause of the error")

    async def expect_state(self, variant: Damaged) -> None:
        """The variant shows what the model holds."""
        async with self.opened(variant, self.place(variant)) as subject:
            await subject.check("the opened file, read in full")

    async def expect_bytes(self, variant: Damaged) -> None:
        """Opening rewrites what has to be rewritten, and no other byte; it leaves nothing beside the file."""
        path, left = self.place(variant), b"".join(variant.after_open())
        beside, guard = set(path.parent.iterdir()), ByteGuard(path, of="the file that is opened")
        async with self.opened(variant, path):
            expect_equal(path.read_bytes(), left, of="the file after open")
        expect_equal(path.read_bytes(), left, of="the file after close")
        expect_equal(set(path.parent.iterdir()), beside, of="the file and its neighbours")
        if not variant.repaired:
            guard.check()

    async def expect_next_commit(self, variant: Damaged) -> None:
        """The next commit takes the sequence that the verdict names, and a line of its own behind what was kept."""
        path, kept = self.place(variant), b"".join(variant.after_open())
        write = ValueSet(value_address("garden.next"), "früh")
        async with self.opened(variant, path) as subject:
            if variant.next_seq is not None and variant.next_seq > LAST_SEQUENCE:
                refusal = await ended(subject.commit(write))
                expect_equal(type(refusal.error), InvalidValue, of="a commit for which no sequence is left")
                return
            result = await subject.commit(write)
            expect_equal(result.seqs, [variant.next_seq], of="the sequence of the next commit")
            line = b'{"kind":"value","op":"set","seq":%d,"namespace":"garden.next","key":"","value":"fr\xc3\xbch"}\n'
            expect_equal(path.read_bytes(), kept + line % result.first_seq, of="the file after the next commit")
            await subject.check("the session after the next commit")

    async def expect_whole_verdict(self, variant: Damaged) -> None:
        """All that the verdict says."""
        if variant.verdict in (Verdict.CORRUPT, Verdict.UNSUPPORTED):
            await self.expect_refused(variant)
            return
        await self.expect_state(variant)
        await self.expect_bytes(variant)
        await self.expect_next_commit(variant)

    @cached_property
    def _transactions(self) -> list[list[records.Record]]:
        return lines_in(self.good, Path("the good file")).transactions


def _expect_told(error: BaseException | None, expected: str) -> None:
    """Breaks the clause unless `open` ended so. What is no refusal of the contract is an accident, and raised."""
    if error is not None and not isinstance(error, SessionStoreError):
        raise error
    if _told(error) != expected:
        raise ClauseBroken(f"opening the file\nexpected: {expected}\nseen:     {_told(error)}") from error


def _told(error: BaseException | None) -> str:
    """How `open` ended, in the words of a verdict."""
    if error is None:
        return "it opens"
    line, version = getattr(error, "line", None), getattr(error, "version", None)
    place = f" in line {line}" if line is not None else "" if version is None else f" {version}"
    return f"{type(error).__name__}{place}"


async def each(variants: Iterable[Damaged], judge: Callable[[Damaged], Awaitable[None]]) -> None:
    """Judges every variant. Breaks the clause with the first one that is not as it must be, and the names of the
    others; or when there is none to judge.
    """
    broken: dict[str, ClauseBroken] = {}
    asked = 0
    for variant in variants:
        asked += 1
        try:
            await judge(variant)
        except ClauseBroken as error:
            broken[variant.name] = error
    if not asked:
        raise LookupError("no variant was asked for: the case would prove nothing")
    if broken:
        first, *more = broken
        names = f"\nso did {', '.join(more[:NAMED])}{' …' if more[NAMED:] else ''}" if more else ""
        told = f"{len(broken)} of {asked} damaged files broke the clause, {first} among them\n{broken[first]}{names}"
        raise ClauseBroken(told) from broken[first].__cause__
