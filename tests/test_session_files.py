"""The committed session files are what the generators give."""

import pytest

from tests.session_files import DIRECTORY, FILES


@pytest.mark.parametrize("name", FILES)
def test_a_committed_file_is_what_is_generated(name):
    assert (DIRECTORY / name).read_bytes() == FILES[name]()


def test_no_other_file_is_committed():
    assert {path.name for path in DIRECTORY.glob("*.jsonl")} == {*FILES}
