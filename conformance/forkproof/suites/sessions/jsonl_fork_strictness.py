"""Which files a fork refuses: those that opening refuses, and no other (S-JSONL-FORK-04, -06, -11, S-FORK-BR-11)."""

from __future__ import annotations

import json
from typing import Any

from forkgen.damage import Damaged, Verdict
from forkgen.legacy import legacy_files
from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.clocks import START
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker
from forkproof.makers.records import idle_lane_state, lane_configuration, message_entry, usage, usage_row
from forkproof.oracle.classifier import ForkRefused
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.file_model import model_of_records
from forkproof.suites.sessions.forking import in_both_scopes
from forkproof.suites.sessions.jsonl_sources import planted
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import CorruptSession, UnknownBranch
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ValueSet

REFUSALS = {Verdict.CORRUPT: "CorruptSession", Verdict.UNSUPPORTED: "UnsupportedVersion"}


def _file(lines: list[Any], cwd: str, **fields: Any) -> bytes:
    """A file of format 4 with these lines: a record each, or several."""
    header = {"v": 4, "kind": "header", "id": "small", "storageVersion": 1, "createdAt": START, "cwd": cwd} | fields
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in [header, *lines])


def _entry(seq: int, id: str, parent: str | None) -> dict[str, Any]:
    return {"kind": "entry", **message_entry(id, parent), "seq": seq, "timestamp": START}


def _value(seq: int, namespace: str, key: str, value: Any) -> dict[str, Any]:
    return {"kind": "value", "op": "set", "seq": seq, "namespace": namespace, "key": key, "value": value}


def _chain(first: int, parent: str | None, count: int = 12) -> list[dict[str, Any]]:
    """So many entries in a row, `c<seq>` each."""
    parents = [parent, *(f"c{seq}" for seq in range(first, first + count - 1))]
    return [_entry(first + place, f"c{first + place}", above) for place, above in enumerate(parents)]


def _with(chain: list[dict[str, Any]], place: int, **changes: Any) -> list[dict[str, Any]]:
    """The chain with one of its records changed."""
    return [record | changes if number == place else record for number, record in enumerate(chain)]


FIRST, SECOND = _chain(10, None), _chain(30, "c21")
SPENT = {"kind": "usage", **usage_row("spent"), "seq": 1}
GREAT = {"kind": "usage", **usage_row("great", usage={**usage(), "input": 1.5e308}), "seq": 2}
CHAINS: dict[str, tuple[bool, list[Any]]] = {
    "good": (True, [FIRST, SECOND]),
    "two-roots": (True, [FIRST, _with(SECOND, 0, parentId=None)]),
    "root-in-the-middle": (True, [FIRST, _with(SECOND, 7, parentId=None)]),
    "side-branch": (True, [FIRST, _with(SECOND, 5, parentId="c12")]),
    "parent-in-the-line-but-not-the-last": (True, [FIRST, _with(SECOND, 11, parentId="c30")]),
    "unknown-parent-first": (False, [FIRST, _with(SECOND, 0, parentId="gone")]),
    "unknown-parent-last": (False, [FIRST, _with(SECOND, 11, parentId="gone")]),
    "parent-later-in-the-line": (False, [FIRST, _with(SECOND, 3, parentId="c35")]),
    "own-parent": (False, [FIRST, _with(SECOND, 3, parentId="c33")]),
    "usage-row-as-parent": (False, [SPENT, FIRST, _with(SECOND, 0, parentId="spent")]),
    "id-of-an-earlier-line": (False, [FIRST, _with(SECOND, 11, id="c15")]),
    "id-twice-in-a-line": (False, [FIRST, _with(_with(SECOND, 10, id="c30"), 11, parentId="c30")]),
    "id-of-a-usage-row": (False, [SPENT, FIRST, _with(SECOND, 11, id="spent")]),
    "line-twice": (False, [FIRST, FIRST]),
    "sequence-not-above-the-last-line": (False, [FIRST, _with(SECOND, 0, seq=21)]),
    "sequence-twice-in-a-line": (False, [FIRST, _with(SECOND, 6, seq=35)]),
    "sequence-falls-in-a-line": (False, [FIRST, _with(SECOND, 6, seq=22)]),
    "type-missing-in-the-middle": (False, [FIRST, _with(SECOND, 6, type=None)]),
    "spending-beyond-every-number": (False, [GREAT, {**GREAT, "id": "greater", "seq": 3}, FIRST, SECOND]),
}
"""Files with long transactions, and whether they can be opened; the lane ends at `c21`, the last of the first one."""


