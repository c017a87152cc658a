"""Files appear whole or not at all: everything that forkgen writes goes through here.

The bytes are staged beside the destination and renamed to it, so an interrupted run leaves no half file under the
final name. Nothing is synced: a fixture that a power cut takes is made again.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

_BUFFER_BYTES = 1024 * 1024


def publish(path: str | os.PathLike[str], chunks: Iterable[bytes]) -> None:
    """Writes the chunks to a temporary file beside `path` and renames it, replacing what was there.

    Raises OSError where the place cannot be written, and whatever the chunks raise; then the destination is as before
    and the temporary file is gone, also after an interrupt.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     publish(f"{directory}/bed.jsonl", [b"north", b"\\n"])
    ...     Path(directory, "bed.jsonl").read_bytes()
    b'north\\n'
    """
    destination = Path(path)
    staged = destination.with_name(f"{destination.name}.{secrets.token_hex(8)}.tmp")
    try:
        with staged.open("xb", buffering=_BUFFER_BYTES) as file:
            file.writelines(chunks)
        staged.replace(destination)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
