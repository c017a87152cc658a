"""Strategies that are built once and show themselves as a call.

Building and checking a strategy costs far more than drawing from it, and what Hypothesis prints of a nested one fills a
screen. So whatever does not depend on a state is built by a function that is decorated here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

P = ParamSpec("P")
T = TypeVar("T")


class _Shown(Generic[T]):
    """A strategy under a short name; no dataclass, of which Hypothesis prints the fields."""

    def __init__(self, name: str, strategy: SearchStrategy[T]) -> None:
        self.name = name
        self.strategy = strategy

    def __repr__(self) -> str:
        return self.name


@st.composite
def _drawn(draw: DrawFn, shown: _Shown[T]) -> T:
    return draw(shown.strategy)


def built_once(build: Callable[P, SearchStrategy[T]]) -> Callable[P, SearchStrategy[T]]:
    """Makes every call with equal arguments give one strategy, which shows itself by the name of the function."""
    strategies: dict[tuple[Any, ...], SearchStrategy[T]] = {}

    @wraps(build)
    def built(*args: P.args, **kwargs: P.kwargs) -> SearchStrategy[T]:
        call = (*args, *kwargs.items())
        if call not in strategies:
            told = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
            name = f"{build.__name__.lstrip('_')}({', '.join(told)})"
            strategies[call] = _drawn(_Shown(name, build(*args, **kwargs)))
        return strategies[call]

    return built
