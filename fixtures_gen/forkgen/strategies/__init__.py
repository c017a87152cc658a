"""Hypothesis strategies of all that a session store takes, and of what it must refuse (spec sections 3 to 6, 13 to 20).

    from hypothesis import given
    from forkgen.strategies import State, sessions, fork_options

    @given(st.data())
    def test_forks(data):
        state = State()
        for transaction in data.draw(sessions()):
            commit(transaction)                          # valid, each against the state that the earlier ones leave
            state = state.after(transaction)
        fork = data.draw(fork_options(state))
        assert ids_of(repo.fork(metadata, fork.options)) == list(fork.selects.parents)

A failing example shrinks towards what is small and plain: fewer writes, no value, the key "", the id "e0", the first
branch at its tip. Hypothesis comes with the extra `strategies`; without it, importing this package, and nothing else of
forkgen, raises MissingExtra.
"""

from __future__ import annotations

from forkgen.missing_extra import MissingExtra

try:
    import hypothesis as _hypothesis  # noqa: F401 - only asked whether it is there
except ModuleNotFoundError as _missing:
    if _missing.name != "hypothesis":
        raise
    raise MissingExtra("forkgen.strategies", needs="Hypothesis", extra="strategies") from _missing

from .forks import InvalidFork, ValidFork, fork_options, invalid_fork_options
from .names import Reserved, addresses, keys, namespaces, session_ids, texts
from .records import messages, new_entries, usage_objects, usage_rows
from .refused_writes import InvalidTransaction, invalid_transactions
from .state import State
from .transactions import sessions, transactions
from .values import IllegalValue, illegal_values, json_values

__all__ = [
    "IllegalValue",
    "InvalidFork",
    "InvalidTransaction",
    "MissingExtra",
    "Reserved",
    "State",
    "ValidFork",
    "addresses",
    "fork_options",
    "illegal_values",
    "invalid_fork_options",
    "invalid_transactions",
    "json_values",
    "keys",
    "messages",
    "namespaces",
    "new_entries",
    "session_ids",
    "sessions",
    "texts",
    "transactions",
    "usage_objects",
    "usage_rows",
]
