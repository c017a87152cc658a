"""One upgrading commit, tried again and again on a v3 session, and what each attempt must leave (S-V3-21)."""

from __future__ import annotations

from typing import Self

from forkgen.legacy import LegacyFile
from forkproof.expect import ClauseBroken, expect, expect_equal
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.fault_kinds import Hit
from forkproof.instruments.stepping import Stepped
from forkproof.makers import SessionMaker
from forkproof.oracle.legacy_model import LegacyModel
from forkproof.suites.sessions.legacy_judging import expect_shown, normalized_of, opened, planted
from forkproof.suites.sessions.legacy_own_files import RICH, long_chain
from forkproof.suites.sessions.legacy_upgrading import expect_upgraded_file, writes_under
from forkstore.contract.errors import StoreIOError
from forkstore.contract.store import CallbackScope
from forkstore.contract.writes import CommitResult

LONG = long_chain(80, "x" * 7_000)
"""More than is written at a time."""
FILES = {"rich": RICH, "long": LONG}


class UpgradeAttempts:
    """One commit, tried again and again on a session that is still v3: each attempt that fails leaves all as it was.

    Where an attempt was wholly done all the same, because the failure came too late to matter, the upgrade is judged,
    and the v3 file takes its place again.
    """

    def __init__(self, store: SessionMaker, file: LegacyFile) -> None:
        self.store, self.file = store, file
        self.failures = 0

    async def begin(self) -> Self:
        """Opens the v3 file, in the place of what is left of an earlier one."""
        self.session = planted(self.store, self.file)
        self.subject = await opened(self.session)
        self.writes = writes_under(self.subject.model.tip("main"))
        self.guard = ByteGuard(self.session.path, root=self.store.root)
        return self

    async def attempt(self) -> CommitResult:
        """The call: the commit, in one mutation scope. The model is not told."""

        async def commit(scope: CallbackScope) -> CommitResult:
            return await scope.commit(list(self.writes))

        self.result: CommitResult = await self.subject.session.mutate(commit)
        return self.result

    async def after_fault(self, n: int, hit: Hit, outcome: Stepped) -> None:
        """For `swept`: the commit was done, or it failed with the store's own class and left all as it was."""
        self.store.faults.room()
        if outcome.kind == "returned":
            await self.expect_done(f"a commit that succeeded in spite of {hit}")
            await self.begin()
            return
        self.failures += 1
        error = outcome.error
        seen = f"{type(error).__name__}: {error}, caused by {error.__cause__!r}" if error else outcome.kind
        right = isinstance(error, StoreIOError) and error.__cause__ is hit.error
        expect(right, f"after {hit}\nexpected: StoreIOError, caused by {hit.error!r}\nseen:     {seen}")
        await self.expect_as_before(f"a failure at {hit}")

    async def after_cancelled_call(self, _: int, hit: Hit, outcome: Stepped) -> None:
        """For `swept` with a cancellation inside a file call."""
        await self.after_cancellation(hit, outcome)

    async def after_cancellation(self, at: object, outcome: Stepped) -> None:
        """The cancellation has arrived, and the commit is wholly done or wholly absent."""
        of = f"a cancellation at {at}"
        expect_equal(outcome.kind, "cancelled", of=f"how the commit ended after {of}")
        if self.guard.difference is None:
            self.failures += 1
            await self.expect_as_before(of)
            return
        await self.expect_done(of)
        await self.begin()

    async def expect_as_before(self, of: str) -> None:
        """Bytes, neighbours, state, statistics, ledger and next sequence."""
        self.guard.check(f"the v3 file and its neighbours after {of}")
        try:
            await expect_shown(self.session, self.subject)
        except ClauseBroken as error:
            raise ClauseBroken(f"after {of}: {error}") from error

    async def expect_done(self, of: str) -> None:
        """The upgrade is there wholly, with the sequences of a first attempt, now and when it is opened again."""
        session, subject = self.session, self.subject
        first = normalized_of(self.file).next_seq + 1
        seqs = list(range(first, first + len(self.writes)))
        entry = await subject.session.get_entry("first-of-format-4") or {}
        result = CommitResult(first, seqs, entry.get("timestamp", 0), await subject.session.get_stats())
        model = subject.model
        if isinstance(model, LegacyModel):
            imported = expect_upgraded_file(session, subject, self.writes, result)
            subject.follow(result, *self.writes)
            model.follow_upgrade([imported])
        await subject.check(f"the session after {of}")
        await subject.reopen()
        await subject.check(f"the session after {of}, opened again")
        await subject.close()

    async def expect_last(self) -> None:
        """The attempt that nothing came between has the sequences that the first one would have had."""
        first = normalized_of(self.file).next_seq + 1
        seqs = list(range(first, first + len(self.writes)))
        expect_equal([self.result.first_seq, self.result.seqs], [first, seqs], of="the sequences of the last attempt")
        await self.expect_done("the last attempt")
