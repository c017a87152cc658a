"""What stands under a directory."""

from __future__ import annotations

from pathlib import Path


def tree(root: Path) -> dict[str, bytes | None]:
    """Every path below a root, with the content of files and None for directories."""
    return {str(path.relative_to(root)): None if path.is_dir() else path.read_bytes() for path in root.rglob("*")}
