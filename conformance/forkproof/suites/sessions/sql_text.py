"""JSON text in rows: what a store writes, what it takes of others, and what a fork makes of it (section 6.1)."""

from __future__ import annotations

import json
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect_equal, refused
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.database_rows import Row
from forkproof.suites.sessions.forking import from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.json_text import STRINGS, VALUES
from forkproof.suites.sessions.json_text_read import BEYOND, DOUBLED, ODD, WITHIN
from forkproof.suites.sessions.jsonl_fork_destination import PAYLOAD, TEXT
from forkproof.suites.sessions.planted_texts import SOUND_ROWS, SPOTS, Spot, place_of, planted, sound_rows
from forkstore.contract.addresses import branch_tip, list_address, session_name, value_address
from forkstore.contract.errors import CorruptSession
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.records import zero_usage
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

PLAN, LOG = value_address("garden.plan", "beds"), list_address("garden.log", "beds")
BOTH = ("raw-files", "raw-commit")
Texts = dict[str, tuple[str, Any]]


def _writes(name: str, told: Any) -> list[Write]:
    """The value in every place where a payload can stand, under names made of `name`."""
    message = {"role": "x", "content": told}
    return [
        ValueSet(value_address("garden.plan", name), told),
        ListAppend(list_address("garden.log", name), told),
        EntryInsert(records.message_entry(f"m-{name}", None, message=message)),
        EntryInsert(records.custom_entry(f"d-{name}", None, data=told)),
        EntryInsert({"note": told, **records.custom_entry(f"n-{name}", None), "": told}),
        UsageInsert(records.usage_row(f"u-{name}", usage=zero_usage(), details=told)),
    ]


def _expected(name: str, text: str) -> dict[str, str]:
    """The texts of the columns that hold it."""
    return {
        f"scalar {name}": text,
        f"element {name}": text,
        f"m-{name}": f'{{"message":{{"role":"x","content":{text}}}}}',
        f"d-{name}": f'{{"data":{text}}}',
        f"n-{name}": f'{{"note":{text},"":{text}}}',
        f"u-{name}": text,
    }


def _texts(subject: Subject) -> dict[str, str]:
    """The texts of all columns of JSON, by what `_expected` calls them."""
    found = subject.store.databases.session_rows(subject.metadata)
    scalars = {f"scalar {row['key']}": row["value"] for row in found.scalar_values}
    elements = {f"element {row['key']}": row["value"] for row in found.list_values}
    entries = {row["id"]: row["payload"] for row in found.entries}
    return scalars | elements | entries | {row["id"]: row["details"] for row in found.usage_ledger}


@case("S-VAL-14", kinds=("sqlite",), needs=BOTH)
async def a_payload_in_a_row_is_written_as_section_6_1_says(store: SessionMaker) -> None:
    """A payload is written without spaces, with its members in their order, letters as they are, control characters in
    their short or lower-case form, and numbers as Python prints them, wherever it stands; so a fork has it, too.

    If this fails, look at: `ensure_ascii`; separators with spaces; sorted members; upper-case escapes; a slash, DEL or
    U+2028 that is escaped; floats without their fraction or sign.
    """
    subject = await store.empty_session()
    expected: dict[str, str] = {}
    for name, (told, text) in VALUES.items():
        await subject.raw_commit(*_writes(name, told))
        expected |= _expected(name, text)
    expect_equal(_texts(subject), expected, of="the texts in the rows of the session")
    fork = await subject.fork(TreeFork())
    copied = {place: text for place, text in expected.items() if not place.startswith("u-")}
    expect_equal(_texts(fork), copied, of="the texts in the rows of the fork")
    await subject.check_everywhere()


