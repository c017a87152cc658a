"""The refusals of the contract: one class per kind, each carrying what it refused (spec section 2.6).

Every class takes its attributes by position or keyword in the order of the contract's table, keeps them as
attributes, and words its own message, so that one refusal reads the same on every backend. Keeps S-ERR-01.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any


@dataclass(eq=False)
class SessionStoreError(Exception):
    """Base of every refusal and failure that a session store raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is pickled by its positional arguments; these classes are usually built by keyword.
        return partial(type(self), **{field.name: getattr(self, field.name) for field in fields(self)}), ()


@dataclass(eq=False)
class SessionExists(SessionStoreError):
    """Create or fork names an id that exists, is open, or is reserved."""

    session_id: str

    def __str__(self) -> str:
        return f"session {self.session_id!r} exists, is open or is reserved; choose another id"


@dataclass(eq=False)
class SessionNotFound(SessionStoreError):
    """The named session has no file, database, row or register entry."""

    session_id: str
    path: str | None = None

    def __str__(self) -> str:
        place = "" if self.path is None else f" at {self.path}"
        return f"there is no session {self.session_id!r}{place}; `list` shows those that there are"


@dataclass(eq=False)
class SessionInUse(SessionStoreError):
    """Open or delete names a session that is open or reserved."""

    session_id: str

    def __str__(self) -> str:
        return f"session {self.session_id!r} is open or reserved; close it first"


@dataclass(eq=False)
class SessionClosed(SessionStoreError):
    """Use of a session, branch or storage that is closing or closed."""

    session_id: str

    def __str__(self) -> str:
        return f"session {self.session_id!r} is closing or closed; open it again"


@dataclass(eq=False)
class RepoClosed(SessionStoreError):
    """Use of a repository that is closing or closed."""

    def __str__(self) -> str:
        return "the repository is closing or closed; build another one"


@dataclass(eq=False)
class ForeignSession(SessionStoreError):
    """Metadata that does not belong to this repository, or stored identity that differs from it."""

    session_id: str
    path: str
    field: str

    def __str__(self) -> str:
        return (
            f"session {self.session_id!r} at {self.path} is not this repository's: its {self.field} differs; "
            "use metadata of this one"
        )


@dataclass(eq=False)
class UnsupportedVersion(SessionStoreError):
    """A file format or storage version that the store does not read."""

    path: str
    version: object

    def __str__(self) -> str:
        return f"{self.path} has version {self.version!r}, which this store does not read"


@dataclass(eq=False)
class CorruptSession(SessionStoreError):
    """Stored data that breaks the format; `line` is 1-based, or None."""

    path: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{place} is damaged: {self.reason}"