@case("S-JSONL-FORK-04")
@rows("file", CHAINS)
async def long_transactions_are_judged_alike(store: SessionMaker, file: tuple[bool, list[Any]]) -> None:
    """A source with long transactions is forked, or refused with `CorruptSession`, exactly as `open` does it, in both
    scopes: entries in a row, roots and branches among them, and one fault in the middle of many.

    If this fails, look at: a quick way for long lines that checks their beginning or their end; sums of a ledger that
    only opening makes.
    """
    opens, lines = file
    path = await store.plant(_file([*lines, *_lane(50, "c21")], store.raw.cwd), id="small")
    metadata, expected = store.raw.metadata(path), "returned" if opens else "CorruptSession"
    for options in (TreeFork(), BranchFork("main")):
        with ByteGuard(path, of="the source") as guard:
            ending = await ended(store.repo.fork(metadata, options))
            if ending.error is None:
                guard.allow(ending.value.metadata.path)
        expect_equal(ending.word, expected, of=f"the fork by {options!r}")
        if ending.error is None:
            model = model_of_records(lines_of(path).records).fork(options, "small")
            await store.subject(ending.value, model).check(f"the fork by {options!r}")
    expect_equal((await ended(store.repo.open(metadata))).word, expected, of="opening the source")


def _lane(seq: int, tip: str | None) -> list[dict[str, Any]]:
    values = (tip, lane_configuration(), idle_lane_state())
    names = ("pi.branch.tip", "pi.lane.config", "pi.lane.state")
    return [_value(seq + n, name, "main", value) for n, (name, value) in enumerate(zip(names, values, strict=True))]


@case("S-JSONL-FORK-04")
@rows("struck", header=b'"kind":"header"', other_branch=b'"left-leaf"', usage=b'"usage-1"', dead=b'"to be deleted"')
@in_both_scopes
async def damage_of_an_open_file_is_refused(store: SessionMaker, struck: bytes, options: ForkOptions) -> None:
    """A byte that was damaged in the file of an open source makes its fork fail with `CorruptSession` in that line, be
    it in the header, on another branch, in the ledger or in a row that is dead by now; the session itself goes on.

    If this fails, look at: an open source whose file is trusted; lines that are skipped without a look.
    """
    source = await store.rich_session(id="source")
    path = store.path_of(source)
    data = path.read_bytes()
    at = data.index(struck) + 1
    store.raw.replace(path, data[:at] + b"\x00" + data[at + 1 :])
    line = data.count(b"\n", 0, at) + 1
    with ByteGuard(path, root=store.root, of="the file"), refused(CorruptSession, path=str(path), line=line):
        await store.repo.fork(source.metadata, options)
    await source.check("the open session whose file was damaged")


@case("S-JSONL-FORK-04")
@rows("share", first=0, second=1, third=2, fourth=3)
@in_both_scopes
async def a_fork_refuses_what_opening_refuses(store: SessionMaker, options: ForkOptions, share: int) -> None:
    """Every damage of a file has one answer: a source that `open` refuses as corrupt, wherever the fault lies, is
    refused with `CorruptSession` in both scopes; every other one is forked, or refused for what it holds. The source
    keeps its bytes, and nothing is left.

    If this fails, look at: checks left out for lines that are not copied, such as other branches, dead rows and usage;
    a decoder of the fork's own; a fault that only the opening of the destination would find.
    """
    # Tails torn at every byte are the case of S-JSONL-FORK-02.
    variants = [variant for variant in store.damage_variants() if not variant.name.startswith("torn-at-byte")]
    for variant in variants[share::4]:
        await _expect_forked_as_opened(store, variant, options)


async def _expect_forked_as_opened(store: SessionMaker, variant: Damaged, options: ForkOptions) -> None:
    source = store.damaged_session(variant)
    expected, model = REFUSALS.get(variant.verdict, "returned"), None
    if expected == "returned":
        try:
            model = source.model.fork(options, source.metadata.id)
        except ForkRefused as refusal:
            expected = str(refusal).partition("(")[0]
    of = f"the damage {variant.name!r}"
    with ByteGuard(source.path, root=store.root, of=f"the source with {of}"):
        ending = await ended(store.repo.fork(source.metadata, options))
        expect_equal(ending.word, expected, of=f"a fork of a file with {of}")
        if model is not None:
            fork = ending.value
            await store.subject(fork, model).check(f"the fork of a file with {of}")
            await fork.close()
            await store.repo.delete(fork.metadata)


@case("S-JSONL-FORK-04")
@in_both_scopes
async def a_fork_refuses_what_opening_refuses_in_legacy_form(store: SessionMaker, options: ForkOptions) -> None:
    """A closed source in legacy form that `open` refuses, as corrupt or for its version, is refused with the same class
    in both scopes, keeps its bytes, and leaves nothing.

    If this fails, look at: a scan for the structure that takes broken records; checks that come with the second scan,
    for selected records only.
    """
    refused_files = [found for found in legacy_files() if found.verdict in REFUSALS]
    for found in refused_files:
        source = store.legacy_session(found)
        of = f"the legacy file {found.name!r}"
        with ByteGuard(source.path, root=store.root, of=of):
            ending = await ended(store.repo.fork(source.metadata, options))
        expect_equal(ending.word, REFUSALS[found.verdict], of=f"a fork of {of}")