@case("S-VAL-14", kinds=("sqlite",), needs=BOTH)
async def names_and_totals_are_written_like_all_text(store: SessionMaker) -> None:
    """Names, tips and the usage of rows and of the session are JSON text by the same rules; ids, keys and types stand
    in their columns as they are.

    If this fails, look at: usage written by other code than payloads; keys that are escaped.
    """
    subject = await store.empty_session()
    for number, (told, text) in enumerate(STRINGS.values()):
        key = told.replace("\0", "")
        entry, child = records.custom_entry(f"{number} {told}", None, told), f"child-{number}"
        await subject.raw_commit(
            EntryInsert(entry),
            EntryInsert(records.custom_entry(child, entry["id"], told)),
            ValueSet(branch_tip(f"b{key}"), told),
            ValueSet(session_name(), told),
            UsageInsert(records.usage_row(f"{number} {told} u", entry["id"], usage=records.usage(reasoning=0.5))),
        )
        found = store.databases.session_rows(subject.metadata)
        stored = {row["id"]: (row["parent_id"], row["custom_type"], row["payload"]) for row in found.entries}
        expect_equal(stored.get(entry["id"]), (None, told, "{}"), of=f"the row of the entry named {entry['id']!r}")
        expect_equal(stored.get(child), (entry["id"], told, "{}"), of=f"the row of its child {child!r}")
        scalars = {(row["namespace"], row["key"]): row["value"] for row in found.scalar_values}
        expect_equal(scalars["pi.branch.tip", f"b{key}"], f'"{text}"', of="the text of a tip")
        expect_equal(scalars["pi.session.name", ""], f'"{text}"', of="the text of the name")
        _expect_usage(found.session, subject, [row["usage"] for row in found.usage_ledger])


def _expect_usage(session: Row, subject: Subject, texts: list[str]) -> None:
    usage = json.dumps(records.usage(reasoning=0.5), separators=(",", ":"))
    expect_equal(texts, [usage] * len(texts), of="the texts of the usage of ledger rows")
    total = json.loads(session["usage_payload"])
    expect_equal(total, subject.model.state().usage, of="the usage of the session")
    again = json.dumps(total, separators=(",", ":"))
    expect_equal(session["usage_payload"], again, of="the text of the usage of the session")


async def _expect_told(store: SessionMaker, texts: Texts) -> None:
    """Each text is read as it is told in every place, live, reopened and in forks; a fork has it letter for letter, and
    commits go on.
    """
    subject = await planted(store)
    for name, (text, told) in texts.items():
        for spot in SPOTS.values():
            spot.plant(store, subject.metadata, text)
        await _expect_seen(subject, list(SPOTS), told, f"the text {name!r}")
        await subject.reopen()
        await _expect_seen(subject, list(SPOTS), told, f"the text {name!r}, reopened")
        await _expect_copied(subject, told, f"the text {name!r}")
    await subject.append("main", "behind what others wrote")
    expect_equal(await sound_rows(subject.session), SOUND_ROWS, of="other rows")


async def _expect_seen(subject: Subject, spots: list[str], told: Any, of: str) -> None:
    try:
        seen = {name: await SPOTS[name].read(subject.session) for name in spots}
    except CorruptSession as error:
        raise ClauseBroken(f"{of}\nexpected: is read\nseen:     {error}") from error
    expect_equal(seen, dict.fromkeys(spots, told), of=of)


TREE_SPOTS = [name for name in SPOTS if name != "usage-details"]
BRANCH_SPOTS = ["message", "data", "unknown-field"]
COPIES: tuple[tuple[ForkOptions, list[str]], ...] = ((TreeFork(), TREE_SPOTS), (BranchFork("main"), BRANCH_SPOTS))
"""Forks, and the places that they copy."""


async def _expect_copied(source: Subject, told: Any, of: str) -> None:
    for options, spots in COPIES:
        fork = await source.fork(options)
        _expect_same_texts(source, fork, spots, f"{of} in the fork by {options!r}")
        await _expect_seen(fork, spots, told, f"{of}, read from the fork by {options!r}")
        await fork.close()
        await source.store.repo.delete(fork.metadata)


def _expect_same_texts(source: Subject, fork: Subject, spots: list[str], of: str) -> None:
    store = source.store
    for name in spots:
        text = SPOTS[name].stored(store, source.metadata)
        expect_equal(SPOTS[name].stored(store, fork.metadata), text, of=f"{of}: the place {name}")


@case("S-VAL-15", kinds=("sqlite",))
async def the_last_of_equal_names_in_a_row_wins(store: SessionMaker) -> None:
    """Of several members with one name the last wins, at any depth, in every place that a payload can stand in; in
    forks, and on reopening, too.

    If this fails, look at: a decoder that keeps the first, or refuses the text; names compared before they are decoded;
    a database function that looks into the text.
    """
    await _expect_told(store, DOUBLED)


@case("S-VAL-16", kinds=("sqlite",))
async def what_no_commit_would_take_is_read_from_rows(store: SessionMaker) -> None:
    """A lone surrogate or a large integer is read as it stands in every place that a payload can stand in, comes
    through forks of both scopes, and keeps no commit from succeeding.

    If this fails, look at: one decoder for entries and another for scalars; integers that become floats or wrap; a fork
    that encodes what it copies.
    """
    await _expect_told(store, ODD)


