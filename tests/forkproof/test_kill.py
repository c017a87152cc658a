"""A child dies where it is told to, all that it acknowledged before is known, and nothing of it stays behind."""

import asyncio
import os
from dataclasses import asdict

import pytest

from forkproof.expect import ClauseBroken
from forkproof.harness import HarnessError
from forkproof.instruments.child_process import run_child
from forkproof.instruments.kill import CODE, Play, Point, killed
from forkproof.instruments.kill_child import ORPHANED
from tests.forkproof import kill_stores
from tests.forkproof.kill_stores import LINES, stored

LAST = len(LINES)


def run(harness, point, scenario=kill_stores.four_lines, **options):
    return asyncio.run(killed(Play(harness, scenario, **options), point))


@pytest.fixture
def harness(tmp_path):
    return kill_stores.LineHarness(tmp_path)


class TestOneChild:
    """Where it dies, what it says, how that is told."""

    @pytest.mark.parametrize(
        ("point", "told", "kept"),
        [
            (Point(operation=1), 0, 0),
            (Point(operation=3), 2, 2),
            (Point(operation=3, when="middle"), 2, 2),
            (Point(operation=3, when="after"), 2, 3),
            (Point(operation=2, names=("append_file",)), 1, 1),
            (Point(acknowledgement=1), 1, 1),
            (Point(acknowledgement=4), 4, 4),
        ],
        ids=lambda value: getattr(value, "name", None),
    )
    def test_it_dies_there_and_not_elsewhere(self, harness, tmp_path, point, told, kept):
        seen = run(harness, point)
        assert (seen.acknowledged, seen.ended, seen.name) == (LINES[:told], False, point.name)
        assert asyncio.run(stored(harness, seen.name)) == list(LINES[:kept])
        if point.operation:
            path = str(tmp_path / f"{point.name}.lines")
            assert (seen.hit.number, seen.hit.name, seen.hit.path) == (point.operation, "append_file", path)
            moment = "in the middle of" if point.when == "middle" else point.when
            assert str(seen) == f"a process killed {moment} {seen.hit} after {told} acknowledged steps"
        else:
            assert (seen.hit, str(seen)) == (None, f"a process killed after {told} acknowledged steps")

    def test_death_in_the_middle_leaves_a_part(self, harness, tmp_path):
        run(harness, Point(operation=2, when="middle"))
        assert (tmp_path / "middle-2.lines").read_bytes() == b"tulip\nro"

    @pytest.mark.parametrize(
        "point",
        [Point(), Point(operation=5), Point(acknowledgement=5), Point(operation=1, paths="*/other.lines")],
        ids=lambda point: f"{point.name}-{point.paths}",
    )
    def test_a_scenario_that_meets_no_death_ends(self, harness, point):
        seen = run(harness, point)
        assert (seen.ended, seen.acknowledged, seen.hit) == (True, LINES, None)
        assert seen.operations == (0 if "other" in point.paths else LAST)
        assert str(seen) == "a process ended after 4 acknowledged steps"

    def test_steps_are_any_json_and_arguments_arrive(self, harness):
        lines = ["", "\u2028 ü", "x" * 200_000]
        seen = run(harness, Point(), kill_stores.lines_of_the_case, arguments={"lines": lines})
        assert [step["line"] for step in seen.acknowledged] == lines
        assert seen.acknowledged[1]["lengths"] == [3, None, True]

    def test_tasks_of_one_child_die_together(self, harness):
        seen = run(harness, Point(acknowledgement=3), kill_stores.two_at_once)
        assert list(seen.acknowledged) == [["a", "tulip"], ["b", "tulip"], ["a", "rose"]]
        assert asyncio.run(stored(harness, f"{seen.name}-b")) == ["tulip", "rose"]

    def test_a_store_without_the_seam_dies_at_acknowledgements(self, tmp_path):
        seamless = kill_stores.SeamlessHarness(tmp_path)
        assert run(seamless, Point(acknowledgement=2)).acknowledged == LINES[:2]
        assert run(seamless, Point()).operations == 0

    def test_a_harness_may_name_what_makes_it(self, tmp_path):
        (tmp_path / "below").mkdir()
        configured = kill_stores.configured(tmp_path)
        assert run(configured, Point(acknowledgement=2)).acknowledged == LINES[:2]
        assert asyncio.run(stored(configured, "acknowledgement-2")) == list(LINES[:2])


