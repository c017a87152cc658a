"""A directory to try file calls on, and a page cache that has all of it or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .page_cache import HAS, PageCache


def open_files() -> set[str]:
    """The descriptors of this process and what they are."""
    return {f"{entry.name} {entry.readlink()}" for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    """A directory with a `file` of eight bytes, a `folder` with one file in it, a `pipe` and a `link` to nothing.
    Afterwards no file is left open.
    """
    (tmp_path / "file").write_bytes(b"old data")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("nowhere")
    before = open_files()
    yield tmp_path
    assert open_files() <= before


@pytest.fixture
def cold_cache(monkeypatch: pytest.MonkeyPatch) -> PageCache:
    """Nothing is in the page cache: every chunk of a line reader is read in a thread."""
    return PageCache(monkeypatch, HAS["nothing"])


@pytest.fixture
def warm_cache(monkeypatch: pytest.MonkeyPatch) -> PageCache:
    """Everything is in the page cache."""
    return PageCache(monkeypatch, HAS["everything"])