@case("S-VAL-17", kinds=("sqlite",))
@rows("spot", SPOTS)
async def payload_of_a_row_beyond_the_limits_is_corruption(store: SessionMaker, spot: Spot) -> None:
    """Stored payload with an integer of more than 4,300 digits, another number beyond the finite floats, or deeper than
    210, raises `CorruptSession` when it is read, in every place; other rows are read.

    If this fails, look at: infinity let through; limits of the decoder's own; a recursion that dies; depth counted from
    the row instead of the field.
    """
    subject = await planted(store)
    for name, text in BEYOND.items():
        spot.plant(store, subject.metadata, text)
        try:
            with refused(CorruptSession, path=str(place_of(subject)), line=None):
                await spot.read(subject.session)
        except ClauseBroken as broken:
            raise ClauseBroken(f"the text {name!r}\n{broken}") from broken
    expect_equal(await sound_rows(subject.session), SOUND_ROWS, of="other rows")


@case("S-VAL-17", kinds=("sqlite",))
async def payload_of_a_row_at_the_limits_is_read(store: SessionMaker) -> None:
    """Payload at the limits is read in every place, and comes through forks.

    If this fails, look at: depth counted from the row instead of the field; brackets counted inside of texts; the
    digits of a fraction counted.
    """
    await _expect_told(store, {name: (text, json.loads(text)) for name, text in WITHIN.items()})


@case("S-VAL-17", kinds=("sqlite",))
async def a_fork_copies_payload_text_without_judging_it(store: SessionMaker) -> None:
    """A fork copies payload text as it stands, also text that no read takes: deeper than any limit, beyond the numbers.

    If this fails, look at: a fork that decodes what it copies; text that passes through JSON functions of the database.
    """
    source = await planted(store)
    for name in ("overflow", "4301-digits", "depth-214"):
        for spot in SPOTS.values():
            spot.plant(store, source.metadata, BEYOND[name])
        for options, spots in COPIES:
            try:
                fork = await source.fork(options)
            except CorruptSession as error:
                of = f"a fork of the text {name!r} by {options!r}"
                raise ClauseBroken(f"{of}\nexpected: copies it\nseen:     {error}") from error
            _expect_same_texts(source, fork, spots, f"the text {name!r} in the fork by {options!r}")
            await fork.close()


@case("S-FORK-DST-05", kinds=("sqlite",))
@in_both_scopes
@from_open_and_closed
async def a_fork_copies_the_text_in_the_rows_of_its_source(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """Payloads and values are copied as the JSON text that stands in the source, through a fork of a fork too: the form
    of every number, escapes, doubled names, blanks and the order of members; names, labels and configurations as well.

    If this fails, look at: a payload that is decoded and encoded again; a configuration, name or label that takes
    another way than entries.
    """
    source = await planted(store)
    await source.session.set_name("to be replaced")
    await source.session.set_label("said", "to be replaced")
    for spot in SPOTS.values():
        spot.plant(store, source.metadata, PAYLOAD)
    for namespace, text in (("pi.session.name", TEXT), ("pi.entry.label", TEXT), ("pi.lane.config", PAYLOAD)):
        values = {"value": text}
        store.databases.change_session(source.metadata, "scalar_values", values, f"namespace = '{namespace}'")
    if source_is == "closed":
        await source.close()
    fork = await store.repo.fork(source.metadata, options)
    second = await store.repo.fork(fork.metadata, options)
    of_source = _copied_texts(store, source)
    for of, made in (("a fork", fork), ("a fork of the fork", second)):
        seen = _copied_texts(store, Subject(store, made, source.model))
        lost = {"pi.lane.config", "pi.session.name", "pi.entry.label"} - {place[0] for place in seen}
        expect_equal(sorted(lost), [], of=f"namespaces that are not in {of}")
        expect_equal(seen, {place: of_source[place] for place in seen}, of=f"the texts in the rows of {of}")


def _copied_texts(store: SessionMaker, subject: Subject) -> dict[tuple[str, str], str]:
    """The texts of entries, values and elements; but not of the state of a lane, which begins anew in a fork."""
    found = store.databases.session_rows(subject.metadata)
    texts = {("entries", str(row["id"])): row["payload"] for row in found.entries}
    for row in (*found.scalar_values, *found.list_values):
        if row["namespace"] != "pi.lane.state":
            texts[row["namespace"], row["key"]] = row["value"]
    return texts
