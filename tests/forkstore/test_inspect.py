"""The command `forkstore inspect`: what it says, to people and to scripts, and one line for what it cannot read."""

from __future__ import annotations

import json
import os
import re
import socket
import tomllib

import pytest

from forkproof.instruments.audit import AuditSpy
from forkproof.instruments.byteguard import ByteGuard
from forkstore.inspection import UnreadableFile, inspect_file
from tests.forkgen.good_files import good_file
from tests.forkstore.inspected import HEADER, ROOT, file_of, file_of_empty_lines, run, start
from tests.session_files import DIRECTORY, FILES

CODES = {"v1.jsonl": 1, "v2.jsonl": 1, "v3.jsonl": 0, "v3-torn.jsonl": 1, "format-4.jsonl": 0, "format-4-torn.jsonl": 1}


@pytest.mark.parametrize("name", FILES)
def test_a_report_for_people(name, monkeypatch, snapshot):
    monkeypatch.chdir(DIRECTORY)
    code, out, err = run("inspect", name)
    assert (code, err) == (CODES[name], "")
    assert out == snapshot


@pytest.mark.parametrize("name", FILES)
def test_a_document_for_scripts(name, monkeypatch, snapshot):
    monkeypatch.chdir(DIRECTORY)
    code, out, err = run("inspect", "--json", name)
    assert (code, err) == (CODES[name], "")
    assert json.loads(out)["forkstore_inspect"] == 1
    assert json.loads(out) == snapshot


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_version_is_refused_by_its_number(version, capsys):
    _, out, _ = run("inspect", DIRECTORY / f"v{version}.jsonl")
    assert f"error  line 1  version {version} is not read by this store" in out


def test_help_says_what_counts_as_a_finding():
    code, out, err = run("inspect", "--help")
    assert (code, err) == (0, "")
    assert "what counts as a finding" in out
    assert "exit codes: 0 no finding; 1 findings;" in out


def test_it_is_a_module_and_a_script_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["forkstore"] == "forkstore.inspect:main"


# ── what cannot be read ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "forkstore: the following arguments are required: COMMAND"),
        (["inspect"], "forkstore inspect: the following arguments are required: FILE"),
        (["inspect", "a", "--loud"], "forkstore: unrecognized arguments: --loud"),
        (["inspect", "no such\nfile"], "forkstore: no such file: cannot be read: No such file or directory"),
        (["inspect", "."], "forkstore: .: is a directory, not a session file"),
        (["inspect", "pipe"], "forkstore: pipe: is not a regular file"),
        (["inspect", "socket"], "forkstore: socket: is not a regular file"),
        (["inspect", "file/below"], "forkstore: file/below: cannot be read: Not a directory"),
        (["inspect", "loop"], "forkstore: loop: cannot be read: Too many levels of symbolic links"),
        (["inspect", "file", "--json"], None),
    ],
)
def test_what_cannot_be_read_is_one_line(arguments, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(HEADER)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        code, out, err = run(*arguments)
    if line is None:
        assert (code, err) == (0, "")
    else:
        assert (code, out, err) == (2, "", line + "\n")


def test_debug_adds_the_traceback(tmp_path):
    code, _, err = run("inspect", tmp_path / "none", "--debug")
    assert code == 2
    assert err.startswith("Traceback ")
    assert err.endswith(f"forkstore: {tmp_path}/none: cannot be read: No such file or directory\n")


def test_a_failing_disk_is_one_line(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    path = file_of(tmp_path)
    monkeypatch.setattr(os, "pread", fail)
    assert run("inspect", path) == (2, "", f"forkstore: {path}: cannot be read: Input/output error\n")


def test_a_file_that_shrinks_meanwhile_is_told(tmp_path):
    path = file_of_empty_lines(tmp_path, 200_000)
    with pytest.raises(UnreadableFile, match="became shorter while it was read"):
        inspect_file(str(path), lambda done, total: os.truncate(path, done))


def test_what_is_appended_meanwhile_is_left_alone(tmp_path):
    path = file_of_empty_lines(tmp_path, 200_000)
    size = path.stat().st_size

    def append(done, total):
        with path.open("ab") as file:
            file.write(b"broken\n")

    inspection = inspect_file(str(path), append)
    assert (inspection.size, inspection.lines, inspection.opens) == (size, 200_001, True)


# ── what is no session file ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "the file is empty"),
        (b"\n", "does not begin with a header, so it is no session file"),
        (HEADER[:-1], "the file ends inside its first line"),
        (HEADER[:20], "the file ends inside its first line"),
        (b" " * 300_000, "the file ends inside its first line"),
        (b"\x7fELF\x02\x01\n\0\0", "does not begin with a header, so it is no session file"),
        (bytes(4096), "does not begin with a header, so it is no session file"),
        (b"SQLite format 3\0", "does not begin with a header, so it is no session file"),
        (b"[1]\n", "does not begin with a header, so it is no session file"),
        (HEADER.decode().encode("utf-16"), "does not begin with a header, so it is no session file"),
        (b'{"name":"forkproof"}\n', "the first line is no header of a session"),
        (b'{\n "name": "forkproof"\n}\n', "the header is not a line of JSON"),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value[:12]),
)
def test_what_is_no_session_file_is_told_so(contents, reason, tmp_path):
    path = tmp_path / "walk.jsonl"
    path.write_bytes(contents)
    code, out, err = run("inspect", path)
    assert (code, err) == (1, "")
    assert "\n1 error\n  error  line 1  " in out
    assert reason in out.splitlines()[-1]


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_out_of_a_file_reaches_the_terminal_raw(tmp_path):
    name, text = "\x1b[2J", json.dumps("\x1b[31m\u202e\x85")
    path = file_of(
        tmp_path,
        b'{"kind":"value","op":"set","seq":1,"namespace":"pi.branch.tip","key":%b,"value":%b}'
        % (json.dumps(name).encode(), text.encode()),
        b'{"kind":"value","op":"set","seq":2,"namespace":%b,"key":"","value":1}' % text.encode(),
        b'{"kind":"entry","id":"e","parentId":null,"type":%b,"seq":3,"timestamp":0}' % text.encode(),
        header=HEADER.replace(b'"walk-1"', text.encode()).replace(b'"/srv/garden"', text.encode()),
    )
    code, out, _ = run("inspect", path)
    assert code == 1
    assert not re.search(r"[^\n -~]", out)
    assert out.count("\\x1b[31m\\u202e\\x85") == 6


