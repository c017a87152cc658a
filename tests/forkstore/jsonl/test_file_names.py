"""Renaming, publishing and removing a file: the old state or the complete new one (spec sections 2.5 and 24)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forkstore.contract.files import FileError, FileErrorCode, Files
from forkstore.jsonl.files import LocalFiles
from tests.forkstore.held import at_once

FILES: Files = LocalFiles()


def refuse(code: int) -> Callable[..., Any]:
    def refused(*args: object, **kwargs: object) -> Any:
        raise OSError(code, os.strerror(code))

    return refused


def test_a_file_is_renamed_over_another(here: Path) -> None:
    (here / "new").write_bytes(b"new")
    at_once(FILES.rename_file(str(here / "new"), str(here / "file")))
    assert (here / "file").read_bytes() == b"new"
    assert not (here / "new").exists()


def test_a_file_is_removed(here: Path) -> None:
    for name in ("file", "link", "pipe"):
        at_once(FILES.remove_file(str(here / name)))
    assert sorted(path.name for path in here.iterdir()) == ["folder"]


@pytest.mark.parametrize(
    ("path", "target", "code"),
    [
        ("file", "folder", "is_directory"),
        ("folder", "file", "not_directory"),
        ("folder", "full", "exists"),
        ("file", "missing/x", "not_found"),
        ("file", "a\0b", "invalid"),
        ("file", "/proc/new", "not_supported"),
    ],
)
def test_a_rename_that_fails_leaves_both(here: Path, path: str, target: str, code: FileErrorCode) -> None:
    (here / "full" / "inner").mkdir(parents=True)
    before = sorted(here.rglob("*"))
    with pytest.raises(FileError) as refusal:
        at_once(FILES.rename_file(str(here / path), os.path.join(here, target)))  # noqa: PTH118
    assert refusal.value.code == code
    assert sorted(here.rglob("*")) == before


@pytest.fixture(params=["links", *("EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")])
def link_support(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system with hard links, or one that refuses them in this way."""
    if request.param != "links":
        monkeypatch.setattr(os, "link", refuse(getattr(errno, request.param)))


def test_a_file_is_published_where_nothing_stands(here: Path, link_support: None) -> None:
    before = at_once(FILES.file_info(str(here / "file"))).identity
    at_once(FILES.publish_file(str(here / "file"), str(here / "target")))
    assert at_once(FILES.file_info(str(here / "target"))).identity == before
    assert (here / "target").read_bytes() == b"old data"
    assert not (here / "file").exists()


@pytest.mark.parametrize("target", ["target", "folder", "link", "pipe", "file"])
def test_a_file_is_not_published_where_something_stands(here: Path, link_support: None, target: str) -> None:
    (here / "target").write_bytes(b"precious")
    before = {path.name: path.lstat() for path in here.iterdir()}
    with pytest.raises(FileError) as refusal:
        at_once(FILES.publish_file(str(here / "file"), str(here / target)))
    assert (refusal.value.code, refusal.value.path) == ("exists", str(here / target))
    assert {path.name: path.lstat() for path in here.iterdir()} == before


def test_publishing_from_nowhere_or_to_nowhere_is_refused(here: Path, link_support: None) -> None:
    for path, target in (("missing", "target"), ("file", "missing/x")):
        with pytest.raises(FileError) as refusal:
            at_once(FILES.publish_file(str(here / path), str(here / target)))
        assert refusal.value.code == "not_found"
    assert (here / "file").read_bytes() == b"old data"


def test_publishing_has_succeeded_when_only_the_first_name_cannot_be_removed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "unlink", refuse(errno.EIO))
    at_once(FILES.publish_file(str(here / "file"), str(here / "target")))
    assert (here / "target").samefile(here / "file")
