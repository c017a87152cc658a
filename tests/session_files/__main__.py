"""Writes the session files anew."""

from __future__ import annotations

from . import DIRECTORY, FILES

for name, contents in FILES.items():
    (DIRECTORY / name).write_bytes(contents())
