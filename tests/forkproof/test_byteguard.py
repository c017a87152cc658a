"""The byteguard: silent about what is as it was, and readable about every kind of change."""

import os

import pytest

from forkproof.expect import ClauseBroken
from forkproof.instruments.byteguard import ByteGuard, tree
from forkproof.instruments.file_picture import CHUNK, KEPT_WHOLE, picture

TEXT = b'{"v":4,"kind":"header","id":"walk-1"}\n{"kind":"value","seq":1}\n'


@pytest.fixture
def path(tmp_path):
    directory = tmp_path / "sessions" / "--srv-garden--"
    directory.mkdir(parents=True)
    found = directory / "walk.jsonl"
    found.write_bytes(TEXT)
    os.utime(found, ns=(1_760_000_000_123_456_789, 1_760_000_000_123_456_789))
    return found


def keeping_times(path, act):
    """Changes a file the way somebody does who wants nobody to notice."""
    found = path.stat()
    act()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def overwrite(path, offset, data):
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def test_nothing_is_said_about_what_is_as_it_was(path):
    with ByteGuard(path, root=path.parent.parent) as guard:
        assert path.read_bytes() == TEXT
        assert [found.name for found in path.parent.iterdir()] == ["walk.jsonl"]
    assert guard.difference is None
    guard.check("the source")


def test_a_changed_byte_is_shown_on_both_sides(path):
    guard = ByteGuard(path)
    keeping_times(path, lambda: overwrite(path, 34, b"2"))
    assert guard.difference == (
        f"{path}: content (63 bytes) differs first at byte 34\n"
        '  was 00000010   65  61  64  65  72  22  2c  22  69  64  22  3a  22  77  61  6c   eader","id":"wal\n'
        '  now 00000010   65  61  64  65  72  22  2c  22  69  64  22  3a  22  77  61  6c   eader","id":"wal\n'
        '  was 00000020   6b  2d [31] 22  7d  0a  7b  22  6b  69  6e  64  22  3a  22  76   k-1"}.{"kind":"v\n'
        '  now 00000020   6b  2d [32] 22  7d  0a  7b  22  6b  69  6e  64  22  3a  22  76   k-2"}.{"kind":"v\n'
        '  was 00000030   61  6c  75  65  22  2c  22  73  65  71  22  3a  31  7d  0a       alue","seq":1}.\n'
        '  now 00000030   61  6c  75  65  22  2c  22  73  65  71  22  3a  31  7d  0a       alue","seq":1}.'
    )


def rewritten(path):
    path.write_bytes(TEXT)


def touched(path):
    os.utime(path, ns=(1, 1_760_000_000_000_000_001))


def replaced_by_a_copy(path):
    other = path.with_name("copy")
    other.write_bytes(TEXT)
    os.utime(other, ns=(1, 1_760_000_000_123_456_789))
    other.replace(path)


def replaced_by_a_directory(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda path: overwrite(path, 63, b"x"), ["content (63 bytes, now 64) differs first at byte 63", "[78]"]),
        (lambda path: os.truncate(path, 40), ["content (63 bytes, now 40) differs first at byte 40", "now 00000020"]),
        (lambda path: os.truncate(path, 0), ["content (63 bytes, now 0) differs first at byte 0", "(the end)"]),
        (rewritten, ["modification time: was 2025-10-09T08:53:20.123456789Z, is "]),
        (touched, ["modification time: was 2025-10-09T08:53:20.123456789Z, is 2025-10-09T08:53:20.000000001Z"]),
        (replaced_by_a_copy, ["another file stands there: inode "]),
        (os.unlink, ["was a file, is nothing"]),
        (replaced_by_a_directory, ["was a file, is a directory"]),
        (lambda path: path.with_name("walk.jsonl.tmp").touch(), ["new: ", "walk.jsonl.tmp"]),
        (lambda path: path.with_name("made").mkdir(), ["new: ", "made"]),
    ],
)
def test_every_kind_of_change_is_named_and_breaks_the_clause(path, change, told):
    guard = ByteGuard(path, of="the source of the fork")
    change(path)
    assert guard.difference is not None
    assert [part for part in told if part not in guard.difference] == []
    with pytest.raises(ClauseBroken, match=r"the source of the fork\nexpected: not a byte changed, no neighbour"):
        guard.check()
    with pytest.raises(ClauseBroken, match=r"^another name"):
        guard.check("another name")


def test_one_change_says_one_thing(path):
    guard = ByteGuard(path)
    os.utime(path, ns=(1, 1))
    assert len(guard.difference.splitlines()) == 1


def test_a_neighbour_that_vanishes_is_named(path):
    neighbour = path.with_name("other.jsonl")
    neighbour.touch()
    guard = ByteGuard(path)
    neighbour.unlink()
    assert guard.difference == f"gone: {neighbour}"


def test_what_is_allowed_may_appear_and_nothing_else(path):
    root = path.parent.parent
    fork = root / "--srv-orchard--" / "fork.jsonl"
    with ByteGuard(path, root=root) as guard:
        fork.parent.mkdir()
        fork.touch()
        guard.allow(fork)
    assert guard.difference is None
    beside = ByteGuard(path, root=root)
    beside.allow(fork.with_name("another.jsonl"))
    fork.with_name("left.tmp").touch()
    assert beside.difference == f"new: {fork.with_name('left.tmp')}"


def test_a_guarded_file_is_not_excused_by_what_is_allowed(path):
    guard = ByteGuard(path)
    guard.allow(path)
    path.unlink()
    assert guard.difference == f"{path}: was a file, is nothing"


