"""What `open` makes of a file: the words in which forkgen states a verdict."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What a right store makes of a file."""

    OPENS = "opens"
    """With the state that stands beside the verdict."""
    OPENS_BEFORE = "opens before the last transaction"
    """With the state of the good file without its last line."""
    CORRUPT = "corrupt"
    """Refused with CorruptSession; all bytes stay."""
    UNSUPPORTED = "unsupported"
    """Refused with UnsupportedVersion; all bytes stay."""