def test_long_names_and_long_tables_are_cut_for_people_only(tmp_path):
    lines = [
        b'{"kind":"value","op":"set","seq":%d,"namespace":"garden.%03d%b","key":"","value":1}' % (n, n, b"x" * 100)
        for n in range(1, 101)
    ]
    path = file_of(tmp_path, *lines)
    _, out, _ = run("inspect", path)
    assert f"  garden.001{'x' * 50}…  1\n" in out
    assert "garden.041" not in out
    assert "  and 60 more; --json has them all\n" in out
    _, out, _ = run("inspect", path, "--json")
    assert len(json.loads(out)["contents"]["scalars"]) == 100


@pytest.mark.parametrize(("time", "shown"), [(0, "1970-01-01T00:00:00.000Z"), (2**53 - 1, f"{2**53 - 1:,} millis")])
def test_any_time_can_be_shown(time, shown, tmp_path):
    _, out, _ = run("inspect", file_of(tmp_path, header=HEADER.replace(b"1760000000123", str(time).encode())))
    assert f"  created        {shown}" in out


def test_parents_are_shown(tmp_path):
    header = HEADER.replace(b'"}', b'","parentSessionId":"walk-0"}')
    assert "  parent         walk-0\n" in run("inspect", file_of(tmp_path, header=header))[1]
    header = HEADER.replace(b'"}', b'","legacyParentSessionPath":"/old/walk.jsonl"}')
    assert "  parent file    /old/walk.jsonl\n" in run("inspect", file_of(tmp_path, header=header))[1]


# ── and nothing is written ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("name", FILES)
def test_nothing_is_written(name, form, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    with ByteGuard(path, root=tmp_path), AuditSpy(tmp_path):
        run("inspect", path, *form)


def test_a_file_that_may_only_be_read_is_enough(tmp_path):
    path = file_of(tmp_path, good_file("rich")[:-1].partition(b"\n")[2])
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert run("inspect", path)[0] == 0
    finally:
        tmp_path.chmod(0o755)


def test_an_ascii_terminal_is_enough(tmp_path):
    path = file_of(tmp_path, good_file("rich")[:-1].partition(b"\n")[2])
    renamed = path.rename(tmp_path / "früh 🌱.jsonl")
    with start("inspect", renamed, PYTHONIOENCODING="ascii") as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "fr\\xfch \\U0001f331.jsonl" in out
