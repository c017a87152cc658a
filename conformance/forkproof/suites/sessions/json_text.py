"""JSON text in files: what a store writes (section 6.1)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.file_lines import lines_of
from forkproof.suites.sessions.spelled_files import last_line
from forkstore.contract.addresses import branch_tip, list_address, session_name, value_address
from forkstore.contract.forks import TreeFork
from forkstore.contract.records import zero_usage
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

CONTROLS = (
    r"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"
    r"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"
)
STRINGS: dict[str, tuple[str, str]] = {
    "empty": ("", ""),
    "plain": ("water the beans", "water the beans"),
    "letters": ("früh 水 🌱 e\u0301", "früh 水 🌱 e\u0301"),
    "separators": ("\u2028\u2029\x85\xa0\u200b", "\u2028\u2029\x85\xa0\u200b"),
    "delete-and-c1": ("\x7f\x80\x9f", "\x7f\x80\x9f"),
    "no-characters": ("\ufeff\ufffe\uffff\U0010ffff", "\ufeff\ufffe\uffff\U0010ffff"),
    "controls": ("".join(map(chr, range(32))), CONTROLS),
    "quote-and-backslash": ('"\\" \\\\', r"\"\\\" \\\\"),
    "slash": ("a/b </script> &'<>", "a/b </script> &'<>"),
    "looks-escaped": (r"\u00fc\n", r"\\u00fc\\n"),
}
"""Strings, and their text between the quotes."""
NUMBERS: dict[str, tuple[Any, str]] = {
    "zero": (0, "0"),
    "negative": (-1, "-1"),
    "largest": (2**63 - 1, "9223372036854775807"),
    "smallest": (-(2**63), "-9223372036854775808"),
    "above-2-53": (2**53 + 1, "9007199254740993"),
    "whole-float": (1.0, "1.0"),
    "negative-zero": (-0.0, "-0.0"),
    "fraction": (0.1, "0.1"),
    "all-digits": (123456789.12345679, "123456789.12345679"),
    "below-exponent": (1e15, "1000000000000000.0"),
    "exponent": (1e16, "1e+16"),
    "large-exponent": (1e22, "1e+22"),
    "largest-float": (1.7976931348623157e308, "1.7976931348623157e+308"),
    "small": (1e-4, "0.0001"),
    "smaller": (1e-05, "1e-05"),
    "least": (5e-324, "5e-324"),
    "float-of-large-integer": (float(2**63), "9.223372036854776e+18"),
}
VALUES: dict[str, tuple[Any, str]] = {
    "null": (None, "null"),
    "true": (True, "true"),
    "false": (False, "false"),
    "empty-array": ([], "[]"),
    "empty-object": ({}, "{}"),
    "members": ({"b": 1, "a": {"z": [1, {"": None}], "y": False}}, '{"b":1,"a":{"z":[1,{"":null}],"y":false}}'),
    "numeric-names": ({"10": 1, "9": 2, "1": 3}, '{"10":1,"9":2,"1":3}'),
    "names-with-escapes": ({'"\n': 1, "ü\u2028": 2}, '{"\\"\\n":1,"ü\u2028":2}'),
    "array": ([1, "a", None, [2.5, []]], '[1,"a",null,[2.5,[]]]'),
    "nested": ([[[[]]], {"a": [{}]}], '[[[[]]],{"a":[{}]}]'),
    **{name: (string, f'"{text}"') for name, (string, text) in STRINGS.items()},
    **NUMBERS,
}
"""Values, and their text."""
_ENTRY = '{"kind":"entry","id":"@id@","parentId":@parent@,"type":"custom","customType":"@type@"'
_END = ',"seq":@seq@,"timestamp":@time@}'
_SET = '{"kind":"value","op":"set","seq":@seq@,"namespace":"@namespace@","key":"@key@","value":@value@}'
_APPEND = '{"kind":"list","op":"append","seq":@seq@,"namespace":"@namespace@","key":"@key@","value":@value@}'
_MESSAGE = '{"kind":"entry","id":"m9","parentId":null,"type":"message","message":{"role":"x","content":@value@}'
_USAGE = (
    '{"kind":"usage","note":@value@,"id":"u9","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,'
    '"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"adjustment":false,'
    '"seq":@seq@}'
)


async def _expect_text(subject: Subject, write: Write, form: str, **parts: str) -> None:
    """The line of a commit of this one write is the form, its parts filled in."""
    result = await subject.commit(write)
    for name, part in {"seq": str(result.first_seq), "time": str(result.timestamp), **parts}.items():
        form = form.replace(f"@{name}@", part)
    expect_equal(last_line(subject.store.path_of(subject)).decode(), f"{form}\n", of="the line of the commit")


@case("S-VAL-14", kinds=("jsonl",))
@rows("value", VALUES)
async def a_payload_is_written_as_section_6_1_says(store: SessionMaker, value: tuple[Any, str]) -> None:
    """A payload is written without spaces, with its members in their order, letters as they are, control characters in
    their short or lower-case form, and numbers as Python prints them, wherever it stands.

    If this fails, look at: `ensure_ascii`; separators with spaces; sorted members; upper-case escapes; a slash, DEL or
    U+2028 that is escaped; floats without their fraction or sign.
    """
    told, text = value
    subject = await store.empty_session()
    plan, log = {"namespace": "garden.plan", "key": ""}, {"namespace": "garden.log", "key": ""}
    await _expect_text(subject, ValueSet(value_address("garden.plan"), told), _SET, value=text, **plan)
    await _expect_text(subject, ListAppend(list_address("garden.log"), told), _APPEND, value=text, **log)
    message = records.message_entry("m9", None, message={"role": "x", "content": told})
    await _expect_text(subject, EntryInsert(message), _MESSAGE + _END, value=text)
    entry = {"id": "e9", "parent": "null", "type": "weather"}
    data = _ENTRY + ',"data":@value@' + _END
    await _expect_text(subject, EntryInsert(records.custom_entry("e9", None, data=told)), data, value=text, **entry)
    usage = {"note": told, **records.usage_row("u9", usage=zero_usage())}
    await _expect_text(subject, UsageInsert(usage), _USAGE, value=text)
    await subject.check_everywhere()


@case("S-VAL-14", kinds=("jsonl",))
@rows("string", {name: string for name, string in STRINGS.items() if string[0]})
async def structural_strings_are_written_like_all_text(store: SessionMaker, string: tuple[str, str]) -> None:
    """Ids, parents, types of custom entries, addresses and names follow the same rules as payloads.

    If this fails, look at: fields of the store's own written by other code than payloads.
    """
    told, text = string
    subject = await store.empty_session()
    entry, child = records.custom_entry(told, None, told), records.custom_entry("child", told, told)
    await _expect_text(subject, EntryInsert(entry), _ENTRY + _END, id=text, parent="null", type=text)
    await _expect_text(subject, EntryInsert(child), _ENTRY + _END, id="child", parent=f'"{text}"', type=text)
    tip, name = {"namespace": "pi.branch.tip", "key": "main"}, {"namespace": "pi.session.name", "key": ""}
    await _expect_text(subject, ValueSet(branch_tip("main"), told), _SET, value=f'"{text}"', **tip)
    await _expect_text(subject, ValueSet(session_name(), told), _SET, value=f'"{text}"', **name)
    if "\0" not in told:
        place = {"namespace": text, "key": text}
        await _expect_text(subject, ListAppend(list_address(told, told), 0), _APPEND, value="0", **place)
    await subject.check_everywhere()


@case("S-VAL-14", kinds=("jsonl",))
@rows("string", STRINGS)
async def a_header_is_written_like_all_text(store: SessionMaker, string: tuple[str, str]) -> None:
    """The header of a created and of a forked file follows the same rules.

    If this fails, look at: a header written by other code than records.
    """
    told, text = string
    subject = await store.create(id=f"a{told}", parent_session_id=told)
    fork = await subject.fork(TreeFork(id=f"f{told}"))
    form = '{"v":4,"kind":"header","id":"%s","storageVersion":1,"createdAt":%d,"cwd":"%s","parentSessionId":"%s"'
    for one, id, parent in ((subject, f"a{text}", text), (fork, f"f{text}", f"a{text}")):
        expected = form % (id, one.metadata.created_at, one.metadata.cwd, parent)
        seen = lines_of(store.path_of(one)).texts[0].decode()
        expect_equal(seen[: len(expected)], expected, of="the header of the file")


V3 = (
    '{"type":"session","version":3,"id":"shed","timestamp":"2025-10-09T08:53:20.000Z","cwd":"@cwd@"}\n'
    '{"type":"message","id":"m1","parentId":null,"timestamp":"2025-10-09T08:53:21.000Z","message":@payload@}\n'
    '{"type":"session_info","id":"m2","parentId":"m1","timestamp":"2025-10-09T08:53:22.000Z","name":@name@}\n'
    '{"type":"custom","id":"m3","parentId":"m2","timestamp":"2025-10-09T08:53:23.000Z","customType":"x","data":@data@}\n'
)
PAYLOAD = r'{"role" : "user","content":"\uD83D\uDE00 \uD800x\uDBFF \uDFFF \u00FC\/\u001F\u007F", "\uDC00":1}'
WRITTEN = '{"role":"user","content":"😀 \\ud800x\\udbff \\udfff ü/\\u001f\x7f","\\udc00":1}'
DATA = r"[2.50,1E5,1e-7,0.10e+1,-0.0,9223372036854775808, {}]"
DATA_WRITTEN = "[2.5,100000.0,1e-07,1.0,-0.0,9223372036854775808,{}]"


@case("S-VAL-14", kinds=("jsonl",))
async def text_that_came_from_a_file_is_written_by_the_same_rules(store: SessionMaker) -> None:
    """Text that the store takes from a legacy file and writes itself follows the same rules; a lone surrogate, which no
    commit takes, is written as an escape in lower case.

    If this fails, look at: an upgrade that copies the old text; an encoder that fails on lone surrogates, or replaces
    them.
    """
    parts = {"cwd": store.raw.cwd, "payload": PAYLOAD, "name": r'"\uD83Dx"', "data": DATA}
    data = V3
    for name, part in parts.items():
        data = data.replace(f"@{name}@", part)
    path = await store.plant(data.encode(), id="shed")
    session = await store.repo.open(store.raw.metadata(path))
    await session.set_value(value_address("garden.plan"), 1)
    text = path.read_text("utf-8")
    for written in (f'"message":{WRITTEN}', r'"value":"\ud83dx"', f'"data":{DATA_WRITTEN}'):
        expect_equal(written if written in text else text, written, of="a part of the upgraded file")
