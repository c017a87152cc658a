"""JSON text in files: what a reader takes of other writers, and what it refuses (sections 6.1 and 6.2)."""

from __future__ import annotations

from typing import Any

from forkgen.damage import Verdict
from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.makers import SessionMaker, Subject, records
from forkproof.suites.sessions.damage_verdicts import UnderDamage, each
from forkproof.suites.sessions.spelled_files import expect_forks, header, line, opened_from, scalar, stored
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import CorruptSession
from forkstore.contract.store import Session

_COST = '"cost":{"input":1,"output":1,"cacheRead":1,"cacheWrite":1,"total":1}'
LOG = list_address("garden.log")
USAGE = f'"usage":{{"input":1,"output":1,"cacheRead":1,"cacheWrite":1,"totalTokens":1,{_COST}}},"adjustment":false'
_BEGIN, _END = '{"kind":"entry","id":"e#","parentId":"e1"', ',"seq":#,"timestamp":0}'
PLACES: dict[str, str] = {
    "scalar": '{"kind":"value","op":"set","seq":#,"namespace":"garden.plan","key":"","value":@}',
    "element": '{"kind":"list","op":"append","seq":#,"namespace":"garden.log","key":"","value":@}',
    "message": f'{_BEGIN},"type":"message","message":@{_END}',
    "data": f'{_BEGIN},"type":"custom","customType":"x","data":@{_END}',
    "unknown-field": f'{_BEGIN},"note":@,"type":"branch_summary","fromId":null,"summary":"","fromHook":true{_END}',
    "unknown-type": f'{_BEGIN},"type":"forecast","data":@{_END}',
    "usage-details": f'{{"kind":"usage","id":"u#",{USAGE},"details":@,"seq":#}}',
}
"""Records with a place for a payload, `@`, and for their sequence, `#`."""
FIRST = 5
"""The sequence behind the lane that every file begins with."""


def _record(form: str, payload: str, seq: int = FIRST) -> str:
    return form.replace("#", str(seq)).replace("@", payload)


def _everywhere(payload: str) -> list[str]:
    """Records that hold the payload, one for each place, with sequences from `FIRST` on."""
    return [_record(form, payload, seq) for seq, form in enumerate(PLACES.values(), FIRST)]


def _file(store: SessionMaker, *texts: str) -> bytes:
    """A file with a lane `main`, and lines of these texts behind it."""
    lane = [
        stored(records.message_entry("e1", None), 1),
        scalar(2, "pi.branch.tip", "main", "e1"),
        scalar(3, "pi.lane.config", "main", {}),
        scalar(4, "pi.lane.state", "main", {}),
    ]
    return header(store.raw.cwd) + line(*lane) + b"".join(text.encode() + b"\n" for text in texts)


async def _used(store: SessionMaker, data: bytes) -> Subject:
    """The file opened, read by its own judge, forked, used and opened again."""
    subject = await opened_from(store, data)
    await subject.check("the opened file, read in full")
    await expect_forks(store, subject)
    await subject.append("main", "behind what others wrote")
    await subject.check_everywhere()
    return subject


