"""The session contract as cases, in the order of the contract. The list of modules is explicit: a suite that is not
named does not exist, and one that is named and gone is an error.
"""

from __future__ import annotations

from forkproof.case import BoundCase, all_variants, cases_of
from forkproof.suites.sessions import lists

MODULES = (lists,)


def cases() -> tuple[BoundCase, ...]:
    """Every case of the family, bound, in contract order. Raises ValueError when two share an id."""
    return all_variants(case for module in MODULES for case in cases_of(module))
