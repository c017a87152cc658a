"""The plug-in in other people's projects: quiet until used, and a verdict that cannot be misread when it is."""

import json
import subprocess
import sys

import pytest

from forkproof.runner import needed_seams
from forkproof.suites.sessions import cases

pytest_plugins = ["pytester"]

CONTRACT = "from forkproof.sessions import test_session_contract  # noqa: F401\n"
SELECTED = "S-LIST-05 or S-LIST-06-a-"
"""A handful of cases; the whole contract is asked by `forkproof check` in its own test."""
STRICT = """
[pytest]
addopts = --strict-markers --strict-config
filterwarnings = error
xfail_strict = true
asyncio_default_fixture_loop_scope = function
"""
HARNESS = """
import pytest
from forkproof import SessionHarness
from forkstore import MemorySessionRepo

class Harness(SessionHarness):
    name = "mystore"
    kinds = {"memory"}
    async def open_repo(self, seams):
        return MemorySessionRepo(now=seams.clock)

@pytest.fixture
def session_harness(tmp_path):
    return Harness(tmp_path)
"""
LIAR = """
import forkproof.harness
from forkstore import MemorySessionRepo
from forkstore.memory.storage import MemoryStorage
import pytest

honest = MemoryStorage.read_list
left = []

async def read_list(self, address, **query):
    return (await honest(self, address, **query))[::-1]

class Remembering(MemorySessionRepo):
    async def close(self):
        left.extend(metadata.id for metadata in await self.list())
        await super().close()

class Harness(forkproof.harness.SessionHarness):
    name = "liar"
    async def open_repo(self, seams):
        return Remembering(now=seams.clock)

@pytest.fixture
def session_harness(tmp_path, monkeypatch):
    monkeypatch.setattr(MemoryStorage, "read_list", read_list)
    return Harness(tmp_path)

def pytest_unconfigure(config):
    print("sessions left behind:", left)
"""


@pytest.fixture
def project(pytester, monkeypatch, tmp_path_factory):
    """A project with the contract's one-line test; `run` gives pytest's result in a process of its own."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    # pytest compiles a plug-in anew where it may not write beside it: once for all of these projects is enough.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.getbasetemp() / "pycache"))
    pytester.makefile(".ini", pytest=STRICT)
    pytester.makefile(
        ".ini", **{"without-asyncio": STRICT.replace("asyncio_default_fixture_loop_scope = function", "")}
    )
    pytester.makeconftest(HARNESS)
    pytester.makepyfile(test_contract=CONTRACT)
    pytester.run_contract = lambda *options: pytester.runpytest_subprocess("-k", SELECTED, *options)
    return pytester


def verdicts(result, name="mystore"):
    return [line for line in result.outlines if line.startswith(f"{name}: ")]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-p", "no:asyncio", "-c", "without-asyncio.ini"],
        ["--asyncio-mode=strict"],
        ["--asyncio-mode=auto"],
        ["-p", "no:randomly"],
        ["-p", "randomly", "-p", "no:cacheprovider"],
        ["-n", "2"],
    ],
    ids=["strict", "no-asyncio", "asyncio-strict", "asyncio-auto", "fixed-order", "no-cache", "xdist"],
)
def test_the_contract_runs_in_every_kind_of_project(project, options):
    result = project.run_contract(*options)
    (verdict,) = verdicts(result)
    assert verdict.startswith("mystore: PARTIAL  must 2/2")
    assert "(planned 2 = accounted 2)" in verdict
    assert result.ret == 0


def test_async_tests_of_the_project_are_left_alone(project):
    project.makepyfile(
        test_own="""
        import pytest

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.mark.anyio
        async def test_anyio():
            pass

        @pytest.mark.asyncio
        async def test_asyncio():
            pass
        """
    )
    result = project.runpytest_subprocess("-k", f"{SELECTED} or test_own")
    assert result.ret == 0
    assert len(verdicts(result)) == 1


def test_fixtures_of_the_project_may_have_our_arguments_names(project):
    project.makeconftest(
        HARNESS
        + """
@pytest.fixture(autouse=True)
def store():
    return "of the project"

@pytest.fixture
def session(store):
    return store

