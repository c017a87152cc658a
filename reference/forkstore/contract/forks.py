"""Fork options, their wire form, and the probe that tests watch forks with (spec sections 13 and 19.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from .errors import InvalidForkOptions


@dataclass(frozen=True, slots=True)
class BranchFork:
    """Fork one branch, at or before an entry of its path (by default its tip).

    Building checks nothing (S-FORK-OPT-04).
    """

    branch: str
    entry_id: str | None = None
    position: Literal["at", "before"] = "at"
    id: str | None = None


@dataclass(frozen=True, slots=True)
class TreeFork:
    """Fork the whole tree with every branch and all application data. Building checks nothing (S-FORK-OPT-04)."""

    id: str | None = None


ForkOptions = BranchFork | TreeFork


class ForkProbe(Protocol):
    """What a fork reports to a test.

    A probe may have any of the three; a missing method does nothing (spec section 19.2).
    """

    async def boundary_captured(self) -> None:
        """The boundary is fixed and the source's commit queue is free."""

    async def batch_copied(self, count: int) -> None:
        """A batch of `count` destination writes, at least 1, is copied."""

    async def before_publish(self) -> None:
        """All is copied, the source is released, and nobody can see the destination yet."""


def check_fork_options(options: object) -> ForkOptions:
    """The options, if they are well formed. Raises InvalidForkOptions (S-FORK-OPT-01, S-FORK-OPT-03).

    The name of the branch is not judged here: a name without a tip row is an unknown branch (S-FORK-OPT-05).
    """
    if not isinstance(options, BranchFork | TreeFork):
        raise InvalidForkOptions("options", "are neither a BranchFork nor a TreeFork")
    if isinstance(options, BranchFork):
        if type(options.branch) is not str:
            raise InvalidForkOptions("branch", "is not a string")
        _check_optional_text("entry_id", options.entry_id)
        if options.position not in ("at", "before"):
            raise InvalidForkOptions("position", "is neither 'at' nor 'before'")
    _check_optional_text("id", options.id)
    return options


_BRANCH_KEYS: Final = {"scope", "branch", "entryId", "position", "id"}
_TREE_KEYS: Final = {"scope", "id"}


def fork_options_from_wire(wire: Any) -> ForkOptions:
    """Fork options from their wire form. Raises InvalidForkOptions (S-FORK-OPT-06).

    >>> fork_options_from_wire({"scope": "branch", "branch": "main", "position": "before"})
    BranchFork(branch='main', entry_id=None, position='before', id=None)
    """
    if not isinstance(wire, Mapping):
        raise InvalidForkOptions("options", "are not an object")
    scope = wire.get("scope")
    if scope not in ("branch", "tree"):
        raise InvalidForkOptions("scope", "is missing or neither 'branch' nor 'tree'")
    for key, value in wire.items():
        if key not in (_BRANCH_KEYS if scope == "branch" else _TREE_KEYS):
            raise InvalidForkOptions(str(key), f"is no option of a {scope} fork")
        if value is None:
            raise InvalidForkOptions(key, "is null; leave it out instead")
    if scope == "branch" and "branch" not in wire:
        raise InvalidForkOptions("branch", "is missing")
    options = (
        BranchFork(wire["branch"], wire.get("entryId"), wire.get("position", "at"), wire.get("id"))
        if scope == "branch"
        else TreeFork(wire.get("id"))
    )
    return check_fork_options(options)


def fork_options_to_wire(options: ForkOptions) -> dict[str, str]:
    """The wire form of fork options; an absent option is left out. Raises InvalidForkOptions (S-FORK-OPT-06)."""
    checked = check_fork_options(options)
    identity = {} if checked.id is None else {"id": checked.id}
    if isinstance(checked, TreeFork):
        return {"scope": "tree", **identity}
    point = {} if checked.entry_id is None else {"entryId": checked.entry_id}
    return {"scope": "branch", "branch": checked.branch, **point, "position": checked.position, **identity}


def _check_optional_text(field: str, value: object) -> None:
    if value is not None and type(value) is not str:
        raise InvalidForkOptions(field, "is neither a string nor None")
