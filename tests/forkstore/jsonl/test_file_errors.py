"""A file call that fails says why in words of the contract, names the path, and changes nothing (spec section 2.5)."""

from __future__ import annotations

import errno
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from forkstore.contract.files import CHUNK, FileError, FileErrorCode, Files
from forkstore.jsonl.files import INLINE_BYTES, LocalFiles
from forkstore.system_errors import code_of

FILES: Files = LocalFiles()
LARGE = b"x" * (INLINE_BYTES + 1)


def standing(directory: Path) -> list[Path]:
    """Everything in and below the directory."""
    return sorted(directory.rglob("*"))


CALLS: dict[str, Callable[[str], Awaitable[object]]] = {
    "exists": FILES.exists,
    "file_info": FILES.file_info,
    "list_dir": FILES.list_dir,
    "make_dir": FILES.make_dir,
    "remove_dir": FILES.remove_dir,
    "read_bytes": lambda path: FILES.read_bytes(path, 10),
    "read_bytes-large": lambda path: FILES.read_bytes(path, CHUNK + 1),
    "read_all": FILES.read_all,
    "open_line_reader": FILES.open_line_reader,
    "write_file": lambda path: FILES.write_file(path, b"x"),
    "write_file-large": lambda path: FILES.write_file(path, LARGE),
    "append_file": lambda path: FILES.append_file(path, b"x"),
    "append_file-large": lambda path: FILES.append_file(path, LARGE),
    "truncate_file": lambda path: FILES.truncate_file(path, 0),
    "truncate_file-longer": lambda path: FILES.truncate_file(path, 9),
    "truncate_file-negative": lambda path: FILES.truncate_file(path, -1),
    "rename_file": lambda path: FILES.rename_file(path, path + "-renamed"),
    "publish_file": lambda path: FILES.publish_file(path, path + "-published"),
    "remove_file": FILES.remove_file,
    "sync_file": FILES.sync_file,
    "sync_dir": FILES.sync_dir,
}
READING = ("read_bytes", "read_bytes-large", "read_all", "open_line_reader")
WRITING = ("write_file", "write_file-large", "append_file", "append_file-large")
MAKING = ("make_dir", *WRITING)
LOOKING = tuple(name for name in CALLS if name not in MAKING)
PLAIN = tuple(name for name in CALLS if name not in {"exists", "truncate_file-longer", "truncate_file-negative"})

REFUSALS: list[tuple[FileErrorCode, str, tuple[str, ...]]] = [
    ("not_found", "missing", tuple(name for name in LOOKING if name != "exists")),
    ("not_found", "missing/x", MAKING),
    ("not_found", "link", ("read_bytes", "read_all", "open_line_reader", "truncate_file", "list_dir")),
    ("exists", "file", ("make_dir",)),
    ("exists", "link", ("make_dir",)),
    ("exists", "folder", ("remove_dir",)),
    ("not_directory", "file", ("list_dir", "remove_dir", "sync_dir")),
    ("not_directory", "file/x", PLAIN),
    ("is_directory", "folder", (*READING, *WRITING, "truncate_file", "remove_file")),
    ("invalid", "pipe", READING),
    ("invalid", "file", ("truncate_file-longer", "truncate_file-negative")),
    ("invalid", "a\0b", tuple(CALLS)),
    ("invalid", "a\ud800b", tuple(CALLS)),
    ("invalid", "n" * 300, tuple(CALLS)),
    ("invalid", "loop/x", PLAIN),
    ("no_space", "/dev/full", WRITING),
    ("permission_denied", "/sys/new", ("make_dir", "write_file", "append_file")),
    ("not_supported", "pipe", ("sync_file",)),
    ("not_supported", os.devnull, ("sync_file",)),
    ("unknown", "pipe", WRITING),
    ("unknown", "/proc/self/mem", ("read_bytes", "read_all")),
]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("code", "path", "name"),
    [
        pytest.param(code, path, name, id=f"{code}-{path[:10]!a}-{name}")
        for code, path, names in REFUSALS
        for name in names
    ],
)
async def test_a_call_that_fails_says_why_in_words_of_the_contract(
    here: Path, code: FileErrorCode, path: str, name: str
) -> None:
    (here / "loop").symlink_to("loop")
    before = standing(here)
    path = os.path.join(here, path)  # noqa: PTH118 - a Path would fold what is odd in it
    with pytest.raises(FileError) as refusal:
        await CALLS[name](path)
    assert (refusal.value.code, refusal.value.path) == (code, path)
    assert isinstance(refusal.value.__cause__, OSError | ValueError) or name == "truncate_file-longer"
    assert standing(here) == before
    assert (here / "file").read_bytes() == b"old data"


CODES: dict[FileErrorCode, tuple[str, ...]] = {
    "not_found": ("ENOENT",),
    "permission_denied": ("EACCES", "EPERM", "EROFS"),
    "not_directory": ("ENOTDIR",),
    "is_directory": ("EISDIR",),
    "invalid": ("EINVAL", "ENAMETOOLONG", "ELOOP", "EILSEQ"),
    "not_supported": ("ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV"),
    "no_space": ("ENOSPC", "EDQUOT", "EFBIG"),
    "exists": ("EEXIST", "ENOTEMPTY"),
}


def test_every_error_of_the_system_has_its_word() -> None:
    words = {getattr(errno, name): code for code, names in CODES.items() for name in names}
    for number in errno.errorcode:
        assert code_of(OSError(number, "refused")) == words.get(number, "unknown")
    assert code_of(OSError("without a number")) == "unknown"
