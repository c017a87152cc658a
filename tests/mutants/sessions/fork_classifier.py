"""Mutants of the suite `fork_classifier`."""

from __future__ import annotations

import unicodedata

from forkstore.contract.addresses import BUILT_IN_ADDRESSES, ENTRY_LABEL, OPERATION_RESULT, SESSION_NAME, is_reserved
from forkstore.contract.errors import UndeclaredNamespace
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.policy import Action, classify
from forkstore.contract.writes import CommitResult, ListAppend, ValueSet, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.states import without

DECLARED = {namespace for namespace, _ in BUILT_IN_ADDRESSES}


class WorkOfUnknownNamesFails(Mutant):
    """Lie: only the built-in operation rows are dropped; other names that start like them fail the fork."""

    kills = "S-FORK-CLS-01"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        for namespace in source.scalars:
            if namespace.startswith(("pi.op.", "pi.pending.")) and namespace not in DECLARED:
                raise UndeclaredNamespace(namespace, "value")
        return super().fork_state(source, options)


class TheNameIsLookedForAtTheEmptyKey(Mutant):
    """Lie: rows of the session's name at other keys are dropped."""

    kills = "S-FORK-CLS-01"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        for key in list(destination.scalars.get(SESSION_NAME, {})):
            if key:
                del destination.scalars[SESSION_NAME][key]
        return destination, count


class LabelsOfUnknownEntriesAreCopied(Mutant):
    """Lie: a tree fork copies every label."""

    kills = "S-FORK-CLS-02"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, TreeFork) and ENTRY_LABEL in source.scalars:
            destination.scalars[ENTRY_LABEL] = dict(source.scalars[ENTRY_LABEL])
        return destination, count


class LabelsOfTheWholeTreeAreCopied(Mutant):
    """Lie: a branch fork copies the labels of all entries of the source."""

    kills = "S-FORK-CLS-02"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        labels = source.scalars.get(ENTRY_LABEL, {})
        if isinstance(options, BranchFork) and labels:
            destination.scalars[ENTRY_LABEL] = {key: row for key, row in labels.items() if key in source.entries}
        return destination, count


class FramesAreCopied(Mutant):
    """Lie: the frames of an assistant message that still streams come along."""

    kills = "S-FORK-CLS-03"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        frames = {name: dict(keys) for name, keys in source.lists.items() if name.startswith("pi.pending.")}
        destination.lists.update(frames)
        return destination, count


class ResultsAreCopied(Mutant):
    """Lie: the results of ended operations come along with the tree."""

    kills = "S-FORK-CLS-03"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, TreeFork) and OPERATION_RESULT in source.scalars:
            destination.scalars[OPERATION_RESULT] = dict(source.scalars[OPERATION_RESULT])
        return destination, count


class UndeclaredScalarsAreDropped(Mutant):
    """Lie: a scalar in an undeclared namespace is left out and nothing is said."""

    kills = "S-FORK-CLS-04"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        undeclared = [name for name in source.scalars if classify(name, "value") is Action.FAIL]
        return super().fork_state(without(source, undeclared, "value"), options)


class UndeclaredNullsPass(Mutant):
    """Lie: a scalar that holds null counts as not there."""

    kills = "S-FORK-CLS-04"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        nulls = [
            name
            for name, keys in source.scalars.items()
            if classify(name, "value") is Action.FAIL and all(row.text == b"null" for row in keys.values())
        ]
        return super().fork_state(without(source, nulls, "value"), options)


class BranchForksReadNoLists(Mutant):
    """Lie: a branch fork takes no lists and so never looks at them."""

    kills = "S-FORK-CLS-05"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork):
            source = without(source, source.lists, "list")
        return super().fork_state(source, options)


class DeclaredListsAreDropped(Mutant):
    """Lie: the kind of a row does not count: a list in a declared namespace is left out and nothing is said."""

    kills = "S-FORK-CLS-06"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        return super().fork_state(without(source, DECLARED, "list"), options)


class UsedNamespacesAreRemembered(Mutant):
    """Lie: a namespace counts as long as a record of it was ever written."""

    kills = "S-FORK-CLS-07"

    used: dict[int, set[str]] = {}  # noqa: RUF012 - shared on purpose: by the identity of a state

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            names = {write.address.namespace for write in writes if isinstance(write, ValueSet | ListAppend)}
            UsedNamespacesAreRemembered.used.setdefault(id(self._state), set()).update(names)
            return result

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        for namespace in sorted(self.used.get(id(source), ())):
            if is_reserved(namespace) and classify(namespace, "value") is Action.FAIL:
                raise UndeclaredNamespace(namespace, "value")
        return super().fork_state(source, options)


class NamesAreComparedWithoutCase(Mutant):
    """Lie: `PI.x` is reserved like `pi.x`."""

    kills = "S-FORK-CLS-08"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        for namespace in source.scalars:
            if not is_reserved(namespace) and classify(namespace.lower(), "value") is Action.FAIL:
                raise UndeclaredNamespace(namespace, "value")
        return super().fork_state(source, options)


class DeclaredNamesArePrefixes(Mutant):
    """Lie: more text after a declared name makes no other name: `pi.result.x` is dropped like `pi.result`."""

    kills = "S-FORK-CLS-08"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        longer = [name for name in source.scalars if name.startswith(f"{OPERATION_RESULT}.")]
        return super().fork_state(without(source, longer, "value"), options)


class FullWidthIsFolded(Mutant):
    """Lie: namespaces are compared in a normal form that folds letters of full width."""

    kills = "S-FORK-CLS-08"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        for namespace in source.scalars:
            if is_reserved(unicodedata.normalize("NFKC", namespace)) and not is_reserved(namespace):
                raise UndeclaredNamespace(namespace, "value")
        return super().fork_state(source, options)
