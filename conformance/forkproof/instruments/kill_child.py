"""The process that is killed: makes the harness anew, opens its repository, plays a scenario, and reports line by line.

Started by `forkproof.instruments.kill`, with its orders as JSON on standard input. Reports leave through a pipe of
their own, so that a store may print what it likes; one line is one JSON array of a word and a value.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NoReturn

from forkproof.difference import bounded
from forkproof.expect import ClauseBroken
from forkproof.harness import HarnessError, Seams, fact, works_on_a_database
from forkproof.instruments.arming import Faults
from forkproof.instruments.fault_kinds import Hit, Kill
from forkproof.instruments.file_faults import FileFaults
from forkproof.targets import find_target
from forkproof.verdict import TargetError
from forkstore.contract.store import SessionRepo

ORPHANED = 87
"""Exit code of a child whose parent is gone."""
NEVER = sys.maxsize
FRAMES_SHOWN = 4


@dataclass(frozen=True)
class Report:
    """The child's end of the pipe."""

    descriptor: int

    def say(self, word: str, value: object) -> None:
        """Writes one line, all of it, before it returns."""
        rest = json.dumps([word, value]).encode() + b"\n"
        while rest:
            rest = rest[os.write(self.descriptor, rest) :]


class KillStage:
    """What a scenario gets: the repository it works on, and the way to say how far it came.

    A scenario is an async function at the top level of a module. It reports each step that the store acknowledged
    before it begins the next.

    >>> async def names_follow_each_other(stage: KillStage) -> None:
    ...     session = await stage.repo.create(id=stage.name, **stage.create_options)
    ...     for name in ("pond", "meadow", "hill"):
    ...         await session.set_name(name)
    ...         stage.acknowledged(name)
    """

    def __init__(self, orders: Mapping[str, Any], harness: Any, report: Report) -> None:
        self.harness = harness
        self.repo: SessionRepo
        self.report = report
        self.name: str = orders["name"]
        """Names the run, `before-3` for example: for the ids of sessions, which the runs of a sweep may not share."""
        self.arguments: Mapping[str, Any] = orders["arguments"]
        """What the case passed on."""
        self._stop_at: int = orders["acknowledgement"]
        self._steps = 0

    @property
    def create_options(self) -> dict[str, Any]:
        """What `repo.create` needs on this store besides the id."""
        cwd = fact(self.harness, "cwd")
        return {} if cwd is None else {"cwd": cwd}

    def acknowledged(self, step: object) -> None:
        """Reports a step (a JSON value) that the store has acknowledged. It is on its way when this returns; where the
        run ends at this step, it never returns.
        """
        self._steps += 1
        self.report.say("acknowledged", step)
        if self._steps == self._stop_at:
            self.report.say("held", self._steps)
            _hold()


def _hold() -> NoReturn:
    """Stands still, the event loop and all, until the parent kills."""
    while True:
        signal.pause()


def _leave_with_parent(descriptor: int) -> None:
    """Ends this process when the parent's end of a pipe is closed, by whatever closed it."""
    os.read(descriptor, 1)
    os._exit(ORPHANED)


def _seams(orders: Mapping[str, Any], harness: object, report: Report) -> tuple[Seams, list[Faults]]:
    """What the repository is opened with, and the armed faults in it."""
    files = FileFaults()
    faults: list[Faults] = [files]
    seams = Seams(files=files.wrap)
    if works_on_a_database(harness):
        # Imported where it is needed: every run of a sweep starts a process.
        from forkproof.instruments.sql_faults import SqlFaults

        sql = SqlFaults()
        faults.append(sql)
        seams = replace(seams, connect=sql.wrap)
    for one in faults:
        _arm(one, orders, report)
    return seams, faults


def _arm(faults: Faults, orders: Mapping[str, Any], report: Report) -> None:
    def last_words(hit: Hit) -> None:
        said = {"number": hit.number, "name": hit.name, "path": hit.path, "target": hit.target, "world": hit.world}
        report.say("hit", said)

    wanted = orders["names"]
    names = faults.operations if wanted is None else faults.operations & frozenset(wanted)
    if names:
        faults.arm(
            Kill(last_words, when=orders["when"]),
            at=orders["operation"] or NEVER,
            names=names,
            paths=orders["paths"],
            sparse=orders["sparse"],
        )


async def _play(orders: Mapping[str, Any], report: Report) -> None:
    scenario = resolve_name(orders["scenario"])
    harness: Any = find_target(orders["harness"]).make(Path(orders["directory"]))
    seams, faults = _seams(orders, harness, report)
    stage = KillStage(orders, harness, report)
    stage.repo = await harness.open_repo(seams)
    await scenario(stage)
    report.say("ended", sum(one.count for one in faults))


def main() -> NoReturn:
    """Plays the scenario of the orders, and leaves without Python's farewells: nothing is tidied up behind a store."""
    orders = json.load(sys.stdin)
    report = Report(orders["report"])
    for descriptor in (orders["report"], orders["parent"]):
        os.set_inheritable(descriptor, False)
    threading.Thread(target=_leave_with_parent, args=(orders["parent"],), daemon=True).start()
    try:
        asyncio.run(_play(orders, report))
    except ClauseBroken as error:
        report.say("broken", str(error))
    except (HarnessError, TargetError) as error:
        report.say("harness", str(error))
    except BaseException as error:  # noqa: BLE001 - the parent is told, whatever it was
        seen = f"unexpected {type(error).__name__}: {bounded(str(error), quoted=False)}"
        frames = "".join(traceback.format_tb(error.__traceback__)[-FRAMES_SHOWN:])
        report.say("broken", f"expected: the scenario ends, or is killed\nseen:     {seen}\n{frames}".rstrip())
    os._exit(0)
