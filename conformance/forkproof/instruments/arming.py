"""Which operation of a store a fault strikes: what is counted, from when on, and which number is due.

A store works on files or on databases. Both instruments, `FileFaults` and `SqlFaults`, are armed, swept and asked in
the same way, so a suite of faults need not know which one it drives.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from forkproof.instruments.fault_kinds import Fault, Hit
from forkstore.contract.files import FileErrorCode

SPARSE_FROM = 3
"""So many operations that are alike a sparse plan counts one by one."""


@dataclass(frozen=True)
class _Plan:
    """Which operations are counted, and which of them are struck."""

    fault: Fault
    at: tuple[int, ...]
    names: frozenset[str]
    paths: str
    sparse: bool
    caller: asyncio.Task[Any] | None

    def counts(self, name: str, path: str, target: str | None) -> bool:
        places = (path, target or path)
        return name in self.names and (self.paths == "*" or any(fnmatchcase(place, self.paths) for place in places))

    def is_due(self, number: int) -> bool:
        return number in self.at or (self.fault.lasting and number > self.at[0])


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _is_left_out(number: int) -> bool:
    """Whether a sparse plan does without the operation of this number among those that are alike."""
    is_power_of_two = number & (number - 1) == 0
    return number > SPARSE_FROM and not is_power_of_two


class Faults(ABC):
    """The faults of one case: armed with one of `fault_kinds` or `fault_scenes`, they let it strike an operation."""

    world: ClassVar[str]
    """What the operations are about, `file` or `database`: for messages."""
    operations: ClassVar[frozenset[str]]
    """The names of all operations that are counted."""
    changes: ClassVar[frozenset[str]]
    """Those that change bytes, and can be done in part."""
    are_many: ClassVar[bool] = False
    """Whether one call of a store makes so many operations that a sweep does with a part of them (`arm`, `sparse`)."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        """What was struck since the arming, in order."""
        self.count = 0
        """How many operations that the arming asked for were begun since."""
        self._plan: _Plan | None = None
        self._alike: Counter[tuple[str, str]] = Counter()
        """How many operations of a name and path there were."""
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop in which it was armed."""
        self._lock = threading.Lock()

    @abstractmethod
    def failure(self, code: FileErrorCode, hit: Hit) -> Exception:
        """The error by which this world tells of a failure."""

    def arm(
        self,
        fault: Fault,
        *,
        at: int = 1,
        names: Iterable[str] | None = None,
        paths: str = "*",
        sparse: bool = False,
        again_after: int | None = None,
        caller: asyncio.Task[Any] | None = None,
    ) -> None:
        """Lets the fault strike the `at`-th operation from now on, once more `again_after` operations later.

        Only operations of these names (None: those the fault can strike) on paths that match the pattern (`*` and `?`,
        over the whole path; one path of a rename is enough) are counted; if `sparse`, of operations of one name on one
        path only the first three, the fourth, the eighth, the sixteenth and so on. `caller` is the task for `Cancel`.
        An earlier arming ends. Raises ValueError for a number below 1 or an unknown name: a fault that strikes nothing
        proves nothing.
        """
        if at < 1 or (again_after is not None and again_after < 1):
            raise ValueError("operations are counted from 1")
        chosen = self.operations & (fault.names or self.operations) if names is None else frozenset(names)
        unknown = sorted(chosen - self.operations)
        if unknown or not chosen:
            raise ValueError(f"no {self.world} operation is called {', '.join(unknown) or 'nothing'}")
        points = (at,) if again_after is None else (at, at + again_after)
        with self._lock:
            self._loop = _running_loop()
            self.hits, self.count, self._alike = [], 0, Counter()
            self._plan = _Plan(fault, points, chosen, paths, sparse, caller)

    @property
    def hit(self) -> Hit | None:
        """The first operation that was struck since the arming; None when none was."""
        return self.hits[0] if self.hits else None

    def disarm(self) -> None:
        """Lets every further operation through; `hits` and `count` stay as they are."""
        self._plan = None

    def room(self) -> None:
        """Ends a full disk."""
        self.disarm()

    def due(self, name: str, path: str, target: str | None = None) -> tuple[Fault, Hit] | None:
        """Counts an operation that is about to be made, in whatever thread: the fault that strikes it, and the hit;
        None when it is to pass untouched.
        """
        if self._plan is None:
            return None
        with self._lock:
            plan = self._plan
            if plan is None or not plan.counts(name, path, target):
                return None
            self._alike[name, path] += 1
            goes_on = plan.fault.lasting and bool(self.hits)
            if plan.sparse and not goes_on and _is_left_out(self._alike[name, path]):
                return None
            self.count += 1
            if not plan.is_due(self.count):
                return None
            hit = Hit(
                number=self.count,
                name=name,
                path=path,
                target=target,
                world=self.world,
                thread=threading.get_ident(),
                first=not self.hits,
                caller=plan.caller,
                errors=self.failure,
            )
            self.hits.append(hit)
            return plan.fault, hit