def test_the_root_shows_what_happens_deep_beneath_it(path):
    plain, whole = ByteGuard(path), ByteGuard(path, root=path.parent.parent.parent)
    elsewhere = path.parent.parent / "made"
    elsewhere.mkdir()
    (elsewhere / "deep").touch()
    assert plain.difference is None
    assert whole.difference == f"new: {elsewhere}\nnew: {elsewhere / 'deep'}"


def test_a_path_at_which_nothing_stands_is_held_to_that(tmp_path):
    guard = ByteGuard(tmp_path / "none" / "walk.jsonl")
    assert guard.difference is None
    (tmp_path / "none").mkdir()
    assert guard.difference is None
    (tmp_path / "none" / "walk.jsonl").touch()
    assert guard.difference == f"{tmp_path / 'none' / 'walk.jsonl'}: was nothing, is a file"


def test_a_link_guards_the_file_it_leads_to(path, tmp_path):
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    guard = ByteGuard(link)
    keeping_times(path, lambda: overwrite(path, 0, b"["))
    assert f"{path}: content" in guard.difference
    path.with_name("other.jsonl").touch()
    link.unlink()
    link.symlink_to(path.with_name("other.jsonl"))
    assert f"{link}: content" in guard.difference


def test_a_block_breaks_at_its_end_and_remembers(path):
    guard = ByteGuard(path)
    with pytest.raises(ClauseBroken, match="differs first at byte 0"), guard:
        path.write_bytes(b"[")
    path.unlink()
    assert "differs first at byte 0" in guard.difference


def test_an_error_on_its_way_is_not_replaced(path):
    def fails():
        path.write_bytes(b"[")
        raise KeyError("the backend's own")

    with pytest.raises(KeyError), ByteGuard(path) as guard:
        fails()
    assert guard.difference is not None


def test_a_guard_without_a_path_would_agree_to_everything():
    with pytest.raises(TypeError, match="needs a path"):
        ByteGuard()


@pytest.mark.parametrize(
    ("offset", "chunk"), [(0, 0), (CHUNK - 1, 0), (CHUNK, 1), (KEPT_WHOLE, KEPT_WHOLE // CHUNK), (KEPT_WHOLE + 9, 16)]
)
def test_of_a_large_file_the_first_chunk_that_differs_is_named(tmp_path, offset, chunk):
    path = tmp_path / "large"
    path.write_bytes(bytes(KEPT_WHOLE + 10))
    before = picture(path)
    keeping_times(path, lambda: overwrite(path, offset, b"x"))
    size = f"{KEPT_WHOLE + 10:,} bytes"
    told = f"content ({size}) differs first in bytes {chunk * CHUNK:,} to {(chunk + 1) * CHUNK - 1:,}"
    assert list(before.differences(picture(path))) == [told]


@pytest.mark.parametrize("length", [KEPT_WHOLE, KEPT_WHOLE + CHUNK])
def test_a_large_file_that_only_grew_differs_where_it_grew(tmp_path, length):
    path = tmp_path / "large"
    path.write_bytes(bytes(length))
    before = picture(path)
    with path.open("ab") as file:
        file.write(b"\n" * (CHUNK + 1))
    (told,) = before.differences(picture(path), touched=False)
    assert f"({length:,} bytes, now {length + CHUNK + 1:,}) differs first in bytes {length:,} to" in told


def test_a_picture_of_a_large_file_stays_small(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    found = picture(path)
    assert (found.content, len(found.chunks), len(found.chunks[0])) == (None, 1024, 16)


def test_the_first_difference_is_found_far_behind_a_common_start(tmp_path):
    path = tmp_path / "middling"
    path.write_bytes(bytes(3 * CHUNK + 100))
    before = picture(path)
    overwrite(path, 3 * CHUNK + 50, b"\x01")
    (told,) = before.differences(picture(path), touched=False)
    assert f"differs first at byte {3 * CHUNK + 50:,}" in told
    assert "[01]" in told


@pytest.fixture
def root(path):
    return path.parent.parent


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda path: path.parent.with_name("--srv-orchard--").mkdir(), "new: --srv-orchard--/ (a directory)"),
        (lambda path: path.with_name("left.tmp").write_bytes(b"x"), "new: --srv-garden--/left.tmp (1 bytes)"),
        (os.unlink, "gone: --srv-garden--/walk.jsonl (63 bytes)"),
        (
            lambda path: overwrite(path, 0, b"["),
            "--srv-garden--/walk.jsonl: content (63 bytes) differs first at byte 0",
        ),
        (replaced_by_a_directory, "--srv-garden--/walk.jsonl: was a file, is a directory"),
    ],
)
def test_a_tree_names_what_changed_in_it(path, root, change, told):
    before = tree(root)
    assert before.difference() is None
    before.check()
    change(path)
    assert before.difference().startswith(told)
    assert before.difference(tree(root)) == before.difference()
    with pytest.raises(ClauseBroken, match="the tree after the failure"):
        before.check("the tree after the failure")


def test_a_tree_is_of_names_and_bytes_not_of_times(path, root):
    before = tree(root)
    replaced_by_a_copy(path)
    os.utime(path.parent, ns=(1, 1))
    assert before.difference() is None


def test_a_tree_that_was_not_there_is_new_with_its_root(tmp_path):
    before = tree(tmp_path / "sessions")
    assert before.difference() is None
    (tmp_path / "sessions").mkdir()
    assert before.difference() == "new: ./ (a directory)"


def test_a_link_in_a_tree_is_what_it_says(root):
    (root / "link").symlink_to("nowhere")
    before = tree(root)
    (root / "link").unlink()
    (root / "link").symlink_to("elsewhere")
    assert before.difference().startswith("link: content")


def test_many_differences_are_counted(root):
    before = tree(root)
    for number in range(40):
        (root / f"new-{number:02}").touch()
    lines = before.difference().splitlines()
    assert (len(lines), lines[-1]) == (13, "… and 28 more")
