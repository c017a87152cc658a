"""The command line: verdict and exit code, one clear line for every bad input, no traceback unless asked for."""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from importlib.metadata import version

import pytest

from forkproof import checking, targets
from forkproof.case import all_variants, case, rows
from forkproof.clauses import CONTRACT
from forkproof.cli import main
from forkproof.expect import ClauseBroken, expect_equal
from forkproof.report.document import read_report
from forkproof.verdict import CaseResult, Outcome

STORES = """
class Repo:
    async def close(self): pass
    create = open = list = delete = fork = close

class Good:
    name = "good"
    answer = 1
    def __init__(self, directory): self.directory = directory
    async def open_repo(self, seams): return Repo()

class Bad(Good):
    name = "bad"
    answer = 2

class Unmade(Good):
    def __init__(self, directory): raise OSError("no disk\\nat all")

class Closed(Good):
    name = "closed"
    async def open_repo(self, seams): raise ConnectionError("refused")

class Gone(Good):
    name = "gone"
    async def open_repo(self, seams): raise SystemExit(0)

class Empty(Good):
    name = "empty"
    async def open_repo(self, seams): return None

class Quitter(Good):
    answer = "quit"

class Later(Good):
    contract = "2099.1"

class Stranger(Good):
    family = "dreams"

class Interrupted(Good):
    answer = "interrupt"

class Idle(Good):
    name = "idle"
    answer = None

number = 7
"""


@case("S-TXN-02", "S-TXN-04")
@rows("step", first=1, second=2)
async def half_a_commit_is_no_commit(store, step):
    """A commit is applied wholly or not at all.

    If this fails, look at: writes that reach the store one by one; a rollback that forgets the list.
    """
    expect_equal(store.answer, 1, f"answer at step {step}")


@case("S-ERR-01")
async def refusals_are_the_documents_own(store):
    """A refusal raises the class that the document names. If this fails, look at: a bare KeyError."""


def run_case(bound, harness, *, slow=1.0, reproducers=None):
    """A runner in miniature: what the real one does with a store, this one does with a number."""
    assert harness.directory.is_dir()
    assert list(harness.directory.iterdir()) == []
    (harness.directory / "used").touch()
    if harness.answer == "interrupt":
        raise KeyboardInterrupt
    if harness.answer == "quit":
        raise SystemExit(0)
    if harness.answer is None:
        return CaseResult(bound.id, bound.clauses, Outcome.NOT_EXERCISED, 0.0, "needs the seam clock", 0)
    try:
        asyncio.run(bound.start(store=harness))
    except ClauseBroken as broken:
        path = reproducers / f"{bound.id}.py"
        path.write_text("# replays\n")
        return CaseResult(bound.id, bound.clauses, Outcome.FAILED, 0.0, _told(bound, broken), 1, path.name)
    return CaseResult(bound.id, bound.clauses, Outcome.HELD, 0.0, "", 1)


def _told(bound, broken):
    return f"{bound.case.sentence}\n\n{broken}\n\nIf this fails, look at: {'; '.join(bound.case.look_at)}."


