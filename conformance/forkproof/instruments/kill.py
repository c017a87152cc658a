"""Death of the process: plays a scenario in a child that dies at a chosen point, and tells what was acknowledged.

The child works on the same store directory as the case, through a harness that it makes anew. It says each step that
its store acknowledged before it goes on, so that the case can hold a fresh repository to all of them (S-TXN-15).
"""

from __future__ import annotations

import json
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from forkproof.expect import ClauseBroken, expect
from forkproof.harness import HarnessError
from forkproof.instruments.child_process import Ended, run_child
from forkproof.instruments.fault_kinds import KILLED, Hit, When
from forkproof.instruments.kill_child import KillStage
from forkproof.reproducer import import_folder

CEILING_SECONDS = 30.0
"""How long one child may take: a net, as the runner's ceiling is for a case."""
CODE = "from forkproof.instruments.kill_child import main; main()"


@dataclass(frozen=True)
class Point:
    """Where the process dies: at a file or database operation (by itself), at an acknowledgement (killed from outside),
    or nowhere.

    `names`, `paths` and `sparse` say which operations are counted, as for `Faults.arm`; names of both worlds may stand
    side by side. A store that works on both dies in the one that comes to the number first.
    """

    operation: int = 0
    when: When = "before"
    names: tuple[str, ...] | None = None
    paths: str = "*"
    acknowledgement: int = 0
    sparse: bool = False

    @property
    def name(self) -> str:
        """`before-3`, `acknowledgement-2` or `whole`: no two points of a case's sweeps share it."""
        if self.acknowledgement:
            return f"acknowledgement-{self.acknowledgement}"
        return f"{self.when}-{self.operation}" if self.operation else "whole"


@dataclass(frozen=True)
class Play:
    """A scenario (see `KillStage`) on the harness's store, with arguments that JSON can carry.

    >>> play = Play(store.harness, names_follow_each_other)
    """

    harness: Any
    scenario: Callable[[KillStage], Awaitable[object]]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    ceiling: float = CEILING_SECONDS
    """Seconds for one child."""


@dataclass(frozen=True)
class Killed:
    """What came of one child."""

    point: Point
    acknowledged: tuple[Any, ...] = ()
    """The steps that it reported, in their order."""
    hit: Hit | None = None
    """The operation at which it died."""
    operations: int | None = None
    """How many operations were counted in all, when it came to its end."""

    @property
    def name(self) -> str:
        """The name of the run, `KillStage.name` in the child."""
        return self.point.name

    @property
    def ended(self) -> bool:
        """The scenario ended before the point was reached."""
        return self.operations is not None

    def __str__(self) -> str:
        moment = "in the middle of" if self.point.when == "middle" else self.point.when
        at = f" {moment} {self.hit}" if self.hit else ""
        return f"a process {'ended' if self.ended else 'killed'}{at} after {len(self.acknowledged)} acknowledged steps"


async def killed(play: Play, point: Point) -> Killed:
    """Plays the scenario in a child that dies at the point.

    Raises ClauseBroken when the child dies by itself, raises, or takes longer than the ceiling, and HarnessError when
    its harness cannot be made there.

    >>> run = await killed(Play(store.harness, names_follow_each_other), Point(acknowledgement=2))
    >>> run.acknowledged
    ('pond', 'meadow')
    """
    heard = _Heard()
    orders = {
        **asdict(point),
        "name": point.name,
        "arguments": dict(play.arguments),
        "harness": harness_target(play.harness),
        "directory": _directory(play.harness),
        "scenario": _target(play.scenario),
    }
    folders = [folder for found in (type(play.harness), play.scenario) if (folder := import_folder(found))]
    try:
        ended = await run_child(CODE, orders, heard.line, folders=folders, ceiling=play.ceiling)
    except TimeoutError as error:
        raise ClauseBroken(
            f"expected: the scenario ends within {play.ceiling:g} s\n"
            f"seen:     it still runs, after {len(heard.acknowledged)} acknowledged steps"
        ) from error
    return heard.outcome(point, ended)


class _Heard:
    """The lines of one child."""

    def __init__(self) -> None:
        self.acknowledged: list[Any] = []
        self.hit: Hit | None = None
        self.operations: int | None = None
        self.exit_code: int | None = None
        """The exit code that belongs to what was said last."""
        self.error: Exception | None = None

    def line(self, text: bytes) -> bool:
        """Takes one line; True when the child now waits to be killed."""
        word, value = json.loads(text)
        if word == "acknowledged":
            self.acknowledged.append(value)
        elif word == "held":
            self.exit_code = -signal.SIGKILL
        elif word == "hit":
            self.hit, self.exit_code = Hit(**value), KILLED
        elif word == "ended":
            self.operations, self.exit_code = value, 0
        elif word == "harness":
            self.error = HarnessError(value)
        else:
            self.error = ClauseBroken(value)
        return bool(word == "held")

    def outcome(self, point: Point, ended: Ended) -> Killed:
        """What the child came to. Raises the error that it told, and ClauseBroken when it is gone without a word."""
        if self.error is not None:
            raise self.error
        run = Killed(point, tuple(self.acknowledged), self.hit, self.operations)
        expect(
            ended.exit_code == self.exit_code,
            f"expected: a process that ends, or dies where it is killed ({point.name})\n"
            f"seen:     exit code {ended.exit_code} after {len(self.acknowledged)} acknowledged steps\n{ended.output}",
        )
        return run


def harness_target(harness: object) -> str:
    """The name under which another process makes such a harness from a directory: its attribute `target`, or its class.

    Raises HarnessError for a class that no other process can import.
    """
    return getattr(harness, "target", None) or _target(type(harness))


def _directory(harness: object) -> str:
    found = getattr(harness, "directory", None)
    if found is None:
        raise HarnessError(f"{type(harness).__name__} has no `directory`: another process cannot open the same store")
    return str(found)


def _target(named: Any) -> str:
    text = f"{named.__module__}:{named.__qualname__}"
    if "<locals>" in text or named.__module__ == "__main__":
        raise HarnessError(f"{text} cannot be found by another process: define it at the top level of a module")
    return text