ORPHANS = {
    "tip": [_entry(1, "e1", None), _entry(2, "e2", "gone")],
    "middle": [_entry(1, "e1", "gone"), _entry(2, "e2", "e1")],
    "root": [_entry(1, "e0", "gone"), _entry(2, "e1", "e0"), _entry(3, "e2", "e1")],
    "itself": [_entry(1, "e2", "e2")],
    "written-later": [_entry(1, "e2", "e1"), _entry(2, "e1", None)],
    "usage-row": [{"kind": "usage", **usage_row("gone"), "seq": 1}, _entry(2, "e2", "gone")],
}
"""Entries of which one on the path of `e2` has no parent."""


@case("S-FORK-BR-11", kinds=("jsonl",))
@rows("entries", ORPHANS)
async def a_missing_parent_on_the_path_is_corruption(store: SessionMaker, entries: list[dict[str, Any]]) -> None:
    """A missing parent on the path from the tip raises `CorruptSession`, and leaves nothing: at the tip, in the middle,
    at the root, an entry that is its own parent, and one that was written too late.

    If this fails, look at: a walk that ends quietly where it finds nothing; an entry without a parent taken for a root.
    """
    path = await store.plant(_file([*entries, *_lane(7, "e2")], store.raw.cwd), id="small")
    metadata = store.raw.metadata(path)
    for options in (BranchFork("main", id="fork"), BranchFork("main", entry_id="e2", position="before", id="fork")):
        with ByteGuard(path, root=store.root, of="the source with a missing parent"), refused(CorruptSession):
            await store.repo.fork(metadata, options)


@case("S-JSONL-FORK-06")
@rows("raised_to", at_the_boundary=None, above=99)
@in_both_scopes
async def a_transaction_across_the_boundary_is_corruption(
    store: SessionMaker, raised_to: int | None, options: ForkOptions
) -> None:
    """A transaction with one sequence below the boundary of an open source and one at or above it is corruption in its
    line.

    If this fails, look at: a boundary that cuts a transaction in two; a transaction that is judged by its first or by
    its last sequence alone.
    """
    source = await store.linear_session(6, id="source")
    result = await source.commit(*(ValueSet(value_address("garden.plan", str(n)), n) for n in range(3)))
    last = result.seqs[-1]
    path = store.path_of(source)
    data = path.read_bytes()
    raised = data.replace(b'"seq":%d,' % last, b'"seq":%d,' % (raised_to or last + 1))
    expect_equal((len(raised), raised == data), (len(data), False), of="the size of the changed file")
    store.raw.replace(path, raised)
    with refused(CorruptSession, path=str(path), line=data.count(b"\n")):
        await store.repo.fork(source.metadata, options)
    await source.check("the open session whose file was changed")


FAR = 10**15
PLAIN_FILES = {
    "header": ({}, b""),
    "header-with-parent": ({"parentSessionId": "a-parent"}, b""),
    "header-with-legacy-parent": ({"legacyParentSessionPath": "/old/shed.jsonl"}, b""),
    "next-sequence-far-ahead": ({"nextSeq": FAR}, b""),
    "last-next-sequence": ({"nextSeq": 2**53 - 1}, b""),
    "empty-array": ({}, b"[]\n"),
    "empty-arrays": ({}, b"[]\n" * 3 + b" [ ] \r\n"),
    "empty-array-and-torn-tail": ({}, b"[]\n["),
}


@case("S-JSONL-FORK-11")
@rows("file", PLAIN_FILES)
async def a_source_without_writes_can_be_forked(store: SessionMaker, file: tuple[dict[str, Any], bytes]) -> None:
    """A source that is only a header, or a header and lines without writes, gives a fork without any data, whose first
    commit works; it has no branch to fork.

    If this fails, look at: a boundary that comes from the last record; a `nextSeq` that is not read, or not carried on;
    an empty batch.
    """
    fields, tail = file
    whole, torn = tail[: tail.rfind(b"\n") + 1], tail[tail.rfind(b"\n") + 1 :]
    source = await planted(store, _file([], store.raw.cwd, **fields) + whole, left_out=torn)
    with refused(UnknownBranch, name="main"):
        await store.repo.fork(source.metadata, BranchFork("main"))
    fork = await source.forked(TreeFork())
    await fork.commit(ValueSet(value_address("garden.plan"), "the first commit"))
    await fork.check_everywhere()
