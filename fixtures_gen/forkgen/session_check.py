"""A full check of a live session against an expectation, through the public interface, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from typing import Final

from forkstore.contract.addresses import Address, list_address, value_address
from forkstore.contract.records import Json
from forkstore.contract.store import StorageReads

from .checking import check_entries, check_list, check_path, check_stats, check_usage, check_values
from .expectation import Expectation

PAGE: Final = 500


async def check_session(session: StorageReads, expectation: Expectation) -> None:
    """Checks entries, scalars, lists, the ledger, the statistics, and the path of every branch.

    Also that nothing is left where the recipe, or the source of a fork, once had something. Holds a page of a session
    at a time, and the scalars of a namespace. Raises ExpectationBroken.
    """
    await _check_entries(session, expectation)
    await _check_values(session, expectation)
    await _check_lists(session, expectation)
    await _check_usage(session, expectation)
    check_stats(expectation.message_count, expectation.usage, await session.get_stats())
    await _check_paths(session, expectation)


async def _check_entries(session: StorageReads, expectation: Expectation) -> None:
    expected, first, last = expectation.entries(), 0, 0
    while page := await session.scan_entries(from_seq=last + 1, limit=PAGE):
        last = check_entries(islice(expected, len(page)), page, first=first, after=last)
        first += len(page)
    check_entries(expected, (), first=first)


async def _check_usage(session: StorageReads, expectation: Expectation) -> None:
    expected, first, last = expectation.usage_rows(), 0, 0
    while page := await session.scan_usage(from_seq=last + 1, limit=PAGE):
        last = check_usage(islice(expected, len(page)), page, first=first, after=last)
        first += len(page)
    check_usage(expected, (), first=first)


async def _check_values(session: StorageReads, expectation: Expectation) -> None:
    families = groupby(expectation.scalars(), key=lambda scalar: scalar[0].namespace)
    upcoming, expected = next(families, (None, iter(())))
    for namespace in expectation.namespaces():
        rows = await session.scan_values(value_address(namespace))
        if namespace == upcoming:
            check_values(expected, rows)
            upcoming, expected = next(families, (None, iter(())))
        else:
            check_values((), rows)
    check_values(expected, ())


async def _check_lists(session: StorageReads, expectation: Expectation) -> None:
    lists = expectation.lists()
    upcoming = next(lists, None)
    for address in expectation.touched_lists():
        if upcoming is not None and address == upcoming[0]:
            await _check_list(session, *upcoming)
            upcoming = next(lists, None)
        else:
            await _check_list(session, address, iter(()))
    if upcoming is not None:
        check_list(*upcoming, ())


async def _check_list(session: StorageReads, address: Address, expected: Iterator[Json]) -> None:
    first, last = 0, 0
    while page := await session.read_list(list_address(address.namespace, address.key), limit=PAGE, cursor=last):
        last = check_list(address, islice(expected, len(page)), page, first=first, after=last)
        first += len(page)
    check_list(address, expected, (), first=first)


async def _check_paths(session: StorageReads, expectation: Expectation) -> None:
    """Walks every branch down from its tip, which the check of the scalars has found to be right."""
    for branch, tip in expectation.branches():
        expected, depth = expectation.path_from(tip), 0
        start = tip if expectation.holds(tip) else None
        while start is not None:
            page = await session.scan_branch_structure(start, limit=PAGE)
            check_path(branch, islice(expected, len(page)), (entry["id"] for entry in page), first=depth)
            depth += len(page)
            start = page[-1]["parentId"] if page else None
        check_path(branch, expected, (), first=depth)