@pytest.fixture
def forkproof(tmp_path, monkeypatch, capsys):
    """Runs a command in a project that has stores of every kind; gives exit code, stdout and stderr."""
    (tmp_path / "shelf.py").write_text(STORES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(checking, "run_case", run_case)
    cases = all_variants([refusals_are_the_documents_own, half_a_commit_is_no_commit])
    monkeypatch.setattr(checking, "suite", lambda family: cases if family == "sessions" else ())
    monkeypatch.setattr(targets, "registered", dict)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(*arguments):
        try:
            code = main(arguments)
        except SystemExit as left:
            code = left.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield run
    sys.modules.pop("shelf", None)


def steady(text):
    """Without what differs from run to run: times and temporary places."""
    return re.sub(r"/\S*forkproof-reproducers-\w+", "PLACE", re.sub(r"\d+\.\d s$", "0.0 s", text, flags=re.MULTILINE))


def test_a_store_that_holds_what_is_asked(forkproof, snapshot):
    code, out, err = forkproof("check", "shelf:Good", "--only", "S-ERR", "--only", "S-TXN-02")
    assert (code, err) == (0, "")
    assert steady(out) == snapshot


def test_a_store_that_does_not(forkproof, snapshot):
    code, out, err = forkproof("check", "shelf:Bad", "--only", "S-TXN-02")
    assert (code, err) == (1, "")
    assert steady(out) == snapshot


def test_the_last_lines_are_one_per_target(forkproof):
    code, out, _ = forkproof("check", "shelf:Good", "shelf:Bad")
    last = out.splitlines()[-2:]
    assert code == 1
    assert re.fullmatch(
        r"good: CONFORMS  must 3/3  should 0/0  known 0  not exercised 204  not offered 0  failed 0"
        r"  \(planned 207 = accounted 207\)  \d+\.\d s",
        last[0],
    )
    assert last[1].startswith("bad: DOES NOT CONFORM  must 1/3")


def test_without_a_terminal_there_are_no_control_characters(forkproof):
    _, out, err = forkproof("check", "shelf:Bad")
    assert all(letter.isprintable() or letter == "\n" for letter in out + err)
    _, out, _ = forkproof("check", "shelf:Bad", "--color", "always")
    assert "\x1b[" in out


def test_reports_and_reproducers_go_to_the_directory(forkproof, tmp_path):
    code, out, _ = forkproof("check", "shelf:Good", "shelf:Bad", "--report", "out")
    assert code == 1
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    scripts = {f"reproducers/S-TXN-02-half-a-commit-is-no-commit-{step}.py" for step in ("first", "second")}
    assert written == {"report.json", "report.html", "summary.md", "badge.json", *scripts}
    report = read_report(tmp_path / "out" / "report.json")
    assert [(each["name"], each["verdict"]) for each in report["targets"]] == [
        ("good", "CONFORMS"),
        ("bad", "DOES NOT CONFORM"),
    ]
    assert report["targets"][1]["clauses"]["S-TXN-04"]["status"] == "fails"
    assert "reproducers: out/reproducers" in out


@pytest.mark.parametrize(
    ("only", "planned", "word"),
    [
        ("S-ERR-01", 1, "PARTIAL"),
        ("S-TXN", 17, "DOES NOT CONFORM"),
        ("S-TXN-02-half-a-commit-is-no-commit-f", 2, "DOES NOT"),
    ],
)
def test_a_selection(forkproof, only, planned, word):
    code, out, _ = forkproof("check", "shelf:Bad", "--only", only)
    assert out.splitlines()[-1].startswith(f"bad: {word}")
    assert f"(planned {planned} = accounted {planned})" in out
    assert code == (0 if word == "PARTIAL" else 1)


def test_a_ledger_excuses_what_is_known_and_is_strict(forkproof, tmp_path):
    code, out, err = forkproof("ledger", "shelf:Bad", "--owner", "kay")
    assert (code, err) == (0, "")
    (tmp_path / "forkproof.toml").write_text(out)
    code, out, _ = forkproof("check", "shelf:Bad")
    assert code == 0
    assert out.splitlines()[-1].startswith("bad: CONFORMS BUT FOR KNOWN FAILURES  must 1/3  should 0/0  known 2")
    (tmp_path / "forkproof.toml").write_text(
        out := (tmp_path / "forkproof.toml").read_text().replace('"bad"', '"good"')
    )
    code, out, _ = forkproof("check", "shelf:Good")
    assert code == 1
    assert out.count("passes: remove it") == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["check", "shelf:Missing"], "target shelf:Missing: cannot be imported: AttributeError"),
        (["check", "nowhere:Store"], "target nowhere:Store: cannot be imported: ModuleNotFoundError"),
        (["check", "shelf:"], "target 'shelf:' must be written package.module:Class"),
        (["check", "shelf:number"], "target shelf:number: is no harness class, but int"),
        (["check", "memroy"], "unknown target 'memroy': registered are none"),
        (["check", "shelf:Later"], "contract 2099.1 is newer than this kit's"),
        (["check", "shelf:Stranger"], "family 'dreams': unknown; known are"),
        (["check", "shelf:Good", "--only", "S-NIL"], "--only S-NIL: selects nothing: no clause or case begins so"),
        (["check", "shelf:Good", "--only", "S-JSONL"], "selects nothing: its clauses are not asked of good"),
        (["check", "shelf:Good", "--ledger", "none.toml"], "none.toml: cannot be read"),
        (["check", "shelf:Good", "--report", "shelf.py/out"], "--report shelf.py/out: cannot be written"),
        (["ledger", "shelf:Good", "--owner", " "], "--owner: must not be blank"),
        (["explain", "S-TXN-2"], "unknown clause 'S-TXN-2'; near it: S-TXN-"),
        (["check", "shelf:Good", "shelf:Good"], "target shelf:Good is named twice"),
        (["clauses", "--area", "S-NIL"], "--area S-NIL: no clause id begins so"),
    ],
)
def test_bad_input_is_one_line(forkproof, arguments, line):
    code, out, err = forkproof(*arguments)
    assert (code, out) == (2, "")
    assert line in err
    assert err.startswith("forkproof: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["prove"],
        ["check"],
        ["check", "x", "--slow", "0"],
        ["check", "x", "--slow", "nan"],
        ["check", "x", "--only", ""],
        ["clauses", "--area", " "],
        ["ledger", "x"],
    ],
    ids=" ".join,
)
def test_bad_usage_is_exit_code_2(forkproof, arguments):
    code, out, err = forkproof(*arguments)
    assert (code, out) == (2, "")
    assert "error: " in err.splitlines()[-1]


