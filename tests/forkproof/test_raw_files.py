"""Session files past the store: planted where they belong, found again, changed, and taken away."""

import os

import pytest

from forkproof.expect import ClauseBroken
from forkproof.instruments.clocks import START
from forkproof.makers.raw_files import RawFiles, path_of
from forkproof.makers.small_file import small_file
from forkstore.contract.store import SessionMetadata


@pytest.fixture
def raw(tmp_path):
    return RawFiles(tmp_path / "data" / "sessions", "/srv/garden")


def test_a_file_is_planted_where_its_session_belongs(raw):
    path = raw.plant(small_file(id="walk 1"), id="walk 1", created_at=1_760_000_000_123)
    assert path == raw.root / "--srv-garden--" / "2025-10-09T08-53-20-123Z_walk%201.jsonl"
    assert path.read_bytes() == small_file(id="walk 1")
    elsewhere = raw.plant([b"chunk ", b"by chunk"], id="a", cwd="/srv/orchard")
    assert elsewhere.parent == raw.directory("/srv/orchard")
    assert elsewhere.read_bytes() == b"chunk by chunk"
    assert raw.plant(b"", name="notes.txt").name == "notes.txt"


def test_what_was_planted_may_be_planted_over_and_what_was_not_is_kept(raw):
    path = raw.plant(b"first", id="a")
    assert raw.plant(b"second", id="a") == path
    assert path.read_bytes() == b"second"
    written = path.with_name("written.jsonl")
    written.write_bytes(b"by the store")
    with pytest.raises(FileExistsError, match="was not planted"):
        raw.plant(b"", name="written.jsonl")
    assert written.read_bytes() == b"by the store"


def test_files_are_changed_in_place(raw):
    path = raw.plant(b"header\n")
    inode = path.stat().st_ino
    raw.append(path, b"line\n")
    assert path.read_bytes() == b"header\nline\n"
    raw.cut(path, 8)
    assert path.read_bytes() == b"header\nl"
    raw.replace(path, b"other")
    assert (path.read_bytes(), path.stat().st_ino) == (b"other", inode)
    raw.remove(path)
    assert not path.exists()


def test_the_metadata_is_the_listed_one_where_there_is_one(raw, tmp_path):
    path = raw.plant(b"", id="a", cwd="/srv/orchard", created_at=5)
    os.utime(path, ns=(1, 1_999_999))
    by_hand = raw.metadata(path)
    assert by_hand == SessionMetadata(id="a", created_at=5, cwd="/srv/orchard", path=str(path.resolve()), modified_at=1)
    listed = SessionMetadata(id="from-the-header", created_at=6, path=str(path.resolve()))
    other = SessionMetadata(id="other", created_at=6, path=str(path.resolve()) + "x")
    assert raw.metadata(path, [other, listed]) is listed
    assert raw.metadata(path, [other]) == by_hand
    with pytest.raises(LookupError, match="neither listed nor planted"):
        raw.metadata(tmp_path / "other.jsonl", [listed])


def test_a_root_that_is_reached_by_a_link_gives_real_paths(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    raw = RawFiles(tmp_path / "link", "/srv/garden")
    path = raw.plant(b"")
    assert raw.metadata(path).path == str(tmp_path / "real" / path.relative_to(tmp_path / "link"))


def test_all_is_taken_away_but_what_others_made(raw, tmp_path):
    first = raw.plant(b"", id="a")
    raw.plant(b"", id="b", cwd="/srv/orchard")
    changed = first.with_name("changed.jsonl")
    changed.write_bytes(b"by the store")
    kept = first.with_name("kept.jsonl")
    kept.write_bytes(b"by the store")
    raw.append(changed, b"torn")
    (raw.elsewhere() / "parent.jsonl").write_bytes(b"")
    elsewhere = raw.elsewhere()
    first.unlink()
    raw.take_away()
    assert [path.name for path in raw.directory().iterdir()] == ["kept.jsonl"]
    assert not raw.directory("/srv/orchard").exists()
    assert not elsewhere.exists()
    raw.take_away()
    assert kept.exists()


def test_nothing_is_left_where_nothing_was(raw, tmp_path):
    raw.plant(b"")
    raw.take_away()
    assert list(tmp_path.iterdir()) == []


def test_a_place_elsewhere_is_outside_the_root(raw):
    assert raw.root not in raw.elsewhere().parents
    assert raw.elsewhere() != raw.elsewhere()
    raw.take_away()


@pytest.mark.parametrize("path", [None, b"/data/a", 7])
def test_metadata_without_a_path_breaks_the_clause(path):
    with pytest.raises(ClauseBroken, match="the metadata of the session 'a'"):
        path_of(SessionMetadata(id="a", created_at=START, path=path))
