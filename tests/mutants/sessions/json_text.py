"""Mutants of the suite `json_text`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

VALUE = """b',"value":%b}' % text)"""


class SlashesAreEscaped(SourceLie):
    """Lie: a slash in a value is escaped."""

    kills = "S-VAL-14"
    file = "format.py"
    line = VALUE
    lie = """b',"value":%b}' % text.replace(b"/", b"\\\\/"))"""


class ExponentsHaveNoSign(SourceLie):
    """Lie: the exponent of a float has no sign."""

    kills = "S-VAL-14"
    file = "format.py"
    line = VALUE
    lie = """b',"value":%b}' % text.replace(b"e+", b"e"))"""


class SpacesStandBetweenMembers(SourceLie):
    """Lie: a space stands behind each comma of an entry."""

    kills = "S-VAL-14"
    file = "format.py"
    line = "% (entry.text[1:-1], seq, timestamp)"
    lie = "% (entry.text[1:-1].replace(b',\"', b', \"'), seq, timestamp)"


class AddressesAreAscii(SourceLie):
    """Lie: letters of an address beyond ASCII are escaped."""

    kills = "S-VAL-14"
    file = "format.py"
    line = "_name_text = msgspec.json.Encoder().encode"
    lie = '_name_text = lambda text: __import__("json").dumps(text).encode()'


class HeadersAreAscii(SourceLie):
    """Lie: letters of the header beyond ASCII are escaped."""

    kills = "S-VAL-14"
    file = "headers.py"
    line = 'return encode({name: value for name, value in fields.items() if value is not None}, "header") + b"\\n"'
    lie = """import json
        there = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(there, separators=(",", ":")).encode() + b"\\n\""""


class SurrogatesAreOverwritten(SourceLie):
    """Lie: an upgrade writes another letter in the place of a lone surrogate."""

    kills = "S-VAL-14"
    file = "legacy/writing.py"
    line = 'return _write_as_read(value).encode("utf-8", "backslashreplace")'
    lie = 'return _write_as_read(value).encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()'


class SurrogatesAreInUpperCase(SourceLie):
    """Lie: a lone surrogate is written in upper case."""

    kills = "S-VAL-14"
    file = "legacy/writing.py"
    line = 'return _write_as_read(value).encode("utf-8", "backslashreplace")'
    lie = 'return _write_as_read(value).encode("utf-8", "backslashreplace").replace(b"\\\\ud8", b"\\\\uD8")'
