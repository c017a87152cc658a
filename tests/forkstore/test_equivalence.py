"""One source, every backend: forks of it hold the same logical state, and it is the one that stands in the snapshot.

The source is the recipe `everything`. The snapshot shows the state entry by entry, long payloads by their beginning and
a digest, so that a change of what a fork takes is read in a review. Keeps S-FORK-EQ-01, S-FORK-EQ-02.
"""

import asyncio
import json
from hashlib import sha256

import pytest

from forkgen import recipe
from forkproof.harness import Seams
from forkproof.oracle.reading import read_state
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet
from forkstore.testing import JsonlHarness, MemoryHarness, SqliteHarness, SqliteSharedHarness

pytestmark = pytest.mark.one_python

SIZE = 45
LONGEST = 160
BACKENDS = (MemoryHarness, JsonlHarness, SqliteHarness, SqliteSharedHarness)
SCOPES = {"branch": BranchFork("main"), "labelled-branch": BranchFork("home of labels"), "tree": TreeFork()}


def transactions():
    return list(recipe("everything")(seed=5, size=SIZE))


def locations():
    on_addresses = (ValueSet, ValueDelete, ListAppend, ListDelete)
    writes = [write for transaction in transactions() for write in transaction if isinstance(write, on_addresses)]
    return {(write.address.namespace, write.address.key) for write in writes}


async def forks(harness):
    """The states of forks of the source, by scope and by what the source was meanwhile; it is deleted before they are
    opened and read.
    """
    repo = await harness.open_repo(Seams(clock=lambda: 1_760_000_000_000))
    cwd = {"cwd": harness.cwd} if getattr(harness, "cwd", None) else {}
    source = await repo.create(id="source", **cwd)
    for transaction in transactions():
        await source.storage.commit(transaction)
    made = {}
    for source_is in ("open", "closed"):
        for scope, options in SCOPES.items():
            made[scope, source_is] = await repo.fork(source.metadata, options)
        await source.close()
    await repo.delete(source.metadata)
    states = {}
    for name, fork in made.items():
        await fork.close()
        reopened = await repo.open(fork.metadata)
        states[name] = await read_state(reopened, locations())
    await repo.close()
    return states


def cut(value):
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= LONGEST:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[: LONGEST // 2]} … {len(text)} characters, {digest}"


def by_name(record):
    """The fields of a record have no order of their own; the members of their payloads do (S-VAL-04)."""
    return dict(sorted(record.items()))


def shown(state):
    """The state in lines: what stands where, in its order."""
    yield f"parent session: {state.parent_session_id}"
    yield f"messages: {state.message_count}"
    yield f"usage: {cut(state.usage)}"
    yield from (f"entry {cut(by_name(entry))}" for entry in state.entries)
    yield from (f"value {namespace} {key!a}: {cut(value)}" for (namespace, key), value in sorted(state.scalars.items()))
    for (namespace, key), elements in sorted(state.lists.items()):
        yield from (f"element {namespace} {key!a}: {cut(element)}" for element in elements)
    yield from (f"ledger {cut(by_name(row))}" for row in state.ledger)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What every fork shows, by scope, backend and state of the source."""
    found = {scope: {} for scope in SCOPES}
    for backend in BACKENDS:
        for (scope, source_is), state in asyncio.run(forks(backend(tmp_path_factory.mktemp(backend.name)))).items():
            found[scope][backend.name, source_is] = list(shown(state))
    return found


@pytest.mark.parametrize("scope", SCOPES)
def test_forks_of_one_source_hold_one_state_on_every_backend(scope, told, snapshot):
    first = told[scope]["memory", "open"]
    assert {name for name, lines in told[scope].items() if lines != first} == set()
    assert len(told[scope]) == 2 * len(BACKENDS)
    assert "\n".join(first) == snapshot
