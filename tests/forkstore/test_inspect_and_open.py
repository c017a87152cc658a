"""Opening refuses a file exactly when an inspection finds an error in it, and for one of the errors that it finds."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from random import Random

import pytest

from forkgen.damage import damage
from forkgen.legacy import legacy_files
from forkstore import CorruptSession, ForeignSession, JsonlSessionRepo, SessionMetadata, UnsupportedVersion
from forkstore.jsonl.naming import session_directory_name, session_file_name
from tests.forkgen.good_files import CREATED_AT, good_file
from tests.forkstore.inspected import inspected

pytestmark = pytest.mark.one_python

LEGACY = next(case for case in legacy_files() if case.name == "chains-through-discarded")
FORMAT_4, VERSION_3 = ("walk-1", CREATED_AT), (LEGACY.id, LEGACY.created_at)
FOREIGN = "foreign"


async def opening(root: Path, contents: bytes, session_id: str, created_at: int) -> object:
    """What opening refuses: the line and the cause, or the version. None when it opens."""
    path = root / session_directory_name("/srv/garden") / session_file_name(session_id, created_at)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)
    repo = JsonlSessionRepo(root)
    try:
        await repo.open(SessionMetadata(id=session_id, created_at=created_at, cwd="/srv/garden", path=str(path)))
    except CorruptSession as error:
        cause = type(error.__cause__).__name__
        return error.line, cause if cause in ("DuplicateId", "UnknownParent", "InvalidValue") else None
    except UnsupportedVersion as error:
        return error.version
    except ForeignSession:
        return FOREIGN
    finally:
        await repo.close()
    return None


def inspecting(path: Path) -> list[object]:
    """The errors of an inspection, in the words of `opening`."""
    found: list[object] = []
    for finding in inspected(path)["findings"]:
        version = re.search(r"version (-?\d+) is not read", finding["reason"])
        if finding["severity"] == "note":
            continue
        if version:
            found.append(int(version[1]))
        else:
            # Opening names no line for what only the whole file shows; an inspection does.
            is_late = finding["kind"] in ("reference", "retained-tail")
            found.append((None if is_late else finding["line"], finding["cause"]))
    return found


def agree(directory: Path, contents: bytes, session_id: str, created_at: int) -> bool:
    path = directory / "walk.jsonl"
    path.write_bytes(contents)
    refusal, errors = asyncio.run(opening(directory / "root", contents, session_id, created_at)), inspecting(path)
    if refusal == FOREIGN:
        return True  # the identity in the header is another one than that of the metadata: nothing was judged
    return refusal in errors if errors else refusal is None


@pytest.mark.parametrize("name", ["rich", "bare"])
def test_opening_agrees_about_damaged_files(name, tmp_path):
    variants = [variant for variant in damage(good_file(name)) if not variant.name.startswith("torn-at-byte-")]
    assert [variant.name for variant in variants if not agree(tmp_path, b"".join(variant.chunks()), *FORMAT_4)] == []


def test_opening_agrees_about_legacy_files(tmp_path):
    assert [case.name for case in legacy_files() if not agree(tmp_path, case.contents, case.id, case.created_at)] == []


@pytest.mark.parametrize(
    ("contents", "identity"), [(good_file("rich"), FORMAT_4), (LEGACY.contents, VERSION_3)], ids=["format 4", "v3"]
)
def test_opening_agrees_about_any_damage(contents, identity, tmp_path):
    random = Random(4)
    damaged = [mutated(contents, random) for _ in range(300)]
    assert [each for each in damaged if not agree(tmp_path, each, *identity)] == []


PIECES = (b"\n", b"0", b"\0", b"}", b'"', b"[", b"\xef\xbb\xbf", b",", b"-", b"99999")


def mutated(contents: bytes, random: Random) -> bytes:
    """The file after up to three accidents: a bit, bytes lost or put in, a line lost or doubled, the end lost."""
    for _ in range(random.choice((1, 1, 2, 3))):
        at, lines = random.randrange(len(contents)), contents.splitlines(keepends=True)
        line = random.randrange(len(lines))
        match random.randrange(6):
            case 0:
                contents = contents[:at] + bytes([contents[at] ^ 1 << random.randrange(8)]) + contents[at + 1 :]
            case 1:
                contents = contents[:at] + contents[at + random.choice((1, 2, 10)) :] + b" "
            case 2:
                contents = contents[:at] + random.choice(PIECES) + contents[at:]
            case 3:
                contents = b"".join([*lines[:line], *lines[line + 1 :], b"\n"])
            case 4:
                lines.insert(random.randrange(len(lines)), lines[line])
                contents = b"".join(lines)
            case _:
                contents = contents[: at + 1]
    return contents
