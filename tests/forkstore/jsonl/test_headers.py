"""First lines: what is written, what is read, and what is refused with which class (spec sections 22.1 and 26.1)."""

from __future__ import annotations

from typing import Any

import pytest

from forkgen.legacy.records import header as legacy_fields
from forkstore.contract.errors import CorruptSession, ForeignSession, UnsupportedVersion
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import LAST_SEQUENCE
from forkstore.jsonl.headers import (
    MARK,
    Header,
    LegacyHeader,
    expect_identity,
    header_of,
    is_integer,
    read_date,
    read_header,
)
from tests.forkstore.jsonl.planted import CREATED_AT, GARDEN, header_line, line_of

HEADER = Header(id="walk-1", created_at=CREATED_AT, cwd=GARDEN)
FULL = Header(
    id="wälk \0 1",
    created_at=0,
    cwd="",
    parent_session_id="",
    legacy_parent_session_path="../p",
    next_seq=LAST_SEQUENCE,
)


def read(line: bytes) -> Header | LegacyHeader:
    return read_header(line.removesuffix(b"\n"), "walk.jsonl")


def format_4(**fields: Any) -> bytes:
    return header_line(**fields)


def version_3(**fields: Any) -> bytes:
    return line_of({name: value for name, value in legacy_fields(**fields).items() if value is not None})


def test_a_header_is_written_in_the_order_of_the_contract() -> None:
    assert HEADER.line() == (
        b'{"v":4,"kind":"header","id":"walk-1","storageVersion":1,"createdAt":1760000000123,"cwd":"/srv/garden"}\n'
    )
    assert (
        FULL.line()
        == (
            '{"v":4,"kind":"header","id":"wälk \\u0000 1","storageVersion":1,"createdAt":0,"cwd":"",'
            '"parentSessionId":"","legacyParentSessionPath":"../p","nextSeq":9007199254740991}\n'
        ).encode()
    )


@pytest.mark.parametrize("header", [HEADER, FULL])
@pytest.mark.parametrize("mark", [b"", MARK])
def test_a_header_is_read_as_it_was_written(header: Header, mark: bytes) -> None:
    assert read(mark + header.line()) == header


def test_order_white_space_and_further_fields_do_not_matter() -> None:
    line = b' {"cwd":"/srv/garden" ,"colour":{"v":5}, "id":"other","id":"walk-1","createdAt":1760000000123,\t'
    line += b'"storageVersion":1,"kind":"header","v":4}\r\n'
    assert read(line) == HEADER


def test_a_legacy_header_is_read() -> None:
    assert read(version_3()) == LegacyHeader(id="shed-7", created_at=1_760_000_000_000, cwd=GARDEN)
    assert read(MARK + version_3(parentSession="a.jsonl", more=1)) == LegacyHeader(
        id="shed-7", created_at=1_760_000_000_000, cwd=GARDEN, parent_session="a.jsonl"
    )


WRONG: dict[str, list[Any]] = {
    "v": [4.0, "4", True, [4]],
    "storageVersion": [0, -1, 1.0, "1", True, 2**53],
    "createdAt": [-1, 0.0, "0", True, 2**53],
    "id": [7, [], {}, True],
    "cwd": [7, [], {}, True],
    "parentSessionId": [7, [], False],
    "legacyParentSessionPath": [7, [], False],
    "nextSeq": [0, 1.0, "1", True, 2**53],
}
WRONG_LEGACY: dict[str, list[Any]] = {
    "id": [None, 7],
    "cwd": [None, []],
    "version": ["3", 3.0, True],
    "timestamp": [None, 1_760_000_000_000, "", "yesterday"],
    "parentSession": [7],
}


def pairs(wrong: dict[str, list[Any]]) -> list[tuple[str, Any]]:
    return [(field, value) for field, values in wrong.items() for value in values]


@pytest.mark.parametrize(("field", "wrong"), pairs(WRONG))
def test_a_field_of_a_wrong_type_is_corruption_in_line_1_that_names_the_field(field: str, wrong: object) -> None:
    with pytest.raises(CorruptSession) as refusal:
        read(format_4(**{field: wrong}))
    assert (refusal.value.path, refusal.value.line) == ("walk.jsonl", 1)
    assert f"`{field}`" in refusal.value.reason


@pytest.mark.parametrize("field", ["v", "id", "storageVersion", "createdAt", "cwd"])
def test_a_required_field_that_is_missing_is_corruption(field: str) -> None:
    with pytest.raises(CorruptSession, match=f"`{field}`"):
        read(format_4(**{field: None}))


@pytest.mark.parametrize("field", ["parentSessionId", "legacyParentSessionPath", "nextSeq"])
def test_an_optional_field_that_is_null_is_corruption(field: str) -> None:
    with pytest.raises(CorruptSession, match=f"`{field}`"):
        read(format_4(**{field: 0}).replace(b'":0', b'":null'))


@pytest.mark.parametrize(("field", "wrong"), pairs(WRONG_LEGACY))
def test_a_wrong_field_of_a_legacy_header_is_corruption_too(field: str, wrong: object) -> None:
    with pytest.raises(CorruptSession, match=f"`{field}`"):
        read(version_3(**{field: wrong}))


