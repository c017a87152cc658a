"""The commands of `forkgen`, and what may end them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UsageError(Exception):
    """The command was asked for something that does not exist, cannot be read, or cannot be written there."""


class TargetFailed(Exception):
    """A backend did not take a session, or holds something else than it was given."""


def in_one_line(text: str) -> str:
    """A text without line ends.

    >>> in_one_line("no disk\\n  at all")
    'no disk at all'
    """
    return " ".join(text.split())


def described(error: BaseException) -> str:
    """An exception in one line."""
    return in_one_line(f"{type(error).__name__}: {error}")


def unknown(what: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that does not exist, with the nearest one that does."""
    close = get_close_matches(name, known, n=1)
    return UsageError(f"there is no {what} {name!r}{f'; did you mean {close[0]}?' if close else ''}")
