"""Damage, judged by a checker that knows nothing of how the damage was done."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from forkgen import recipe
from forkgen.damage import Damaged, NotAGoodFile, Source, Verdict, damage
from forkgen.jsonl import lines
from tests.forkgen.good_files import CREATED_AT, FILES, good_file
from tests.forkgen.strict_format4 import Finding, Replay, State, examine

GOOD = {name: good_file(name) for name in FILES} | {"with nextSeq": good_file("rich", next_seq=500)}
VERDICTS = {
    Verdict.OPENS: "opens",
    Verdict.OPENS_BEFORE: "opens",
    Verdict.CORRUPT: "corrupt",
    Verdict.UNSUPPORTED: "unsupported",
}


def expected_state(good: bytes, variant: Damaged) -> State:
    lines = good.splitlines(keepends=True) if variant.verdict is Verdict.OPENS else good.splitlines(keepends=True)[:-1]
    replay = Replay()
    for line in lines[1:]:
        replay.line(line)
    for record in variant.added:
        replay.record(record)
    return replay.state


def faults_of(good: bytes, variant: Damaged) -> list[str]:
    data = b"".join(variant.chunks())
    found = examine(data)
    seen = (found.verdict, found.line, found.cause, found.version, found.next_seq)
    stated = (VERDICTS[variant.verdict], variant.line, variant.cause, variant.version, variant.next_seq)
    faults = [f"{variant.name}: stated {stated}, seen {seen}"] if seen != stated else []
    if b"".join(variant.after_open()) != found.after:
        faults.append(f"{variant.name}: other bytes after open")
    if variant.repaired != (found.after != data):
        faults.append(f"{variant.name}: repaired is {variant.repaired}")
    if found.verdict == "opens" and not same_state(found, expected_state(good, variant)):
        faults.append(f"{variant.name}: other state")
    return faults


def same_state(found: Finding, expected: State) -> bool:
    # The repr keeps 1, 1.0 and True apart, and the order of members.
    return repr(found.state) == repr(expected)


@pytest.mark.parametrize("name", GOOD)
def test_an_independent_checker_agrees_with_every_verdict(name: str) -> None:
    good = GOOD[name]
    assert examine(good).verdict == "opens"
    faults = [fault for variant in damage(good) for fault in faults_of(good, variant)]
    assert faults == []


@pytest.mark.one_python
@pytest.mark.parametrize("name", ["lanes", "lists", "usage", "unicode", "numbers", "reserved", "wide"])
def test_the_checker_agrees_on_files_of_recipes(name: str) -> None:
    good = b"".join(lines(recipe(name)(seed=2, size=3), id="walk-1", cwd="/srv/garden", created_at=CREATED_AT))
    torn = [variant for variant in damage(good) if variant.name.startswith("torn-")]
    others = [variant for variant in damage(good) if not variant.name.startswith("torn-")]
    assert [fault for variant in [*others, *torn[::97], torn[-1]] for fault in faults_of(good, variant)] == []


def test_the_checker_can_disagree() -> None:
    variants = {variant.name: variant for variant in damage(GOOD["rich"])}
    torn, blank = variants["torn-at-byte-9"], variants["blank-line-second"]
    assert faults_of(GOOD["rich"], replace(torn, verdict=Verdict.OPENS))
    assert faults_of(GOOD["rich"], replace(torn, repaired=False))
    assert faults_of(GOOD["rich"], replace(torn, next_seq=99))
    assert faults_of(GOOD["rich"], replace(blank, line=3))
    assert faults_of(GOOD["rich"], replace(variants["one-more-root"], added=()))


@pytest.mark.parametrize("name", GOOD)
def test_every_variant_has_a_name_of_its_own_and_other_bytes_than_the_good_file(name: str) -> None:
    variants = list(damage(GOOD[name]))
    assert len({variant.name for variant in variants}) == len(variants)
    assert [variant.name for variant in variants if b"".join(variant.chunks()) == GOOD[name]] == []


def test_the_last_transaction_is_torn_at_every_byte() -> None:
    good = GOOD["rich"]
    last = good[good.rindex(b"\n", 0, -1) + 1 :]
    torn = [variant for variant in damage(good) if variant.name.startswith("torn-")]
    assert [b"".join(variant.chunks()) for variant in torn] == [
        good[: len(good) - len(last) + byte] for byte in range(len(last))
    ]
    assert {variant.next_seq for variant in torn} == {18}
    assert b"".join(torn[-1].chunks()) == good[:-1]


def test_a_torn_header_is_corruption_at_every_byte() -> None:
    torn = [variant for variant in damage(GOOD["bare"]) if variant.name.startswith("torn-")]
    assert len(torn) == len(GOOD["bare"])
    assert {(variant.verdict, variant.line) for variant in torn} == {(Verdict.CORRUPT, 1)}


CLAUSES_ABOUT_BYTES = {
    *(f"S-JSONL-FMT-{number:02}" for number in (2, 3, 5, 6, 8, 9, 10, 11, 12, 13)),
    *(f"S-JSONL-TAIL-{number:02}" for number in (1, 2, 3, 4, 5, 6)),
    *("S-JSONL-FORK-11", "S-VAL-13", "S-VAL-15", "S-VAL-16", "S-VAL-17", "S-REPO-08", "S-REPO-14", "S-V3-04"),
}


def test_every_clause_about_the_bytes_of_a_file_has_a_variant() -> None:
    seen = {clause for variant in damage(GOOD["rich"]) for clause in variant.clauses}
    assert CLAUSES_ABOUT_BYTES - seen == set()


def test_damage_finds_early_lines_and_late_ones() -> None:
    lines = {variant.line for variant in damage(GOOD["rich"]) if variant.verdict is Verdict.CORRUPT}
    assert {1, 2, 3, 6, 7, 9, 12, 13} <= lines


def sources(good: bytes, place: Path) -> dict[str, Source]:
    path = place / "good.jsonl"
    path.write_bytes(good)
    pieces = [good[start : start + 7] for start in range(0, len(good), 7)]
    return {"path": path, "text path": str(path), "bytes": good, "chunks": pieces, "stream": iter(pieces)}


@pytest.mark.parametrize("kind", ["path", "text path", "bytes", "chunks", "stream"])
def test_bytes_paths_and_streams_give_the_same_variants(kind: str, tmp_path: Path) -> None:
    good = GOOD["single"]
    wanted = [(variant, b"".join(variant.chunks())) for variant in damage(good)]
    source = sources(good, tmp_path)[kind]
    made = [(variant, b"".join(variant.chunks())) for variant in damage(source)]
    assert made == wanted


def test_a_variant_gives_its_bytes_again() -> None:
    for variant in damage(iter([GOOD["rich"]])):
        assert b"".join(variant.chunks()) == b"".join(variant.chunks())


def test_a_variant_is_published_under_its_name(tmp_path: Path) -> None:
    variant = next(variant for variant in damage(GOOD["rich"]) if variant.name == "line-ends-crlf")
    variant.write_to(tmp_path / "crlf.jsonl")
    assert (tmp_path / "crlf.jsonl").read_bytes() == GOOD["rich"].replace(b"\n", b"\r\n")
    assert [path.name for path in tmp_path.iterdir()] == ["crlf.jsonl"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"not a session\n",
        b"\xef\xbb\xbf" + GOOD["bare"],
        GOOD["bare"][:-1],
        GOOD["bare"] + b"{",
        GOOD["bare"] + b"7\n",
        GOOD["bare"] + b'[{"kind":"value"}]\n',
        GOOD["bare"] + b'{"kind":"usage","seq":1,"id":"u"}\n',
        GOOD["single"] + GOOD["single"],
        b'{"type":"session","version":3}\n',
    ],
)
def test_what_is_no_good_file_is_refused(data: bytes) -> None:
    with pytest.raises(NotAGoodFile):
        next(damage(data))


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(damage(tmp_path / "nowhere.jsonl"))


def large_file(lines: int) -> Iterator[bytes]:
    yield GOOD["bare"]
    for seq in range(1, lines + 1):
        record = {"kind": "value", "op": "set", "seq": seq, "namespace": "n", "key": str(seq), "value": "x" * 2000}
        yield json.dumps(record).encode() + b"\n"


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.writelines(large_file(4_000))
    gc.collect()
    tracemalloc.start()
    try:
        variants = [variant for variant in damage(path) if not variant.name.startswith("torn-")]
        for variant in variants[:: len(variants) // 12]:
            assert sum(map(len, variant.chunks())) >= 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * 1024 * 1024 < path.stat().st_size