def test_a_null_parent_of_a_legacy_header_is_corruption() -> None:
    with pytest.raises(CorruptSession, match="`parentSession`"):
        read(version_3(parentSession=0).replace(b'":0', b'":null'))


@pytest.mark.parametrize("text", [b'"\\ud800"', b'"a\\udc00b"'])
@pytest.mark.parametrize("field", ["id", "cwd", "parentSessionId"])
def test_a_lone_surrogate_is_no_text(field: str, text: bytes) -> None:
    with pytest.raises(CorruptSession, match=f"`{field}`"):
        read(format_4(**{field: "@"}).replace(b'"@"', text))


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (format_4(v=5), 5),
        (format_4(v=0), 0),
        (format_4(v=-1), -1),
        (format_4(v=5, id=None, createdAt="never"), 5),
        (format_4(storageVersion=2), 2),
        (format_4(storageVersion=2, cwd=None, nextSeq=0), 2),
        (version_3(version=None), 1),
        (version_3(version=None, id=None, timestamp=None), 1),
        (version_3(version=2), 2),
        (version_3(version=4), 4),
    ],
)
def test_another_version_is_named_before_anything_else_is_judged(line: bytes, version: int) -> None:
    """Another version may have other fields, so its fields are no corruption (S-REPO-08, S-V3-04)."""
    with pytest.raises(UnsupportedVersion) as refusal:
        read(line)
    assert (refusal.value.path, refusal.value.version) == ("walk.jsonl", version)
    assert repr(version) in str(refusal.value)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" ",
        b"\0" * 64,
        b"null",
        b"[]",
        b'"header"',
        b"{}",
        b'{"kind":"entry"}',
        b'{"type":"message"}',
        b"[" + format_4().strip() + b"]",
        format_4()[:-3],
        format_4().replace(b"walk", b"wal\xff"),
        MARK + MARK + format_4(),
        format_4().decode().encode("utf-16"),
        format_4().replace(b"4", b"NaN"),
    ],
)
def test_what_is_no_header_is_corruption_in_line_1(line: bytes) -> None:
    with pytest.raises(CorruptSession) as refusal:
        read(line)
    assert refusal.value.line == 1


def test_the_cause_of_a_line_that_is_no_json_is_kept() -> None:
    with pytest.raises(CorruptSession) as refusal:
        read(b"{")
    assert isinstance(refusal.value.__cause__, ValueError)


@pytest.mark.parametrize("header", [read(format_4()), read(version_3(id="walk-1"))])
def test_metadata_names_a_session_by_its_exact_id_and_cwd(header: Header | LegacyHeader) -> None:
    expect_identity(header, "walk-1", GARDEN, "walk.jsonl")
    for session_id, cwd, field in (("Walk-1", GARDEN, "id"), ("walk-1", GARDEN + "/", "cwd"), ("walk-1 ", "/", "id")):
        with pytest.raises(ForeignSession) as refusal:
            expect_identity(header, session_id, cwd, "walk.jsonl")
        assert (refusal.value.session_id, refusal.value.path, refusal.value.field) == (session_id, "walk.jsonl", field)


def test_the_header_of_an_upgrade_holds_all_that_the_metadata_knows() -> None:
    metadata = SessionMetadata(
        id="shed-7", created_at=5, cwd=GARDEN, parent_session_id="p", path="a.jsonl", modified_at=9
    )
    assert header_of(metadata, 3) == Header(id="shed-7", created_at=5, cwd=GARDEN, parent_session_id="p", next_seq=3)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2025-10-09T08:53:20.123Z", 1_760_000_000_123),
        ("2025-10-09T08:53:20Z", 1_760_000_000_000),
        ("2025-10-09T08:53Z", 1_759_999_980_000),
        ("2025-10-09T10:53:20.5+02:00", 1_760_000_000_500),
        ("2025-10-09T04:23:20.123456789-0430", 1_760_000_000_123),
        ("1970-01-01T00:00:00.000Z", 0),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ],
)
def test_a_date_is_read_to_the_millisecond(text: str, milliseconds: int) -> None:
    assert read_date(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    [
        None,
        1_760_000_000_123,
        "",
        "2025-10-09",
        "2025-10-09T08:53:20.123",
        "2025-10-09 08:53:20Z",
        "2025-10-09t08:53:20z",
        "2025-W41-4T08:53:20Z",
        "20251009T085320Z",
        "2025-10-09T08Z",
        "2025-10-09T08:53:20,5Z",
        "2025-10-09T08:53:20.Z",
        "2025-10-09T08:53:20Z ",
        "2025-10-09T08:53:20Z\n",
        "2025-13-09T08:53:20Z",
        "2025-02-29T08:53:20Z",
        "2025-10-09T08:53:60Z",
        "2025-10-09T24:00:00Z",
        "2025-10-09T08:53:20+24:00",
        "\uff12\uff10\uff12\uff15-10-09T08:53:20Z",
        "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00+01:00",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
    ],
)
def test_what_is_no_date_or_before_all_entries_is_none(text: object) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize("wrong", [True, False, 1.0, "1", None, 2**53, -1, 4])
def test_an_integer_of_the_format(wrong: object) -> None:
    assert not is_integer(wrong, 5)
    assert is_integer(5, 5)
    assert is_integer(LAST_SEQUENCE, 5)