@pytest.fixture
def subject():
    raise RuntimeError("never asked for")
"""
    )
    project.makepyfile(test_own="def test_own(session):\n    assert session == 'of the project'\n")
    assert project.runpytest_subprocess("-k", f"{SELECTED} or test_own").ret == 0


def test_ids_do_not_depend_on_the_hash_seed(project, monkeypatch):
    collected = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        result = project.runpytest_subprocess("--collect-only", "-q", "-p", "no:randomly")
        collected.append([line for line in result.outlines if "::" in line])
    assert collected[0] == collected[1]
    assert collected[0] == [f"test_contract.py::test_session_contract[{bound.id}]" for bound in cases()]


def test_reports_are_written_once_under_xdist(project):
    result = project.run_contract("-n", "2", "--forkproof-report", "out/report", "--junitxml", "out/junit.xml")
    assert result.ret == 0
    folder = project.path / "out" / "report"
    assert {"report.json", "report.html", "summary.md", "badge.json"} <= {path.name for path in folder.iterdir()}
    (target,) = json.loads((folder / "report.json").read_text())["targets"]
    assert (target["name"], target["clauses"]["S-LIST-05"]["status"]) == ("mystore", "holds")
    assert len(target["clauses"]["S-LIST-05"]["cases"]) == 10


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_liar_is_red_and_leaves_no_session_behind(project, options):
    project.makeconftest(LIAR)
    result = project.run_contract(*options)
    (verdict,) = verdicts(result, "liar")
    assert verdict.startswith("liar: DOES NOT CONFORM  must 0/2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*If this fails, look at: *", "*reproducer: *S-LIST-0*.py", "S-LIST-05  FAILS: all pages*"]
    )
    assert "sessions left behind: []" in result.outlines


def test_a_known_failure_is_expected_and_strict(project):
    project.makeconftest(LIAR)
    entry = '[[known-failures]]\nclause="{}"\nkind="bug"\nreason="cut off"\nowner="us"\nexpires=2999-01-01\n'
    ledger = project.path / "known.toml"
    ledger.write_text(entry.format("S-LIST-05") + entry.format("S-LIST-06"))
    result = project.run_contract("--forkproof-ledger", str(ledger))
    assert result.ret == 0
    assert "known 2" in verdicts(result, "liar")[0]
    assert result.parseoutcomes()["xfailed"] >= 10
    project.makeconftest(HARNESS)
    result = project.run_contract("--forkproof-ledger", str(ledger))
    assert result.ret == 1
    result.stdout.fnmatch_lines(["ledger: *S-LIST-05: passes: remove it"])


def test_a_malformed_ledger_is_one_line(project):
    (project.path / "forkproof.toml").write_text("[[known-failures]]\nclause = 5\n")
    result = project.run_contract()
    assert result.ret == 4
    assert [line for line in result.errlines if "forkproof.toml" in line]
    assert not any("Traceback" in line for line in result.outlines + result.errlines)


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_missing_fixture_is_one_line(project, options):
    (project.path / "conftest.py").unlink()
    result = project.run_contract(*options)
    assert result.ret == 4
    assert len([line for line in result.outlines + result.errlines if "session_harness" in line]) == 1


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize(
    ("conftest", "line"),
    [
        (HARNESS.replace("return MemorySessionRepo(now=seams.clock)", "raise OSError('no disk')"), "*OSError: no disk"),
        (
            HARNESS.replace("return Harness(tmp_path)", "raise OSError('no disk')"),
            "*the fixture session_harness failed",
        ),
    ],
    ids=["open-repo", "fixture"],
)
def test_a_harness_that_raises_fails_once(project, conftest, line, options):
    project.makeconftest(conftest)
    result = project.run_contract(*options)
    assert result.ret == 1
    told = result.parseoutcomes()
    assert told.get("failed", 0) + told.get("errors", 0) <= (2 if options else 1)
    result.stdout.fnmatch_lines([f"no verdict: harness: {line}"])


def test_a_harness_with_a_wrong_fact_is_one_line_and_no_chain(project):
    project.makeconftest(HARNESS.replace('kinds = {"memory"}', 'seams = {"clok"}'))
    result = project.run_contract()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["no verdict: harness: mystore: seams: unknown clok; *"])
    assert not any("During handling" in line or "every case was skipped" in line for line in result.outlines)


def test_a_run_in_which_every_case_is_skipped_is_red(project):
    (bound, *_) = (bound for bound in cases() if needed_seams(bound))
    result = project.runpytest_subprocess("-k", bound.id.partition("[")[0], "-rs")
    assert result.ret == 1
    (verdict,) = verdicts(result)
    assert verdict.startswith("mystore: NOTHING EXERCISED")
    result.stdout.fnmatch_lines(
        ["every case was skipped: nothing was asked of the backend", "*not offered by the harness*"]
    )


def test_a_fixture_that_skips_everything_is_red(project):
    project.makeconftest(HARNESS.replace("return Harness(tmp_path)", "pytest.skip('not today')"))
    result = project.run_contract()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["no verdict: every case was skipped: nothing was asked of the backend"])


def test_a_selection_of_nothing_is_red(project):
    result = project.runpytest_subprocess("-k", "no_such_clause")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_run_that_stops_early_is_judged_by_what_it_asked(project):
    project.makeconftest(LIAR)
    result = project.run_contract("-x", "-p", "no:randomly")
    (verdict,) = verdicts(result, "liar")
    assert "DOES NOT CONFORM" in verdict
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)


def test_a_parametrized_harness_gets_a_verdict_for_each(project):
    project.makeconftest(
        HARNESS.replace("@pytest.fixture", "@pytest.fixture(params=['one', 'two'])")
        .replace("def session_harness(tmp_path)", "def session_harness(tmp_path, request)")
        .replace(
            "return Harness(tmp_path)", "harness = Harness(tmp_path); harness.name = request.param; return harness"
        )
    )
    result = project.run_contract()
    assert result.ret == 0
    assert [len(verdicts(result, name)) for name in ("one", "two")] == [1, 1]


def test_nonsense_options_are_refused(project):
    result = project.run_contract("--forkproof-slow", "0")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--forkproof-slow*"])


def test_the_entry_module_imports_pytest_and_the_standard_library_only():
    script = (
        "import sys, pytest\nbefore = set(sys.modules)\nimport forkproof.plugin\n"
        "new = set(sys.modules) - before\n"
        "print(sorted(name for name in new if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    seen = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert seen.strip() == "['forkproof', 'forkproof.plugin']"


def test_a_project_that_does_not_use_the_contract_loads_nothing_of_it(project):
    project.makeconftest(
        """
        import sys

        def pytest_unconfigure(config):
            heavy = ("forkproof", "forkstore", "hypothesis", "rich", "msgspec", "apsw")
            print("loaded:", sorted(name for name in sys.modules if name.partition(".")[0] in heavy))
        """
    )
    (project.path / "test_contract.py").unlink()
    project.makepyfile(test_own="def test_own():\n    pass\n")
    result = project.runpytest_subprocess("-p", "no:hypothesispytest")
    assert result.ret == 0
    (loaded,) = (line for line in result.outlines if line.startswith("loaded:"))
    names = {
        name for name in eval(loaded.removeprefix("loaded:")) if not name.startswith(("hypothesis", "_hypothesis"))
    }
    assert names == {"forkproof", "forkproof.plugin"}
    assert not any("forkproof" in line for line in result.outlines if not line.startswith(("loaded:", "plugins:")))


def test_coverage_of_the_project_is_the_same_with_and_without(project):
    (project.path / "test_contract.py").unlink()
    project.makepyfile(mystore="LIMIT = 5\n\ndef used():\n    return LIMIT\n\ndef unused():\n    return 0\n")
    project.makepyfile(test_own="import mystore\n\ndef test_own():\n    assert mystore.used() == 5\n")
    project.makeconftest("")
    seen = []
    for number, options in enumerate(([], ["-p", "no:forkproof"])):
        name = f"coverage-{number}.json"
        result = project.runpytest_subprocess("--cov=mystore", f"--cov-report=json:{name}", *options)
        assert result.ret == 0
        seen.append(json.loads((project.path / name).read_text())["files"]["mystore.py"]["executed_lines"])
    assert seen == [[1, 3, 4, 6]] * 2
