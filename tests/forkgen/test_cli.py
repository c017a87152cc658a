"""The command line: what it makes, and one line with the right exit code for what it cannot."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forkgen import RECIPES, digest, recipe
from forkgen.damage import damage
from forkgen.jsonl import lines
from forkgen.legacy import legacy_files
from tests.forkgen import cli_backends
from tests.forkgen.cli_runs import here, make
from tests.forkgen.good_files import good_file
from tests.forkgen.strict_format4 import examine

# ── what it makes ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_list_names_every_recipe(forkgen, snapshot):
    code, out, err = forkgen("list")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[::2]] == list(RECIPES)
    assert out == snapshot


def test_one_recipe_is_shown_with_its_picture(forkgen, snapshot):
    code, out, err = forkgen("list", "lanes")
    assert (code, err) == (0, "")
    assert out == snapshot


def test_the_list_for_scripts(forkgen):
    _, out, _ = forkgen("list", "--json")
    listed = json.loads(out)["recipes"]
    assert [each["name"] for each in listed] == list(RECIPES)
    assert all(each["unit"] and each["summary"] and each["picture"] for each in listed)
    _, out, _ = forkgen("list", "lanes", "--json")
    assert json.loads(out) in listed


@pytest.mark.parametrize("name", RECIPES)
def test_a_file_of_every_recipe_is_a_good_file(forkgen, name):
    code, out, err = forkgen(*make(name, "-o", "walk.jsonl"))
    assert (code, err) == (0, "")
    contents = Path("walk.jsonl").read_bytes()
    found = examine(contents)
    assert found.verdict == "opens"
    assert re.search(rf"session {name}-1-5, {(found.next_seq or 0) - 1} writes in", out)
    assert out.endswith(f", {len(contents)} bytes\n")
    assert here() == ["walk.jsonl"]


def test_a_file_is_what_the_library_writes(forkgen, snapshot):
    _, out, _ = forkgen(*make("bushy", "-o", "walk.jsonl", "--id", "walk", "--cwd", "/srv/shed"))
    written = lines(recipe("bushy")(1, 5), id="walk", cwd="/srv/shed", created_at=1_700_000_000_000)
    assert Path("walk.jsonl").read_bytes() == b"".join(written)
    assert out == snapshot


def test_a_file_for_scripts(forkgen, snapshot):
    code, out, _ = forkgen(*make("bushy", "-o", "walk.jsonl", "--json"))
    assert code == 0
    assert json.loads(out) == snapshot


def test_an_existing_file_is_replaced_only_by_force(forkgen):
    Path("walk.jsonl").write_bytes(b"old")
    code, out, err = forkgen(*make("linear", "-o", "walk.jsonl"))
    assert (code, out, err) == (2, "", "forkgen: walk.jsonl: exists; --force replaces it\n")
    assert Path("walk.jsonl").read_bytes() == b"old"
    assert forkgen(*make("linear", "-o", "walk.jsonl", "--force"))[0] == 0
    assert examine(Path("walk.jsonl").read_bytes()).verdict == "opens"


@pytest.mark.parametrize("name", RECIPES)
def test_a_session_of_every_recipe_in_a_backend_holds_what_is_expected(forkgen, name):
    code, out, err = forkgen(*make(name, "--into", "memory", size=12))
    assert (code, err) == (0, "")
    assert f": holds what {name} expects\n" in out


def test_a_backend_that_keeps_nothing_gets_a_dry_run(forkgen, snapshot):
    code, out, err = forkgen(*make("linear", "--into", "memory"))
    assert (code, err, here()) == (0, "", [])
    assert out == snapshot
    _, out, _ = forkgen(*make("linear", "--into", "memory", "--json"))
    assert json.loads(out) == snapshot


def test_a_backend_that_keeps_files_is_told_where(forkgen, snapshot):
    code, out, err = forkgen(*make("linear", "--into", "kept"))
    assert (code, out, err) == (2, "", "forkgen: target kept: keeps files; say where with --directory\n")
    code, out, err = forkgen(*make("linear", "--into", "kept", "--directory", "store/one"))
    assert (code, err) == (0, "")
    assert out == snapshot
    assert Path("store/one").is_dir()
    assert Path("store/one") in cli_backends.Kept.repos
    code, _, err = forkgen(*make("linear", "--into", "kept", "--directory", "store/one"))
    assert code == 2
    assert err.startswith("forkgen: target kept: takes no session 'linear-1-5': SessionExists: ")
    code, out, _ = forkgen(*make("linear", "--into", "kept", "--directory", "store/one", "--id", "two", "--json"))
    assert (code, json.loads(out)["durable"], json.loads(out)["directory"]) == (0, True, "store/one")


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("full", "target full: failed after 2 transactions: OSError: no space left"),
        ("forgetful", "target forgetful: session linear-1-5 is not as expected: entry 4 "),
    ],
)
def test_a_backend_that_fails_is_named(forkgen, target, line):
    code, out, err = forkgen(*make("linear", "--into", target, "--directory", "store"))
    assert (code, out) == (1, "")
    assert err.startswith(f"forkgen: {line}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("target", "expected"), [("full", 1), ("interrupted", 130), ("forgetful", 1)])
def test_nothing_stays_of_an_unfinished_session(forkgen, target, expected):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code, out, err = forkgen(*make("linear", "--into", target, "--directory", "store"))
    finally:
        signal.signal(signal.SIGINT, before)
    assert (code, out, err.count("\n")) == (expected, "", 1)
    [repo] = cli_backends.Kept.repos.values()
    left = [metadata.id for metadata in asyncio.run(repo.list())]
    assert left == (["linear-1-5"] if target == "forgetful" else [])  # a finished one stays, for whoever looks into it


def test_the_digest_is_the_librarys(forkgen):
    expected = digest(recipe("labels")(7, 20))
    assert forkgen("digest", "labels", "--seed", "7", "--size", "20") == (0, f"{expected}\n", "")
    _, out, _ = forkgen("digest", "labels", "--seed", "7", "--size", "20", "--json")
    assert json.loads(out) == {"recipe": "labels", "seed": 7, "size": 20, "digest": expected}


def test_damage_lists_every_variant(forkgen, snapshot):
    Path("walk.jsonl").write_bytes(good_file("rich"))
    code, out, err = forkgen("damage", "walk.jsonl")
    assert (code, err, here()) == (0, "", ["walk.jsonl"])
    assert [line.split()[0] for line in out.splitlines()[:-1]] == [each.name for each in damage(good_file("rich"))]
    _, out, _ = forkgen("damage", "walk.jsonl", "--only", "mark-", "--only", "header-v", "--only", "torn-at-byte-0")
    assert out == snapshot


def test_damage_writes_the_variants_with_their_verdicts(forkgen):
    Path("walk.jsonl").write_bytes(good_file("rich"))
    code, out, err = forkgen("damage", "walk.jsonl", "-o", "out/new", "--json")
    assert (code, err) == (0, "")
    listed = {each["name"]: each for each in json.loads(out)["variants"]}
    expected = {each.name: each for each in damage(good_file("rich"))}
    assert list(listed) == list(expected)
    assert len(list(Path("out/new").iterdir())) == len(expected)
    for name, variant in expected.items():
        told = listed[name]
        assert Path(told["file"]).read_bytes() == b"".join(variant.chunks())
        assert (told["verdict"], told["line"], told["version"]) == (variant.verdict, variant.line, variant.version)
        assert (told["clauses"], told["repaired"]) == ([*variant.clauses], variant.repaired)


def test_damage_reads_a_pipe(forkgen, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-c", "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"]
    with subprocess.Popen([*command, str(tmp_path / "pipe")], stdin=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        writer.stdin.write(good_file("rich"))
        writer.stdin.close()
        code, out, _ = forkgen("damage", str(tmp_path / "pipe"), "--only", "torn-at-byte")
    assert code == 0
    assert out.count("torn-at-byte") == len(good_file("rich").splitlines()[-1]) + 1


def test_legacy_files_are_listed_and_written(forkgen, snapshot):
    code, out, err = forkgen("legacy", "--list")
    names = [case.name for case in legacy_files()]
    assert (code, err, here()) == (0, "", [])
    assert [line.split()[0] for line in out.splitlines()] == names
    code, out, err = forkgen("legacy", "-o", "old", "--json")
    assert (code, err) == (0, "")
    listed = json.loads(out)["files"]
    assert [each["name"] for each in listed] == names
    for told, case in zip(listed, legacy_files(), strict=True):
        assert Path(told["file"]).read_bytes() == case.in_directory("old").contents
    code, out, _ = forkgen("legacy", "every-kind", "-o", "one")
    assert (code, out) == (0, snapshot)
    assert sorted(path.name for path in Path("one").iterdir()) == ["every-kind.jsonl"]


def test_legacy_states_name_fresh_ids_by_their_record(forkgen, snapshot):
    _, out, _ = forkgen("legacy", "several-roots", "--list", "--json")
    assert json.loads(out) == snapshot


@pytest.mark.parametrize("command", [["legacy", "-o", "out"], ["damage", "../walk.jsonl", "-o", "out"]])
def test_a_directory_that_holds_something_needs_force(forkgen, command):
    Path("../walk.jsonl").write_bytes(good_file("rich"))
    Path("out").mkdir()
    Path("out/mine").touch()
    assert forkgen(*command) == (2, "", "forkgen: out: is not empty; --force writes into it all the same\n")
    assert forkgen(*command, "--force")[0] == 0
    assert Path("out/mine").exists()


# ── what it cannot do ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["list", "liner"], "there is no recipe 'liner'; did you mean linear?"),
        (make("liner", "-o", "x"), "there is no recipe 'liner'; did you mean linear?"),
        (make("zzz", "--into", "memory"), "there is no recipe 'zzz'"),
        (["digest", "wid", "--seed", "1", "--size", "1"], "there is no recipe 'wid'; did you mean wide?"),
        (make("linear", "-o", "x", size=0), "size 0 is below 1"),
        (make("linear", "-o", "x", size=-3), "size -3 is below 1"),
        (make("linear", "-o", "x", seed=-1), "seed -1 is outside 0 … 2^64−1"),
        (make("linear", "-o", "x", seed=2**64), "seed 18446744073709551616 is outside 0 … 2^64−1"),
        (make("linear", "-o", "x", "--id", "\udcff"), "holds a lone surrogate"),
        (make("linear", "-o", "nowhere/x"), "nowhere/x: cannot be written: No such file or directory"),
        (make("linear", "-o", "."), ".: cannot be written: it is there, and no file"),
        (make("linear", "-o", "/dev/null", "--force"), "/dev/null: cannot be written: it is there, and no file"),
        (make("linear", "-o", "x" * 300), ": cannot be written: File name too long"),
        (make("linear", "-o", "x", "--directory", "y"), "--directory goes with --into"),
        (make("linear", "--into", "memory", "--force"), "--force goes with -o"),
        (make("linear", "--into", "memory", "--cwd", "/"), "--cwd goes with -o"),
        (make("linear", "--into", "memroy"), "there is no registered backend 'memroy'; did you mean memory?"),
        (make("linear", "--into", "number"), "target number: tests.forkgen.cli_backends:number is no harness class"),
        (make("linear", "--into", "missing"), "cannot be loaded: AttributeError"),
        (make("linear", "--into", "unmade"), "target unmade: the harness cannot be made: OSError: no disk at all"),
        (make("linear", "--into", "closed"), "takes no session 'linear-1-5': ConnectionError: refused"),
        (make("linear", "--into", "stranger"), "target stranger: keeps streams, not sessions"),
        (make("linear", "--into", "kept", "--directory", "/dev/null/x"), "/dev/null/x: cannot be written: Not a dir"),
        (["legacy"], "legacy takes either --list or -o DIR"),
        (["legacy", "--list", "-o", "x"], "legacy takes either --list or -o DIR"),
        (["legacy", "every-kin", "--list"], "there is no legacy file 'every-kin'; did you mean every-kind?"),
        (["legacy", "-o", "/dev/null"], "/dev/null: cannot be written: it is no directory"),
        (["damage", "nowhere"], "nowhere: cannot be read: No such file or directory"),
        (["damage", "."], ".: cannot be read: Is a directory"),
        (["damage", "/dev/null"], "/dev/null: cannot be damaged: the file is empty"),
    ],
)
def test_bad_input_is_one_line(forkgen, arguments, line):
    code, out, err = forkgen(*arguments)
    assert (code, out, here()) == (2, "", [])
    assert line in err
    assert err.startswith("forkgen: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["grow"],
        ["make", "linear"],
        ["make", "linear", "--seed", "1", "--size", "1"],
        make("linear", "-o", "x", "--into", "memory"),
        make("linear", "-o", "x", size="1.5"),
        make("linear", "-o", "x", size="1_0"),
        make("linear", "-o", "x", size="٣"),
        make("linear", "-o", "x", size=10**12),
        make("linear", "-o", "x", seed="one\ntwo"),
        make("linear", "-o", "x", seed="9" * 5000),
        ["damage"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40] or "nothing",
)
def test_bad_usage_is_one_line(forkgen, arguments):
    code, out, err = forkgen(*arguments)
    assert (code, out, here()) == (2, "", [])
    assert err.startswith("forkgen")
    assert err.count("\n") == 1
    assert len(err) < 300


@pytest.mark.parametrize("contents", [b"garden", b'{"v":3}\n', good_file("rich")[:-1]], ids=["text", "v3", "torn"])
def test_a_damaged_file_is_not_damaged_again(forkgen, contents):
    Path("walk.jsonl").write_bytes(contents)
    code, out, err = forkgen("damage", "walk.jsonl", "-o", "out")
    assert (code, out, here()) == (2, "", ["walk.jsonl"])
    assert re.fullmatch(r"forkgen: walk\.jsonl: cannot be damaged: line \d+ .*\n", err)


def test_a_selection_of_nothing_is_refused(forkgen):
    Path("walk.jsonl").write_bytes(good_file("rich"))
    code, out, err = forkgen("damage", "walk.jsonl", "--only", "tron", "--only", "x", "-o", "out")
    assert (code, out, here()) == (2, "", ["walk.jsonl"])
    assert err == "forkgen: --only tron --only x: no variant's name begins so\n"


def test_damage_leaves_the_good_file_alone(forkgen):
    Path("walk.jsonl").write_bytes(good_file("rich"))
    code, _, err = forkgen("damage", "walk.jsonl", "-o", ".", "--force")
    assert (code, here()) == (2, ["walk.jsonl"])
    assert "holds walk.jsonl itself" in err


def test_a_traceback_is_there_for_those_who_ask(forkgen):
    _, _, err = forkgen("list", "liner", "--debug")
    assert err.startswith("Traceback")
    assert err.endswith("forkgen: there is no recipe 'liner'; did you mean linear?\n")