@dataclass(eq=False)
class SessionFileChanged(SessionStoreError):
    """A file was removed, replaced or changed by someone else under an open session or a running fork."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path} was changed by someone else: {self.reason}"


@dataclass(eq=False)
class StoreIOError(SessionStoreError):
    """A file or database call failed; the original error is the cause."""

    operation: str
    path: str
    code: str

    def __str__(self) -> str:
        first: BaseException = self
        while first.__cause__ is not None:
            first = first.__cause__
        said = f" ({first.strerror})" if isinstance(first, OSError) and first.strerror else ""
        return f"{self.operation} of {self.path} failed: {self.code}{said}"


@dataclass(eq=False)
class DuplicateId(SessionStoreError):
    """An entry or usage id is already used in the session."""

    id: str

    def __str__(self) -> str:
        return f"id {self.id!r} already names an entry or usage row of this session; mint another"


@dataclass(eq=False)
class UnknownParent(SessionStoreError):
    """The parent of a new entry is not known."""

    entry_id: str
    parent_id: str

    def __str__(self) -> str:
        return f"entry {self.entry_id!r} names the unknown parent {self.parent_id!r}; insert that entry first"


@dataclass(eq=False)
class UnknownEntry(SessionStoreError):
    """A query or a new branch names an entry that does not exist."""

    entry_id: str

    def __str__(self) -> str:
        return f"there is no entry {self.entry_id!r} in this session; name one that is stored"


@dataclass(eq=False)
class UnknownBranch(SessionStoreError):
    """A branch has no tip row."""

    name: str

    def __str__(self) -> str:
        return f"there is no branch {self.name!r}: it has no tip row; create it first"


@dataclass(eq=False)
class BranchExists(SessionStoreError):
    """A new branch has the name of an existing one."""

    name: str

    def __str__(self) -> str:
        return f"branch {self.name!r} exists; choose another name"


@dataclass(eq=False)
class InvalidBranchName(SessionStoreError):
    """A branch name breaks S-SESS-03."""

    name: object
    reason: str

    def __str__(self) -> str:
        return f"{self.name!r} is no branch name: it {self.reason}"


@dataclass(eq=False)
class DataOnlyBranch(SessionStoreError):
    """A branch fork of a branch without configuration or without state."""

    name: str

    def __str__(self) -> str:
        return f"branch {self.name!r} has no configuration or no state; only a lane can be forked by branch"


@dataclass(eq=False)
class EntryNotOnBranch(SessionStoreError):
    """The fork point is not on the path of the branch."""

    entry_id: str
    branch: str

    def __str__(self) -> str:
        return (
            f"entry {self.entry_id!r} is neither the tip of branch {self.branch!r} nor one of its ancestors; "
            "name an entry of its path"
        )


@dataclass(eq=False)
class UndeclaredNamespace(SessionStoreError):
    """A fork source has a current row in an undeclared namespace; `kind` is `value` or `list`."""

    namespace: str
    kind: str

    def __str__(self) -> str:
        return (
            f"the source has a current {self.kind} row in {self.namespace!r}, for which no fork rule is declared; "
            "delete it first"
        )


@dataclass(eq=False)
class LegacySourceOpen(SessionStoreError):
    """A fork source is open and still in legacy v3 form."""

    session_id: str

    def __str__(self) -> str:
        return (
            f"session {self.session_id!r} is open in legacy form; a non-empty commit must upgrade it before it can fork"
        )


@dataclass(eq=False)
class LegacyEntryId(SessionStoreError):
    """A fork of a closed legacy v3 source names an entry."""

    session_id: str
    entry_id: str

    def __str__(self) -> str:
        return (
            f"session {self.session_id!r} is in legacy form and gives no lasting ids; {self.entry_id!r} cannot be named"
        )


@dataclass(eq=False)
class InvalidForkOptions(SessionStoreError):
    """Fork options break section 13."""

    field: str
    reason: str

    def __str__(self) -> str:
        return f"fork options: {self.field} {self.reason}"


@dataclass(eq=False)
class InvalidAddress(SessionStoreError):
    """An address breaks section 4."""

    field: str
    reason: str

    def __str__(self) -> str:
        return f"address: {self.field} {self.reason}"


@dataclass(eq=False)
class InvalidValue(SessionStoreError):
    """A write, value, entry or usage row cannot be stored; `where` names the write and the place inside it."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where} {self.reason}"


@dataclass(eq=False)
class InvalidQuery(SessionStoreError):
    """A query parameter breaks section 7 or 8."""

    field: str
    reason: str

    def __str__(self) -> str:
        return f"query: {self.field} {self.reason}"


@dataclass(eq=False)
class InvalidSessionId(SessionStoreError):
    """A session id breaks S-REPO-04."""

    session_id: object
    reason: str

    def __str__(self) -> str:
        return f"{self.session_id!r} is no session id: it {self.reason}"


@dataclass(eq=False)
class InvalidArgument(SessionStoreError):
    """Any other argument or option is of the wrong type or out of range."""

    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.field} {self.reason}"


@dataclass(eq=False)
class PendingMessage(SessionStoreError):
    """An assistant message is not settled yet."""

    def __str__(self) -> str:
        return "an assistant message with stopReason 'pending' cannot be stored; wait until it is settled"


@dataclass(eq=False)
class CommitAlreadyAttempted(SessionStoreError):
    """Second commit in one mutation scope."""

    def __str__(self) -> str:
        return "this mutation scope has used its one commit attempt; begin another scope"


@dataclass(eq=False)
class ScopeEnded(SessionStoreError):
    """Use of a mutation scope after its end."""

    def __str__(self) -> str:
        return "this mutation scope has ended; begin another scope"
