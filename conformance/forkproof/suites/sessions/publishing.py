"""The atomic publisher as its file calls show it: how a destination comes about (section 24)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect, expect_equal
from forkproof.instruments.fault_kinds import Hit
from forkproof.instruments.fault_scenes import Watched
from forkproof.instruments.watched_files import FileCall
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import Attempt
from forkproof.suites.sessions.file_attempts import PUBLISHED, REPLACING

Make = Callable[[], Attempt]
PUBLISHING = {name: (make, "rename_file" if name in REPLACING else "publish_file") for name, make in PUBLISHED.items()}
"""Each call that publishes, and the file call by which it does."""


async def _published(store: SessionMaker, publishing: tuple[Make, str]) -> tuple[Attempt, list[FileCall], FileCall]:
    """Makes the call under the spy. Gives its file calls, and the one that puts the destination in its place; breaks
    the clause unless that is the only change of the destination.
    """
    make, name = publishing
    attempt = await make().arrange(store)
    await attempt.ready()
    store.files.forget()
    await attempt.call()
    calls, changes = list(store.files.calls), store.files.changes(attempt.destination)
    expect_equal([str(call) for call in changes if call.name != name], [], of="changes of the destination by others")
    expect_equal([call.name for call in changes], [name], of="the calls that change the destination")
    return attempt, calls, changes[0]


@case("S-JSONL-PUB-01", "S-JSONL-PUB-02", needs=("spy-files", "raw-files"))
@rows("publishing", PUBLISHING)
async def only_the_publisher_writes_a_destination(store: SessionMaker, publishing: Any) -> None:
    """Create, repair, upgrade and fork write a temporary file in the directory of the destination, named like it with
    `.`, 16 hexadecimal digits and `.tmp` added, and put it in its place by one call: `publish_file` for a new session,
    `rename_file` where a file is replaced. The destination itself is never written, cut or removed.

    If this fails, look at: a header that is written in its place and a rest that is appended; a repair by truncation;
    a temporary file in another directory or with a name that another may use; the first records of a fork, committed
    after it was published.
    """
    attempt, _, placing = await _published(store, publishing)
    path, temporary = attempt.destination, Path(placing.path)
    expect_equal(temporary.parent.resolve(), path.parent.resolve(), of="the directory of the temporary file")
    fits = re.fullmatch(rf"{re.escape(path.name)}\.[0-9a-f]{{16}}\.tmp", temporary.name)
    expect(fits, f"expected: {path.name}, 16 hexadecimal digits and .tmp\nseen:     {temporary.name}")
    done = [call.name for call in store.files.changes(placing.path)]
    others = [name for name in done if name not in ("write_file", "append_file", placing.name)]
    expect_equal(others, [], of="what else was done to the temporary file")
    expect_equal([path.name for path in store.root.rglob("*.tmp")], [], of="the temporary files that are left")
    await attempt.accept("what was published")


@case("S-JSONL-PUB-02", needs=("fault-injection", "raw-files"))
@rows("make", PUBLISHED)
async def a_destination_appears_at_once(store: SessionMaker, make: Make) -> None:
    """Before and behind every file call up to the rename the session files are as before, the old destination among
    them; from the rename on the destination is complete and no temporary file is left.

    If this fails, look at: a destination that is made empty and filled; a copy in place of a rename; a temporary file
    that is removed later, or never.
    """
    attempt = await make().arrange(store)
    await attempt.ready()
    watch = _Watch(store.root)
    store.faults.arm(Watched(watch.look))
    await attempt.call()
    store.faults.disarm()
    watch.expect_nothing_wrong()
    name = str(attempt.destination.relative_to(store.root))
    expect(watch.placed, f"expected: {name} is put in its place by a rename\nseen:     no rename")
    expect_equal(watch.after.keys() - watch.before.keys(), {name} - watch.before.keys(), of="the files that appeared")
    left = [path.name for path in store.root.rglob("*.tmp")]
    expect_equal(left, [], of="the temporary files that are left")
    await attempt.accept("what was published")


class _Watch:
    """Looks at all session files before and behind every file call."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.before = self.after = self._sessions()
        self.placed = False
        self._broken: list[str] = []

    def look(self, hit: Hit, moment: Literal["before", "after"]) -> None:
        """Notes what is not as it must be: it is told when the call has ended, whatever the store makes of errors."""
        now, of = self._sessions(), f"{moment} {hit}"
        if moment == "after" and hit.name in ("rename_file", "publish_file") and not self.placed:
            self.placed, self.after = True, now
        if now != (self.after if self.placed else self.before):
            self._broken.append(f"{of}\nexpected: the session files as before\nseen:     {self._difference(now)}")
        left = [path.name for path in self._root.rglob("*.tmp")]
        if self.placed and left:
            self._broken.append(f"{of}\nexpected: no temporary file any more\nseen:     {left}")

    def expect_nothing_wrong(self) -> None:
        """Breaks the clause with the first thing that was not as it must be."""
        if self._broken:
            raise ClauseBroken(self._broken[0])

    def _sessions(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self._root)): path.read_bytes()
            for path in self._root.rglob("*")
            if path.is_file() and path.suffix != ".tmp"
        }

    def _difference(self, now: dict[str, bytes]) -> str:
        was = self.after if self.placed else self.before
        changed = [name for name in now.keys() | was.keys() if now.get(name) != was.get(name)]
        sizes = [(name, len(was.get(name, b"")), len(now.get(name, b""))) for name in sorted(changed)]
        return ", ".join(f"{name} had {old} bytes and has {new}" for name, old, new in sizes)


@case("S-JSONL-PUB-06", needs=("spy-files", "raw-files"))
@rows("publishing", PUBLISHING)
async def a_publisher_syncs_file_and_directory(store: SessionMaker, publishing: Any) -> None:
    """The publisher syncs the temporary file, when all of it is written, before the rename, and the directory after
    it.

    If this fails, look at: a sync of the file after the rename; a sync between the batches of a fork; a directory that
    is never synced.
    """
    attempt, calls, placing = await _published(store, publishing)
    at = calls.index(placing)
    writes = [n for n, call in enumerate(calls) if call.path == placing.path and call.name in _WRITES]
    synced = [n for n, call in enumerate(calls) if call.path == placing.path and call.name == "sync_file"]
    told = f"expected: written, synced, then renamed\nseen:     {[call.name for call in calls[: at + 1]]}"
    expect(any(writes[-1] < n < at for n in synced), told)
    directory = str(Path(placing.path).parent)
    behind = [call.name for call in calls[at + 1 :] if call.path == directory]
    expect("sync_dir" in behind, f"expected: {directory} is synced after the rename\nseen:     {behind}")
    await attempt.accept("what was published")


_WRITES = ("write_file", "append_file")
