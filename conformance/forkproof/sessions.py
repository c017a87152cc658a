"""The session contract as one parametrized test, for a project's test suite.

>>> from forkproof.sessions import test_session_contract  # noqa: F401

Runs every case against the project's fixture `session_harness`. It is an ordinary function: no async plug-in is needed.
"""

from __future__ import annotations

from typing import Any

import pytest

from forkproof.case import BoundCase
from forkproof.contract_run import run_as_test
from forkproof.plugin import MARKER
from forkproof.suites.sessions import cases

__all__ = ["test_session_contract"]


@pytest.mark.parametrize(
    "forkproof_case",
    [pytest.param(bound, id=bound.id, marks=getattr(pytest.mark, MARKER)) for bound in cases()],
)
def test_session_contract(forkproof_case: BoundCase, session_harness: Any, request: pytest.FixtureRequest) -> None:
    """One case of the session contract."""
    run_as_test(forkproof_case, session_harness, request)
