"""The JSON text of what a legacy file says: the store writes it, so it has the form of section 6.1 (S-VAL-14)."""

from __future__ import annotations

import json
from typing import Final

from forkstore.contract.codec import DEEPEST_READ, encode
from forkstore.contract.errors import InvalidValue
from forkstore.contract.records import Json, Record

_write_as_read: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode


def json_text(value: Json) -> bytes:
    """The text of a value out of a line; lone surrogates and large integers stay what they are (S-VAL-16)."""
    try:
        return encode(value, "legacy record", DEEPEST_READ)
    except InvalidValue:
        # A commit would refuse it. The error handler writes a lone surrogate, and nothing else, as `\udxxx`.
        return _write_as_read(value).encode("utf-8", "backslashreplace")


def field_texts(fields: Record, *names: str) -> dict[str, bytes]:
    """The texts of those of the named fields that are there, in the order of the names."""
    return {name: json_text(fields[name]) for name in names if name in fields}