@case("S-VAL-15", kinds=("jsonl",))
@rows("good", rich="rich", bare="bare")
async def the_last_of_equal_names_wins(store: SessionMaker, good: str) -> None:
    """Of several members with one name the last wins: in the header, in structural fields, in payloads at any depth.

    If this fails, look at: a decoder that keeps the first, or refuses the text; a check that looks at another one than
    the reader.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-VAL-15"), file.expect_whole_verdict)


DOUBLED: dict[str, tuple[str, Any]] = {
    "plain": ('{"a":1,"a":2}', {"a": 2}),
    "three": ('{"a":1,"b":0,"a":[2],"a":null}', {"a": None, "b": 0}),
    "escaped": ('{"\\u0061":1,"a":2}', {"a": 2}),
    "escaped-last": ('{"a":1,"\\u0061":{"b":1,"b":2}}', {"a": {"b": 2}}),
    "empty-name": ('{"":1,"":2}', {"": 2}),
    "deep": ('[{"a":{"x":1,"x":{"y":1,"y":2.5}}}]', [{"a": {"x": {"y": 2.5}}}]),
}


@case("S-VAL-15", kinds=("jsonl",))
@rows("doubled", DOUBLED)
async def the_last_of_equal_names_wins_in_every_place(store: SessionMaker, doubled: tuple[str, Any]) -> None:
    """The last of equal names wins in every place that a payload can stand in, also where escapes spell the name; in
    forks, and on reopening, too.

    If this fails, look at: names compared before they are decoded; texts that are decoded by two decoders.
    """
    text, told = doubled
    subject = await _used(store, _file(store, *_everywhere(text)))
    await _expect_everywhere(subject.session, told)


async def _expect_everywhere(session: Session, told: Any) -> None:
    """Every place of `PLACES` shows the payload."""
    row, elements = await session.get_value(value_address("garden.plan")), await session.read_list(LOG)
    rows_ = await session.scan_usage()
    entries = [await session.get_entry(f"e{seq}") or {} for seq in range(FIRST + 2, FIRST + 6)]
    seen = {
        "scalar": row and row.value,
        "element": [element.value for element in elements],
        "message": entries[0].get("message"),
        "data": entries[1].get("data"),
        "unknown-field": entries[2].get("note"),
        "unknown-type": entries[3].get("data"),
        "usage-details": [one.get("details") for one in rows_],
    }
    expected = dict.fromkeys(PLACES, told) | {"element": [told], "usage-details": [told]}
    expect_equal(seen, expected, of="the payloads that the session shows")


_DOUBLED_USAGE = USAGE.replace('"input":1,', '"input":null,"input":1,"input":40,')
STRUCTURAL: dict[str, str] = {
    "kind": '{"kind":"entry","kind":"value","op":"set","seq":5,"namespace":"garden.plan","key":"","value":1}',
    "seq": '{"kind":"value","op":"set","seq":0,"seq":5,"namespace":"garden.plan","key":"","value":1}',
    "seq-escaped": '{"kind":"value","op":"set","seq":true,"s\\u0065q":5,"namespace":"garden.plan","key":"","value":1}',
    "op": '{"kind":"value","op":"delete","op":"set","seq":5,"namespace":"garden.plan","key":"","value":1}',
    "address": '{"kind":"list","op":"append","namespace":"","key":0,"seq":5,"namespace":"a","key":"b","value":1}',
    "value": '{"kind":"list","op":"append","value":1,"seq":5,"namespace":"a","key":"b","value":{"value":2},"value":3}',
    "value-beside-unknown-field": (
        '{"kind":"value","op":"set","value":1,"note":{"value":0},"seq":5,"namespace":"a","key":"b","value":2}'
    ),
    "value-with-lone-surrogate": (
        '{"kind":"value","op":"set","value":1,"seq":5,"namespace":"a","key":"b","value":"\\ud800"}'
    ),
    "value-escaped": '{"kind":"value","op":"set","value":1,"seq":5,"namespace":"a","key":"b","v\\u0061lue":2}',
    "entry": (
        '{"kind":"entry","id":7,"parentId":"nobody","type":"custom","seq":1,"timestamp":-1,"id":"e5","parentId":"e1",'
        '"type":"message","message":0,"message":{"role":"user"},"seq":5,"timestamp":0}'
    ),
    "custom-type": f'{_BEGIN},"type":"custom","customType":null,"customType":"x"{_END}',
    "usage": (
        f'{{"kind":"usage","id":"u0","usage":7,"adjustment":0,{USAGE},"entryId":null,"entryId":"e1","seq":5,"id":"u5"}}'
    ),
    "usage-numbers": f'{{"kind":"usage","id":"u5",{_DOUBLED_USAGE},"seq":5}}',
}


@case("S-VAL-15", kinds=("jsonl",))
@rows("text", STRUCTURAL)
async def the_last_of_equal_structural_names_wins(store: SessionMaker, text: str) -> None:
    """The last of equal structural fields is the one that is checked and used, whatever the others say.

    If this fails, look at: a field found by a search in the text; the first kind taken, the last value.
    """
    await _used(store, _file(store, text.replace("#", str(FIRST))))


ODD: dict[str, tuple[str, Any]] = {
    "lone-high": ('"a\\ud800b"', "a\ud800b"),
    "lone-low": ('"\\uDC00"', "\udc00"),
    "wrong-order": ('"\\udc00\\ud83d"', "\udc00\ud83d"),
    "pair-and-lone": ('"\\ud83c\\udf31\\ud83c"', "🌱\ud83c"),
    "in-a-name": ('{"\\ud83d":[{"\\udc00x":1}]}', {"\ud83d": [{"\udc00x": 1}]}),
    "2-63": ("9223372036854775808", 2**63),
    "below-minus-2-63": ("[-9223372036854775809]", [-(2**63) - 1]),
    "2-64": ('{"a":18446744073709551616}', {"a": 2**64}),
    "4300-digits": ("9" * 4300, int("9" * 4300)),
    "minus-4300-digits": ("-" + "9" * 4300, -int("9" * 4300)),
    "both": ('["\\ud800",36893488147419103232]', ["\ud800", 2**65]),
}


@case("S-VAL-16", kinds=("jsonl",))
@rows("good", rich="rich", bare="bare")
async def what_no_commit_would_take_is_read(store: SessionMaker, good: str) -> None:
    """Lone surrogates and integers beyond 64 bits in stored payload are read as they stand; other odd but valid JSON
    too.

    If this fails, look at: an encoder of UTF-8 in the way of a read; integers that become floats or wrap.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-VAL-16"), file.expect_whole_verdict)


