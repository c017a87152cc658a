"""How much memory a fork takes, as the suites of memory measure it."""

from __future__ import annotations

from forkproof.expect import expect_equal
from forkproof.instruments.memory import MemoryMeter
from forkproof.makers import SessionMaker
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import Session


async def fork_peak(store: SessionMaker, source: Session, options: ForkOptions) -> int:
    """The peak memory of a fork up to `before_publish`, in bytes above its start."""
    peaks: list[int] = []

    async def read_peak() -> None:
        peaks.append(meter.read_peak())

    store.probe.run("before_publish", read_peak)
    with MemoryMeter() as meter:
        fork = await store.repo.fork(source.metadata, options)
    await fork.close()
    expect_equal(len(peaks), 1, of="how often the fork awaited before_publish")
    return peaks[0]
