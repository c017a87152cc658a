"""Where a session's file lies and what it is called (spec section 22.4, S-JSONL-FMT-14)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from forkstore.contract.ids import encoded_session_id

SUFFIX: Final = ".jsonl"
_TIME_AND_DASH: Final = 25
"""Characters in front of the encoded id, whatever they are."""
_LENGTH_OF_LATE_STAMP: Final = 27
_YEARS_OF_A_CYCLE: Final = 400
_CALENDAR_CYCLE: Final = 146_097 * 86_400_000
"""Milliseconds after which the calendar repeats: days and weekdays of 400 years."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DASHES: Final = str.maketrans({"/": "-", "\\": "-", ":": "-"})


def session_directory_name(cwd: str) -> str:
    r"""The directory, under the root, of the sessions of a working directory; several may share one.

    >>> session_directory_name("/srv/garden"), session_directory_name(r"C:\srv")
    ('--srv-garden--', '--C--srv--')
    """
    rest = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return f"--{rest.translate(_DASHES)}--"


def is_session_directory_name(name: str) -> bool:
    """Whether a directory under the root can hold sessions."""
    return name.startswith("--") and name.endswith("--")


def session_file_name(session_id: str, created_at: int) -> str:
    """The file of a new session; `created_at` in Unix milliseconds.

    >>> session_file_name("walk 1", 1760000000123)
    '2025-10-09T08-53-20-123Z_walk%201.jsonl'
    """
    return f"{_stamp(created_at)}_{file_name_ending(session_id)}"


def file_name_ending(session_id: str) -> str:
    """What the file names of all sessions of an id end in."""
    return f"{encoded_session_id(session_id)}{SUFFIX}"


def names_session(file_name: str, ending: str) -> bool:
    """Whether a file name is that of a session with this `file_name_ending`, whenever it was created (S-OWN-14)."""
    late = file_name.startswith("+") and file_name[_LENGTH_OF_LATE_STAMP:] == f"_{ending}"
    return late or file_name[_TIME_AND_DASH:] == ending


def _stamp(created_at: int) -> str:
    """ISO 8601, with a sign and six digits for years that four digits cannot hold; no time is refused."""
    cycles, rest = divmod(created_at, _CALENDAR_CYCLE)
    time = _EPOCH + timedelta(milliseconds=rest)
    year = time.year + _YEARS_OF_A_CYCLE * cycles
    day_and_time = f"{time:-%m-%dT%H-%M-%S}-{rest % 1000:03}Z"
    return (f"{year:04}" if year <= 9999 else f"{year:+07}") + day_and_time
