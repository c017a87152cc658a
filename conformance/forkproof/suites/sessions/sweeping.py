"""How thoroughly the suites of faults sweep: a store on files is struck at every operation in every row of a case.

One call of a store on a database makes a hundred operations, so the rows share them: each strikes its own, and all rows
together strike them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from forkproof.instruments.fault_kinds import Fault
from forkproof.makers import SessionMaker


class Share(TypedDict, total=False):
    """What `swept` is told of it."""

    first: int
    stride: int


def share(store: SessionMaker, number: int, of: int) -> Share:
    """The share of one of several rows, counted from 0.

    >>> await swept(call, store.faults, fault, check, **share(store, 2, of=7))
    """
    return Share(first=number % of + 1, stride=of) if store.faults.are_many else Share()


def share_of(store: SessionMaker, fault: Fault, faults: Mapping[str, Fault], *, by: int = 1) -> Share:
    """The share of the row of this fault; there are `by` times as many shares as rows."""
    return share(store, list(faults.values()).index(fault), len(faults) * by)
