"""Mutants of the suites `addresses` and `namespaces`."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

from forkstore.contract.addresses import BUILT_IN_ADDRESSES, Address
from forkstore.contract.errors import InvalidAddress, UndeclaredNamespace
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import ValueRow
from forkstore.contract.writes import CommitResult, ListDelete, ValueDelete, ValueSet, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.rewriting import RewritingStorage

BUILT_IN = {namespace for namespace, _ in BUILT_IN_ADDRESSES}


class TrimsKeys(Mutant):
    """Lie: blanks around a key do not count."""

    kills = "S-ADDR-02"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def address(self, address: Address) -> Address:
            return Address(address.namespace, address.key.strip(" "), address.kind)


class FoldsNamespaces(Mutant):
    """Lie: namespaces are compared without case."""

    kills = "S-ADDR-02"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def address(self, address: Address) -> Address:
            return Address(address.namespace.lower(), address.key, address.kind)


class NormalizesListKeys(Mutant):
    """Lie: the keys of lists are kept in composed form."""

    kills = "S-ADDR-02"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def address(self, address: Address) -> Address:
            key = normalize("NFC", address.key) if address.kind == "list" else address.key
            return Address(address.namespace, key, address.kind)


class FindsOnlyTheSameObject(Mutant):
    """Lie: a scalar is found by the address object that set it."""

    kills = "S-ADDR-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        _setters: tuple[Address, ...] = ()

        async def commit(self, writes: list[Write]) -> CommitResult:
            self._setters += tuple(write.address for write in writes if isinstance(write, ValueSet))
            return await super().commit(writes)

        async def get_value(self, address: Address) -> ValueRow | None:
            known = any(address is setter for setter in self._setters)
            return await super().get_value(address) if known else None


class ListDeleteTakesTheScalar(Mutant):
    """Lie: deleting a list deletes all that is at its namespace and key."""

    kills = "S-ADDR-04"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            for write in writes:
                if isinstance(write, ListDelete):
                    self._state.scalars.get(write.address.namespace, {}).pop(write.address.key, None)
            return result


class ScalarDeleteTakesTheList(Mutant):
    """Lie: deleting a scalar deletes the list beside it."""

    kills = "S-ADDR-04"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            for write in writes:
                if isinstance(write, ValueDelete):
                    self._state.lists.get(write.address.namespace, {}).pop(write.address.key, None)
            return result


class ForkTakesOneOfTwoKinds(Mutant):
    """Lie: where a scalar is, a fork takes no list."""

    kills = "S-ADDR-04"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        for namespace, keys in destination.scalars.items():
            for key in keys:
                destination.lists.get(namespace, {}).pop(key, None)
        return destination, count


def _refuse(source: SessionState, reserved: Any) -> None:
    for namespace in source.scalars:
        if namespace not in BUILT_IN and reserved(namespace):
            raise UndeclaredNamespace(namespace, "value")


class ReservedByPrefix(Mutant):
    """Lie: every namespace that starts with `pi` is reserved."""

    kills = "S-ADDR-05"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        _refuse(source, lambda namespace: namespace.startswith("pi"))
        return super().fork_state(source, options)


class ReservedWithoutCase(Mutant):
    """Lie: `PI.` is reserved like `pi.`."""

    kills = "S-ADDR-05"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        _refuse(source, lambda namespace: namespace.lower().startswith("pi."))
        return super().fork_state(source, options)


class PiAloneIsFree(Mutant):
    """Lie: `pi` itself belongs to the application."""

    kills = "S-ADDR-05"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        rows = source.scalars.pop("pi", None)
        try:
            return super().fork_state(source, options)
        finally:
            source.scalars.update({} if rows is None else {"pi": rows})


class ReservedCannotBeRead(Mutant):
    """Lie: an address in an undeclared namespace is refused when it is read."""

    kills = "S-ADDR-06"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def get_value(self, address: Address) -> ValueRow | None:
            if address.namespace.startswith("pi") and address.namespace not in BUILT_IN:
                raise InvalidAddress("namespace", "is reserved")
            return await super().get_value(address)
