"""Stand-ins that record: they pass every attribute through, and wrap the calls of the contract.

A wrapped call is a coroutine that makes the inner call and awaits it in its own first step, so the order of first
steps, on which the contract builds admission and reservation, is the one the backend would see without the kit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from forkproof.instruments.trace import Operation, Trace

INNER = "_forkproof_inner"
TRACE = "_forkproof_trace"
HANDLE = "_forkproof_handle"

_READS = frozenset({"get_entries", "get_value", "scan_values", "read_list", "scan_branch", "get_stats"})
_STORAGE_READS = _READS | {"scan_branch_structure", "scan_entries", "scan_usage"}
_FINDS = frozenset({"find_entries", "find_entry"})
_WRITERS = frozenset({"set_value", "delete_value", "append_list", "delete_list", "set_name", "set_label"})

TracedCall = Callable[..., Coroutine[Any, Any, Any]]


def handle_of(watched: object) -> str:
    """What the recording calls a watched object; its type's name for any other."""
    return str(getattr(watched, HANDLE, type(watched).__name__))


def unwatched(watched: Any) -> Any:
    """The object behind a proxy; any other object as it is."""
    return getattr(watched, INNER, watched)


def named_by(metadata: object) -> tuple[str, object]:
    """What tells a session from the others of its store: its id, and its working directory where it has one."""
    return str(getattr(metadata, "id", "")), getattr(metadata, "cwd", None)


class Proxy:
    """Passes everything through to the inner object, and records the calls named in `calls`."""

    __slots__ = (INNER, TRACE, HANDLE, "__weakref__")
    calls: ClassVar[frozenset[str]] = frozenset()

    if TYPE_CHECKING:
        _forkproof_inner: Any
        _forkproof_trace: Trace
        _forkproof_handle: str

    def __init__(self, inner: object, trace: Trace, handle: str) -> None:
        object.__setattr__(self, INNER, inner)
        object.__setattr__(self, TRACE, trace)
        object.__setattr__(self, HANDLE, handle)

    def __repr__(self) -> str:
        return self._forkproof_handle

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._forkproof_inner, name, value)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._forkproof_inner, name)
        return self._recorded(name, value) if name in self.calls else value

    def _recorded(self, name: str, inner: Callable[..., Any]) -> TracedCall:
        trace, handle = self._forkproof_trace, self._forkproof_handle

        async def call(*args: Any, **kwargs: Any) -> Any:
            operation = trace.start(handle, name, args, kwargs)
            try:
                result = self._watched(name, await inner(*self._arguments(operation, args), **kwargs), args)
            except BaseException as error:
                trace.end_with(operation, error)
                self._ended(name, args, error)
                raise
            trace.end(operation, result)
            self._ended(name, args, None)
            return result

        call.__name__, call.__qualname__ = name, f"{handle}.{name}"
        return call

    def _arguments(self, operation: Operation, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return args

    def _watched(self, name: str, result: Any, args: tuple[Any, ...]) -> Any:
        return result

    def _ended(self, name: str, args: tuple[Any, ...], error: BaseException | None) -> None:
        """What the kit has to know of a call that ended, for its clean-up."""


class RepoProxy(Proxy):
    """A repository: its sessions are recorded too."""

    __slots__ = ()
    calls = frozenset({"create", "open", "list", "delete", "fork", "close"})

    def _watched(self, name: str, result: Any, args: tuple[Any, ...]) -> Any:
        if name not in ("create", "open", "fork") or result is None:
            return result
        trace = self._forkproof_trace
        session = trace.proxy(SessionProxy, result, trace.new_handle("session"))
        trace.open_sessions[handle_of(session)] = result
        metadata = getattr(result, "metadata", None)
        trace.made[named_by(metadata)] = metadata
        return session

    def _ended(self, name: str, args: tuple[Any, ...], error: BaseException | None) -> None:
        if name == "delete" and error is None and args:
            self._forkproof_trace.made.pop(named_by(args[0]), None)
        if name == "close" and isinstance(error, Exception):
            self._forkproof_trace.failed_closings.add(self._forkproof_handle)


class StorageProxy(Proxy):
    """The storage of a session."""

    __slots__ = ()
    calls = _STORAGE_READS | {"commit", "close"}


class BranchProxy(Proxy):
    """A branch of a session."""

    __slots__ = ()
    calls = _FINDS | {"get_tip_id", "append_message", "append_custom_entry"}


class ScopeProxy(Proxy):
    """A mutation scope; it has an `end` exactly when the scope behind it has one."""

    __slots__ = ()
    calls = _READS | {"commit", "end"}

    def _ended(self, name: str, args: tuple[Any, ...], error: BaseException | None) -> None:
        if name == "end" and error is None:
            self._forkproof_trace.open_scopes.pop(self._forkproof_handle, None)


class SessionProxy(Proxy):
    """A session: its storage, branches and scopes are recorded too."""

    __slots__ = ()
    calls = (
        _STORAGE_READS
        | _FINDS
        | _WRITERS
        | {"get_entry", "get_name", "get_label", "branch", "create_branch", "begin_mutation", "mutate", "close"}
    )

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name != "storage":
            return value
        return self._forkproof_trace.proxy(StorageProxy, value, f"{self._forkproof_handle}.storage")

    def _arguments(self, operation: Operation, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if operation.method != "mutate" or not args or not callable(args[0]):
            return args
        return (self._recorded_callback(operation, args[0]), *args[1:])

    def _recorded_callback(self, operation: Operation, callback: Callable[[Any], Any]) -> Callable[[Any], Any]:
        trace = self._forkproof_trace

        def with_recorded_scope(scope: Any) -> Any:
            watched = trace.proxy(ScopeProxy, scope, trace.new_handle("scope"))
            trace.enter(operation, handle_of(watched))
            return callback(watched)

        async def awaiting(scope: Any) -> Any:
            return await with_recorded_scope(scope)

        return awaiting if inspect.iscoroutinefunction(callback) else with_recorded_scope

    def _watched(self, name: str, result: Any, args: tuple[Any, ...]) -> Any:
        trace = self._forkproof_trace
        if name in ("branch", "create_branch") and result is not None:
            return trace.proxy(BranchProxy, result, trace.new_handle("branch"))
        if name == "begin_mutation" and result is not None:
            scope = trace.proxy(ScopeProxy, result, trace.new_handle("scope"))
            trace.open_scopes[handle_of(scope)] = result
            return scope
        return result

    def _ended(self, name: str, args: tuple[Any, ...], error: BaseException | None) -> None:
        if name == "close" and (error is None or isinstance(error, Exception)):  # a failed closing is over too
            self._forkproof_trace.open_sessions.pop(self._forkproof_handle, None)
