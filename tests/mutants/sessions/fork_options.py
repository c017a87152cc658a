"""Mutants of the suite `fork_options`."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from forkstore.contract.errors import InvalidForkOptions
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork, fork_options_from_wire
from forkstore.contract.store import SessionMetadata
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class TakesTheWireForm(Mutant):
    """Lie: the wire form is taken for options."""

    kills = "S-FORK-OPT-01"

    async def fork(self, metadata: SessionMetadata, options: Any) -> Session:
        return await super().fork(metadata, fork_options_from_wire(options) if isinstance(options, dict) else options)


class NoOptionsMeanATree(Mutant):
    """Lie: None is taken for a tree fork."""

    kills = "S-FORK-OPT-01"

    async def fork(self, metadata: SessionMetadata, options: Any) -> Session:
        return await super().fork(metadata, TreeFork() if options is None else options)


class HasADefaultScope(Mutant):
    """Lie: a fork without options is a tree fork."""

    kills = "S-FORK-OPT-02"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions = TreeFork()) -> Session:  # noqa: B008
        return await super().fork(metadata, options)


class UnknownPositionsMeanAt(Mutant):
    """Lie: every position but `before` is taken for `at`."""

    kills = "S-FORK-OPT-03"

    async def fork(self, metadata: SessionMetadata, options: Any) -> Session:
        if isinstance(options, BranchFork) and options.position != "before":
            options = dataclasses.replace(options, position="at")
        return await super().fork(metadata, options)


class FalseMeansTheTip(Mutant):
    """Lie: an entry id that is falsy is taken for none."""

    kills = "S-FORK-OPT-03"

    async def fork(self, metadata: SessionMetadata, options: Any) -> Session:
        if isinstance(options, BranchFork) and not options.entry_id:
            options = dataclasses.replace(options, entry_id=None)
        return await super().fork(metadata, options)


class LooksAtTheSourceFirst(Mutant):
    """Lie: the source is searched before the options are checked."""

    kills = "S-FORK-OPT-04"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        self._reservations.check_open()
        self._find(metadata.id)
        return await super().fork(metadata, options)


class ChecksOptionsLate(Mutant):
    """Lie: options are checked after a suspension."""

    kills = "S-FORK-OPT-04"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        await asyncio.sleep(0)
        return await super().fork(metadata, options)


class RefusesAnEmptyBranchName(Mutant):
    """Lie: an empty branch name is malformed."""

    kills = "S-FORK-OPT-05"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        if isinstance(options, BranchFork) and options.branch == "":
            raise InvalidForkOptions("branch", "is empty")
        return await super().fork(metadata, options)
