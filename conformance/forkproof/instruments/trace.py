"""Records every contract operation: its arguments, outcome and order. Feeds reports, reproducers and the call counter.

A recording is bounded in number and in size: the first operations are kept for the reproducer, the last ones for the
report.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from forkproof.difference import bounded
from forkproof.instruments import proxies
from forkproof.instruments.rendering import Rendering, outcome_text
from forkstore.contract.store import SessionRepo

OPERATIONS_KEPT = 2_000
TEXT_KEPT = 2_000_000
LAST_KEPT = 16
READ_IN_FULL = "(read in full)"


@dataclass(eq=False)
class Operation:
    """One recorded call. `started` and `ended` are places in one order of all starts and ends."""

    handle: str
    method: str
    arguments: str
    started: int
    clock: int | None = None
    ended: int | None = None
    kind: str = "running"
    """`running`, `returned`, `raised` or `cancelled`."""
    outcome: str = ""
    gives: str | None = None
    """The handle of the session, branch or scope that the call returned."""
    learned: str | None = None
    """A generated id that the call returned: later calls may name it."""
    session: str | None = None
    """The id of the session that the call returned."""
    entered: int | None = None
    scope: str | None = None
    """When the callback of a `mutate` was given its scope, and the scope's handle."""
    shortened: bool = False

    def in_words(self) -> str:
        """The operation on one line."""
        if self.method == READ_IN_FULL:
            return f"{self.handle} was read in full"
        arguments = self.arguments if len(self.arguments) <= 240 else f"{self.arguments[:240]}…"
        came = {"running": "still running", "cancelled": "cancelled"}.get(self.kind, f"{self.kind} {self.outcome}")
        return f"{self.handle}.{self.method}({arguments.replace('replay.', '')}) → {came}"


@dataclass(eq=False)
class Trace:
    """The recording of one case.

    >>> trace = Trace()
    >>> repo = trace.watch_repo(MemorySessionRepo())
    >>> session = await repo.create(id="s")
    >>> trace.calls, trace.operations[0].in_words()
    (1, "repo.create(id='s') → returned session1")
    """

    read_clock: Callable[[], int | None] = lambda: None
    calls: int = 0
    """How many contract calls reached the backend."""
    operations: list[Operation] = field(default_factory=list)
    last: deque[Operation] = field(default_factory=lambda: deque(maxlen=LAST_KEPT))
    open_sessions: dict[str, Any] = field(default_factory=dict)
    failed_closings: set[str] = field(default_factory=set)
    """Handles of repositories whose closing has failed before the eyes of the case."""
    """Inner sessions by handle, until their `close` has returned."""
    open_scopes: dict[str, Any] = field(default_factory=dict)
    """Inner scopes of `begin_mutation` by handle, until their `end` has returned."""
    made: dict[tuple[str, object], Any] = field(default_factory=dict)
    """Metadata of every session made or opened and not deleted since, by id and working directory."""
    cut: bool = False
    """Whether operations after the first ones were not kept for the reproducer."""
    _order: int = 0
    _text: int = 0
    _names: dict[str, int] = field(default_factory=dict)
    _proxies: weakref.WeakValueDictionary[tuple[type, int], proxies.Proxy] = field(
        default_factory=weakref.WeakValueDictionary
    )

    def watch_repo(self, repo: SessionRepo) -> SessionRepo:
        """The repository, recorded: so are its sessions, their storages and branches, and their scopes."""
        return cast("SessionRepo", self.proxy(proxies.RepoProxy, repo, self.new_handle("repo")))

    def proxy(self, kind: type[proxies.Proxy], inner: object, handle: str) -> proxies.Proxy:
        """One proxy per object, so that `is` tells of the proxies what it tells of the objects."""
        known = self._proxies.get((kind, id(inner)))
        if known is None:
            known = kind(inner, self, handle)
            self._proxies[kind, id(inner)] = known
        return known

    def new_handle(self, name: str) -> str:
        """`repo`, `session1`, `session2`, `scope1`, …: what reports and reproducers call the object."""
        self._names[name] = self._names.get(name, 0) + 1
        return name if name == "repo" and self._names[name] == 1 else f"{name}{self._names[name]}"

    def start(self, handle: str, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Operation:
        """Records the start of a call, with its arguments as they are now."""
        self.calls += 1
        rendering = Rendering(self._metadata_name)
        if method == "mutate":
            args = ()  # the callback is played back by what it does with its scope
        told = [rendering.text(one) for one in args] + [f"{key}={rendering.text(one)}" for key, one in kwargs.items()]
        operation = Operation(
            handle, method, ", ".join(told), self._next(), clock=self.read_clock(), shortened=rendering.shortened
        )
        self._keep(operation)
        return operation

    def note_full_reading(self, handle: str) -> None:
        """Records a full reading by the kit itself, as one line."""
        self.calls += 1
        self.last.append(Operation(handle, READ_IN_FULL, "", self._next(), ended=self._next(), kind="returned"))

    def end(self, operation: Operation, result: object) -> None:
        """Records that a call returned."""
        operation.ended, operation.kind = self._next(), "returned"
        operation.outcome = str(getattr(result, proxies.HANDLE, "")) or outcome_text(result)
        operation.gives = getattr(result, proxies.HANDLE, None)
        if operation.method in ("append_message", "append_custom_entry") and isinstance(result, str):
            operation.learned = result
        if isinstance(result, proxies.SessionProxy):
            operation.session = getattr(result.metadata, "id", None)

    def enter(self, operation: Operation, scope: str) -> None:
        """Records that the callback of a `mutate` was given its scope."""
        operation.entered, operation.scope = self._next(), scope

    def end_with(self, operation: Operation, error: BaseException) -> None:
        """Records that a call raised, or was cancelled."""
        cancelled = isinstance(error, asyncio.CancelledError)
        operation.ended, operation.kind = self._next(), "cancelled" if cancelled else "raised"
        operation.outcome = f"{type(error).__name__}: {bounded(str(error), quoted=False)}"

    def _keep(self, operation: Operation) -> None:
        self.last.append(operation)
        self._text += len(operation.arguments)
        if len(self.operations) < OPERATIONS_KEPT and self._text < TEXT_KEPT:
            self.operations.append(operation)
        else:
            self.cut = True

    def _next(self) -> int:
        self._order += 1
        return self._order

    def _metadata_name(self, value: object) -> str | None:
        session_id = getattr(value, "id", None)
        known = self.made.get(proxies.named_by(value)) if isinstance(session_id, str) else None
        return f"replay.metadata_of({session_id!r})" if known is not None and known == value else None