def test_the_version_names_the_contract(forkproof):
    code, out, _ = forkproof("--version")
    assert code == 0
    assert out == f"forkproof {version('forkproof')}, contract {CONTRACT}\n"


def test_a_mistyped_name_is_met_with_the_nearest(forkproof, monkeypatch):
    monkeypatch.setattr(targets, "registered", lambda: {"memory": None, "jsonl": None})
    _, _, err = forkproof("check", "memroy")
    assert "did you mean memory? registered are memory, jsonl; or name one as package.module:Class" in err


@pytest.mark.parametrize(
    ("store", "line"),
    [
        ("Unmade", "shelf:Unmade: target unreachable: the harness could not be made: OSError: no disk at all"),
        ("Closed", "closed: target unreachable: open_repo raised ConnectionError: refused"),
        ("Gone", "gone: target unreachable: open_repo raised SystemExit: 0"),
        ("Empty", "empty: target unreachable: open_repo returned NoneType: no create, open, list, delete, fork, close"),
    ],
)
def test_an_unreachable_target_is_exit_code_3(forkproof, store, line):
    code, out, err = forkproof("check", f"shelf:{store}")
    assert (code, err) == (3, f"forkproof: {line}\n")
    assert "NOTHING EXERCISED  must 0/0" in out.splitlines()[-1]
    code, out, err = forkproof("ledger", f"shelf:{store}", "--owner", "kay")
    assert (code, out, err) == (3, "", f"forkproof: {line}\n")


def test_a_target_module_that_exits_is_bad_input(forkproof, tmp_path):
    (tmp_path / "exiting_shelf.py").write_text("raise SystemExit(0)")
    line = "forkproof: target exiting_shelf:Good: cannot be imported: SystemExit: 0\n"
    assert forkproof("check", "exiting_shelf:Good") == (2, "", line)


def test_a_backend_that_exits_does_not_choose_the_exit_code(forkproof):
    line = "forkproof: the run was ended by what it ran: SystemExit: 0\n"
    assert forkproof("check", "shelf:Quitter")[::2] == (1, line)


