"""The commands of the command line, one module per group."""

from __future__ import annotations


class UsageError(Exception):
    """Input that no command can work with; the message is one line."""