@case("S-VAL-16", kinds=("jsonl",))
@rows("odd", ODD)
async def what_no_commit_would_take_is_read_in_every_place(store: SessionMaker, odd: tuple[str, Any]) -> None:
    """A lone surrogate or a large integer is read as it stands in every place that a payload can stand in, comes
    through forks of both scopes, and keeps no commit from succeeding.

    If this fails, look at: one decoder for entries and another for scalars; a fork that encodes what it copies.
    """
    text, told = odd
    subject = await _used(store, _file(store, *_everywhere(text)))
    await _expect_everywhere(subject.session, told)


BEYOND: dict[str, str] = {
    "overflow": "1e400",
    "negative-overflow": "-1E+400",
    "just-beyond": "1.7976931348623159e308",
    "overflow-without-exponent": "1" + "0" * 400 + ".0",
    "4301-digits": "1" * 4301,
    "minus-4301-digits": "-" + "1" * 4301,
    "4301-digits-inside": '{"a":[' + "1" * 4301 + "]}",
    "depth-211": "[" * 211 + "]" * 211,
    "depth-212": "[" * 212 + "]" * 212,
    "depth-214": '[{"a":' * 107 + "1" + "}]" * 107,
    "depth-300-among-brackets-in-texts": '["]",' * 300 + "1" + ',"["]' * 300,
    "depth-211-of-objects": '{"a":' * 210 + "{}" + "}" * 210,
}
WITHIN: dict[str, str] = {
    "greatest-float": "1.7976931348623157e308",
    "underflow": "1e-400",
    "float-of-many-digits": "0." + "1" * 5000,
    "4300-digits": "1" * 4300,
    "depth-210": "[" * 210 + "]" * 210,
    "depth-210-of-objects": '{"a":' * 209 + "{}" + "}" * 209,
    "wide": "[" + "[]," * 500 + "[]]",
    "brackets-in-text": '"' + "[{" * 500 + '"',
    "brackets-in-texts": '["' + "[" * 300 + '","' + "]" * 300 + '",[["\\"["]]]',
}


@case("S-VAL-17", kinds=("jsonl",))
@rows("good", rich="rich", bare="bare")
async def payload_beyond_the_limits_is_corruption(store: SessionMaker, good: str) -> None:
    """Stored payload with an integer of more than 4,300 digits, another number beyond the finite floats, or deeper than
    210, is corruption in its line, and no byte changes.

    If this fails, look at: infinity let through; limits of the decoder's own; a recursion that dies.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-VAL-17", verdicts=[Verdict.CORRUPT]), file.expect_refused)
    await each(file.variants("S-VAL-17", verdicts=[Verdict.OPENS]), file.expect_whole_verdict)


@case("S-VAL-17", kinds=("jsonl",))
@rows("place", PLACES)
@rows("text", BEYOND)
async def payload_beyond_the_limits_is_corruption_in_every_place(store: SessionMaker, place: str, text: str) -> None:
    """Such payload is corruption in its line in every place that payload can stand in, also in a member of an array, in
    front of other lines, and where the value was later deleted.

    If this fails, look at: values that are looked at when they are read only; dead rows that are skipped; an unknown
    field that nobody decodes.
    """
    record = _record(place, text)
    other = '{"kind":"list","op":"delete","seq":6,"namespace":"garden.log","key":""}'
    later = '{"kind":"value","op":"delete","seq":7,"namespace":"garden.plan","key":""}'
    for data in (_file(store, record), _file(store, f"[{record},{other}]", later), _file(store, record, other, later)):
        path = await store.plant(data, id="spelled")
        with ByteGuard(path, of="the file beyond the limits"), refused(CorruptSession, line=3):
            await store.repo.open(store.raw.metadata(path))


@case("S-VAL-17", kinds=("jsonl",))
@rows("text", WITHIN)
async def payload_at_the_limits_is_read_in_every_place(store: SessionMaker, text: str) -> None:
    """Payload at the limits is read in every place, comes through forks, and stays.

    If this fails, look at: depth counted from the line instead of the field; brackets counted inside of texts; the
    digits of a fraction counted.
    """
    await _used(store, _file(store, *_everywhere(text)))


TAIL = f'{_BEGIN},"type":"compaction","summary":"","retainedTail":[@],"tokensBefore":0,"fromHook":false{_END}'


@case("S-VAL-17", kinds=("jsonl",))
async def each_message_of_a_retained_tail_counts_on_its_own(store: SessionMaker) -> None:
    """The depth of a retained tail is that of its deepest message: messages of depth 210 are read, one of 211 is
    corruption. The same field on another entry is measured as a whole.

    If this fails, look at: the tail measured like any field; the name of the field taken for its place.
    """

    def message(depth: int) -> str:
        return '{"content":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"

    subject = await _used(store, _file(store, _record(TAIL, f"{message(210)},{message(2)},{message(210)}")))
    await subject.close()
    other = TAIL.replace('"compaction"', '"forecast"')
    for text in (_record(TAIL, f"{message(2)},{message(211)}"), _record(other, message(210))):
        path = await store.plant(_file(store, text), id="spelled")
        with ByteGuard(path, of="the file beyond the limits"), refused(CorruptSession, line=3):
            await store.repo.open(store.raw.metadata(path))