def test_nothing_exercised_is_exit_code_3(forkproof):
    code, out, _ = forkproof("check", "shelf:Idle")
    assert code == 3
    assert out.splitlines()[-1].startswith("idle: NOTHING EXERCISED  must 0/0")


def test_red_goes_before_unreachable(forkproof):
    assert forkproof("check", "shelf:Closed", "shelf:Bad")[0] == 1
    assert forkproof("check", "shelf:Closed", "shelf:Good")[0] == 3


def test_a_red_case_that_loses_its_harness_is_a_kit_error(forkproof, tmp_path):
    text = "from shelf import Good\nmade = []\nclass Flaky(Good):\n    def __init__(self, directory):\n"
    text += (
        "        made.append(1)\n        if len(made) > 3: raise OSError('gone')\n        self.directory = directory\n"
    )
    (tmp_path / "flaky_shelf.py").write_text(text)
    code, out, _ = forkproof("check", "flaky_shelf:Flaky")
    assert code == 1
    assert out.splitlines()[-1].startswith("good: KIT ERROR")
    assert "the harness could not be made: OSError: gone" in out


def test_an_interrupt_ends_cleanly(forkproof):
    assert forkproof("check", "shelf:Interrupted")[::2] == (130, "forkproof: interrupted\n")


def test_a_run_leaves_nothing_but_reproducers(forkproof, tmp_path):
    for store in ("Good", "Closed", "Interrupted"):
        forkproof("check", f"shelf:{store}")
    forkproof("check", "shelf:Good", "--only", "S-NIL")
    forkproof("ledger", "shelf:Bad", "--owner", "kay")
    assert not list(tmp_path.glob("forkproof-*"))
    forkproof("check", "shelf:Bad")
    assert len(list(tmp_path.glob("forkproof-reproducers-*/*.py"))) == 2


def test_debug_shows_the_traceback(forkproof):
    code, _, err = forkproof("check", "shelf:Missing", "--debug")
    assert code == 2
    assert "Traceback (most recent call last)" in err
    assert err.splitlines()[-1].startswith("forkproof: target shelf:Missing")


def test_explain(forkproof, snapshot):
    code, out, _ = forkproof("explain", "S-TXN-02")
    assert code == 0
    assert out == snapshot


def test_clauses_of_an_area(forkproof, snapshot):
    assert forkproof("clauses", "--area", "S-ERR")[:2] == (0, snapshot)
    assert forkproof("clauses", "--area", "S-ERR", "--format", "md")[:2] == (0, snapshot)


def test_clauses_as_json(forkproof):
    code, out, _ = forkproof("clauses", "--format", "json")
    clauses = json.loads(out)["clauses"]
    assert code == 0
    assert len(clauses) >= 356
    assert next(each for each in clauses if each["id"] == "S-TXN-04")["cases"] == [
        "S-TXN-02-half-a-commit-is-no-commit-first",
        "S-TXN-02-half-a-commit-is-no-commit-second",
    ]


def test_missing_clauses_come_with_a_reason(forkproof):
    _, out, _ = forkproof("clauses", "--missing", "--area", "S-JSONL", "--format", "json")
    clauses = json.loads(out)["clauses"]
    assert clauses
    assert all(each["reason"] and not each["cases"] for each in clauses)
    _, out, _ = forkproof("clauses", "--missing", "--area", "S-TXN", "--format", "json")
    assert not {"S-TXN-02", "S-TXN-04"} & {each["id"] for each in json.loads(out)["clauses"]}


def test_help_and_names_cost_nothing_heavy():
    """Importing the package, the entry module's neighbour, must not pull in tables, suites or msgspec."""
    script = textwrap.dedent(
        """
        import sys, forkproof, forkproof.cli
        heavy = {"rich", "msgspec", "pytest", "hypothesis", "forkproof.runner", "forkproof.harness", "forkstore"}
        print(sorted(heavy & set(sys.modules)), forkproof.Target.__name__, "judge" in dir(forkproof))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"}
    )
    assert done.stdout == "[] Target True\n"
