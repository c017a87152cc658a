"""Names of session directories and files (spec section 22.4)."""

from __future__ import annotations

import re

import pytest

from forkstore.contract.ids import encoded_session_id
from forkstore.contract.writes import LAST_SEQUENCE
from forkstore.jsonl.naming import (
    file_name_ending,
    is_session_directory_name,
    names_session,
    session_directory_name,
    session_file_name,
)
from tests.forkstore.jsonl.planted import CREATED_AT


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/srv/garden", "--srv-garden--"),
        ("\\srv\\garden", "--srv-garden--"),
        ("C:\\srv\\garden", "--C--srv-garden--"),
        ("/", "----"),
        ("//srv", "---srv--"),
        ("/srv/garden/", "--srv-garden---"),
        ("/srv-garden", "--srv-garden--"),
        ("srv/garden", "--srv-garden--"),
        ("", "----"),
        ("/srv/früh blau.", "--srv-früh blau.--"),
        ("/..", "--..--"),
    ],
)
def test_a_directory_is_named_after_the_working_directory(cwd: str, name: str) -> None:
    assert session_directory_name(cwd) == name
    assert is_session_directory_name(name)


@pytest.mark.parametrize("cwd", ["/../../etc", "..", "/a/../b", "\\..\\x", "C:..", "/\\/"])
def test_no_working_directory_leads_out_of_the_root(cwd: str) -> None:
    """S-REPO-05."""
    name = session_directory_name(cwd)
    assert not set(name) & set("/\\:")
    assert name not in ("", ".", "..")


@pytest.mark.parametrize("name", ["", "-", "srv", "--srv", "srv--", "-srv-"])
def test_other_directories_hold_no_sessions(name: str) -> None:
    assert not is_session_directory_name(name)


@pytest.mark.parametrize(
    ("created_at", "stamp"),
    [
        (0, "1970-01-01T00-00-00-000Z"),
        (CREATED_AT, "2025-10-09T08-53-20-123Z"),
        (951_782_400_001, "2000-02-29T00-00-00-001Z"),
        (253_402_300_799_999, "9999-12-31T23-59-59-999Z"),
        (253_402_300_800_000, "+010000-01-01T00-00-00-000Z"),
        (8_640_000_000_000_000, "+275760-09-13T00-00-00-000Z"),
        (LAST_SEQUENCE, "+287396-10-12T08-59-00-991Z"),
    ],
)
def test_a_file_is_named_after_its_time_and_id(created_at: int, stamp: str) -> None:
    assert session_file_name("walk 1", created_at) == f"{stamp}_walk%201.jsonl"


@pytest.mark.parametrize("session_id", ["", ".", "..", "/", "a/b", "\0", "é", "e\u0301", "\U0001f331", "%", "A b\n"])
def test_an_id_comes_out_of_its_name(session_id: str) -> None:
    name = session_file_name(session_id, CREATED_AT)
    assert re.fullmatch(r"[0-9TZ-]{24}_[A-Za-z0-9_.!~*'()%-]*\.jsonl", name)
    encoded = name[25 : -len(".jsonl")]
    assert re.sub(r"%(..)", lambda found: chr(int(found[1], 16)), encoded).encode("latin-1") == session_id.encode()
    assert encoded == encoded_session_id(session_id)


@pytest.mark.parametrize("created_at", [0, CREATED_AT, 253_402_300_800_000, LAST_SEQUENCE])
@pytest.mark.parametrize("session_id", ["b", "x_b", "_b", "", "+b", "a.jsonl"])
def test_a_name_is_that_of_its_own_id_and_of_no_other(session_id: str, created_at: int) -> None:
    """S-OWN-14, at every time."""
    name = session_file_name(session_id, created_at)
    named = [
        one for one in ("b", "x_b", "_b", "", "+b", "a.jsonl", "a", "B") if names_session(name, file_name_ending(one))
    ]
    assert named == [session_id]


@pytest.mark.parametrize(
    "name",
    [
        "b.jsonl",
        "_b.jsonl",
        "2025-10-09T08-53-20-123Z_b",
        "2025-10-09T08-53-20-123Z_b.jsonl.tmp",
        "2025-10-09T08-53-20-123Z_b.jsonl.0123456789abcdef.tmp",
        "2025-10-09T08-53-20-123Z__b.jsonl",
        "2025-10-09T08-53-20-123Z_B.jsonl",
        "2025-10-09T08-53-20-123Z_%62.jsonl",
        "",
    ],
)
def test_other_names_are_of_no_session(name: str) -> None:
    assert not names_session(name, file_name_ending("b"))


@pytest.mark.parametrize("stamp", ["yesterday, around noon,  ", "x" * 25, "+" * 25])
def test_what_stands_before_the_26th_character_does_not_matter(stamp: str) -> None:
    """22.4 looks at the name after the 25th character only."""
    assert names_session(f"{stamp}b.jsonl", file_name_ending("b"))
