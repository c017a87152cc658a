"""What a text may hold: the one check for lone surrogates and U+0000."""

from __future__ import annotations


def has_lone_surrogate(text: str) -> bool:
    """Whether the text holds a code point that no UTF-8 file can hold."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def text_fault(text: object, *, allow_nul: bool) -> str | None:
    """Why this is not acceptable text, worded as the end of a sentence, or None if it is.

    >>> text_fault("a\\x00b", allow_nul=False)
    'holds U+0000'
    """
    if type(text) is not str:
        return "is not a string"
    if not allow_nul and "\0" in text:
        return "holds U+0000"
    if has_lone_surrogate(text):
        return "holds a lone surrogate"
    return None