class TestTrouble:
    """A child that does something else than die where it should."""

    def broken(self, harness, scenario, point=None, **options):
        with pytest.raises(ClauseBroken) as refusal:
            run(harness, point or Point(), scenario, **options)
        return str(refusal.value)

    def test_an_error_of_the_scenario_is_told(self, harness):
        said = self.broken(harness, kill_stores.raises)
        assert said.startswith("expected: the scenario ends, or is killed\nseen:     unexpected LookupError: no such")
        assert "in raises" in said

    def test_a_broken_clause_is_told_as_it_is(self, harness):
        assert self.broken(harness, kill_stores.breaks) == "expected: a rose\nseen:     whole"

    def test_a_death_of_its_own_is_told(self, harness):
        said = self.broken(harness, kill_stores.leaves_by_itself)
        assert "exit code 3 after 1 acknowledged steps\nout of petals" in said

    def test_half_a_line_was_not_said(self, harness):
        said = self.broken(harness, kill_stores.dies_in_the_middle_of_a_line)
        assert "exit code -9 after 2 acknowledged steps" in said

    def test_a_child_that_stays_is_killed(self, harness):
        said = self.broken(harness, kill_stores.never_ends, ceiling=1.5)
        assert said.startswith("expected: the scenario ends within 1.5 s\n")

    def test_a_harness_that_opens_nothing(self, tmp_path):
        with pytest.raises(HarnessError, match="the disk is elsewhere"):
            run(kill_stores.BrokenHarness(tmp_path), Point())

    def test_a_harness_that_nobody_else_can_make(self, tmp_path):
        class Local(kill_stores.LineHarness):
            """Known in here only."""

        with pytest.raises(HarnessError, match="cannot be found by another process"):
            run(Local(tmp_path), Point())

    def test_a_harness_without_a_directory(self, harness):
        del harness.directory
        with pytest.raises(HarnessError, match="LineHarness has no `directory`"):
            run(harness, Point())

    def test_a_scenario_that_nobody_else_can_find(self, harness):
        async def local(stage):
            """Known in here only."""

        with pytest.raises(HarnessError, match="cannot be found by another process"):
            run(harness, Point(), local)


class TestNothingStays:
    """No child outlives the call that started it, nor the process."""

    def test_a_cancelled_call_takes_its_child_along(self):
        async def watch():
            told = asyncio.Event()
            pids = []

            def hear(line):
                pids.append(int(line))
                told.set()
                return False

            code = "import json, os, signal, sys\n"
            code += "os.write(json.load(sys.stdin)['report'], b'%d\\n' % os.getpid())\nsignal.pause()"
            call = asyncio.ensure_future(run_child(code, {}, hear, folders=(), ceiling=60))
            await told.wait()
            os.kill(pids[0], 0)
            call.cancel()
            await asyncio.wait([call])
            return call.cancelled(), pids[0]

        cancelled, pid = asyncio.run(watch())
        assert cancelled
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    def test_a_child_leaves_when_its_parent_is_gone(self, harness):
        """Its parent closes its end of the pipe at once, as if it had died, and then tells how the child left."""
        orders = {
            **asdict(Point()),
            "name": "whole",
            "arguments": {},
            "directory": str(harness.directory),
            "harness": "tests.forkproof.kill_stores:LineHarness",
            "scenario": "tests.forkproof.kill_stores:never_ends",
        }
        middle = (
            "import json, os, subprocess, sys\n"
            "orders = json.load(sys.stdin)\n"
            "parent, ours = os.pipe()\n"
            "told = json.dumps({**orders, 'parent': parent})\n"
            "passed = (orders['report'], parent)\n"
            f"command = [sys.executable, '-c', {CODE!r}]\n"
            "child = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=passed, text=True)\n"
            "child.stdin.write(told)\n"
            "child.stdin.close()\n"
            "os.close(ours)\n"
            "os._exit(child.wait())\n"
        )
        ended = asyncio.run(run_child(middle, orders, lambda line: False, folders=(), ceiling=60))
        assert (ended.exit_code, ended.output) == (ORPHANED, "")

    def test_what_a_child_prints_is_kept_and_bounded(self):
        ended = asyncio.run(run_child("print('petal ' * 100_000)", {}, bool, folders=(), ceiling=60))
        assert (ended.exit_code, ended.output) == (0, ("petal " * 100_000)[-1999:].strip())
