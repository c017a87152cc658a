"""A case: an async function, the clauses it proves, and the rows it runs over.

Cases are values, not tests: the pytest plug-in and the command line run the same ones. A case runs once per
combination of its named rows, and once per maker of the table `ANY_STATE` where its clause holds in any state. Every
such variant has a stable id.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product

CaseFunction = Callable[..., Awaitable[None]]

_PLAIN = re.compile(r"[A-Za-z0-9.+_-]+\Z")
_ROWS = "__forkproof_rows__"
_ANY_STATE = "__forkproof_any_state__"
_LOOK_AT = "If this fails, look at:"


@dataclass(frozen=True)
class Rows:
    """One table of a case: the argument it fills, and its values by name."""

    argument: str
    values: Mapping[str, object]


@dataclass(frozen=True)
class Case:
    """A function that proves clauses, with its tables. `variants()` gives what can be run."""

    function: CaseFunction
    clauses: tuple[str, ...]
    needs: tuple[str, ...] | None = None
    kinds: frozenset[str] | None = None
    rows: tuple[Rows, ...] = ()
    any_state: bool = False

    @property
    def name(self) -> str:
        """The first clause and the function's name: `S-TXN-13-an-empty-commit-takes-no-sequence`."""
        return f"{self.clauses[0]}-{self.function.__name__.replace('_', '-')}"

    @property
    def sentence(self) -> str:
        """What the case says: its docstring up to the causes, on one line."""
        return " ".join((inspect.getdoc(self.function) or "").partition(_LOOK_AT)[0].split())

    @property
    def look_at(self) -> tuple[str, ...]:
        """Likely causes, from the docstring's last paragraph."""
        causes = " ".join((inspect.getdoc(self.function) or "").partition(_LOOK_AT)[2].split())
        return tuple(cause.strip(" .") for cause in causes.split(";") if cause.strip(" ."))

    def variants(self) -> tuple[BoundCase, ...]:
        """One bound case per combination of rows and states, in the order of the tables."""
        tables = [[(rows.argument, name, value) for name, value in rows.values.items()] for rows in self.rows]
        states: Iterable[str | None] = _state_names() if self.any_state else (None,)
        return tuple(self._bound(state, choice) for state in states for choice in product(*tables))

    def _bound(self, state: str | None, choice: tuple[tuple[str, str, object], ...]) -> BoundCase:
        names = [name for _, name, _ in choice] + ([state] if state else [])
        return BoundCase(
            case=self,
            id="-".join([self.name, *names]).replace("_", "-"),
            arguments={argument: value for argument, _, value in choice},
            state=state,
        )


@dataclass(frozen=True)
class BoundCase:
    """One runnable variant of a case, with its stable id."""

    case: Case
    id: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    state: str | None = None

    @property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that this variant proves."""
        return self.case.clauses

    def start(self, **given: object) -> Awaitable[None]:
        """Calls the case with its row values (copies, so that no variant sees another's changes) and what it asks of
        `given`.
        """
        wanted = inspect.signature(self.case.function).parameters
        arguments = {name: copy.deepcopy(value) for name, value in self.arguments.items()}
        arguments.update({name: value for name, value in given.items() if name in wanted})
        return self.case.function(**arguments)


def case(
    *clauses: str, needs: Iterable[str] | None = None, kinds: Iterable[str] | None = None
) -> Callable[[CaseFunction], Case]:
    """Makes a case of an async function. The first clause names it.

    `needs` are the seams it asks for; None takes those its clauses name in the clause file, `()` asks for none. `kinds`
    are the kinds of stores it is about, of those that its first clause applies to; None is all of them.

    >>> @case("S-TXN-13", needs=())
    ... async def an_empty_commit_takes_no_sequence(store: SessionMaker) -> None: ...
    """
    if not clauses:
        raise TypeError("a case names the clauses it proves")

    def decorate(function: CaseFunction) -> Case:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__qualname__} is not an async function")
        return Case(
            function=function,
            clauses=clauses,
            needs=None if needs is None else tuple(needs),
            kinds=None if kinds is None else frozenset(kinds),
            rows=tuple(getattr(function, _ROWS, ())),
            any_state=bool(getattr(function, _ANY_STATE, False)),
        )

    return decorate


def rows(
    argument: str, table: Mapping[str, object] | None = None, /, **named: object
) -> Callable[[CaseFunction], CaseFunction]:
    """Runs the case once per named value, passed as keyword argument `argument`; several tables multiply.

    Names are part of the case's id: letters, digits, `.`, `+`, `_` and `-`. Names that are no Python names go into
    `table`.

    >>> @rows("limit", zero=0, negative=-1, boolean=True)
    """
    values = {**(table or {}), **named}
    if not values:
        raise TypeError(f"rows({argument!r}) names no value")
    for name in values:
        if not _PLAIN.match(name):
            raise ValueError(f"rows({argument!r}): {name!r} cannot be part of a case's id")

    def decorate(function: CaseFunction) -> CaseFunction:
        if isinstance(function, Case):
            raise TypeError("@rows stands below @case")
        setattr(function, _ROWS, (Rows(argument, values), *getattr(function, _ROWS, ())))
        return function

    return decorate


def in_any_state(function: CaseFunction) -> CaseFunction:
    """Runs the case once per maker of `ANY_STATE`, passed as `subject`: for clauses that hold in every state of a
    session.

    >>> @case("S-ENT-03")
    ... @in_any_state
    ... async def a_stored_entry_never_changes(subject: Subject) -> None: ...
    """
    if isinstance(function, Case):
        raise TypeError("@in_any_state stands below @case")
    setattr(function, _ANY_STATE, True)
    return function


def all_variants(cases: Iterable[Case]) -> tuple[BoundCase, ...]:
    """The variants of many cases, in order. Raises `ValueError` when two share an id."""
    bound = tuple(variant for one in cases for variant in one.variants())
    seen: set[str] = set()
    for variant in bound:
        if variant.id in seen:
            raise ValueError(f"two cases have the id {variant.id}")
        seen.add(variant.id)
    return bound


def cases_of(module: object) -> tuple[Case, ...]:
    """The cases that a suite module defines, in the order of its text."""
    return tuple(value for value in vars(module).values() if isinstance(value, Case))


def _state_names() -> tuple[str, ...]:
    # Imported here: the makers know the contract, and a case's own file should not have to.
    from forkproof.makers.states import ANY_STATE

    return tuple(ANY_STATE)
