"""Mutants of the suite `jsonl_names`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

NAMED = 'return f"{encoded_session_id(session_id)}{SUFFIX}"'


class AllLeadingSeparatorsAreDropped(SourceLie):
    """Lie: a cwd loses all of its leading separators."""

    kills = "S-JSONL-FMT-14"
    file = "naming.py"
    line = 'rest = cwd[1:] if cwd[:1] in ("/", "\\\\") else cwd'
    lie = 'rest = cwd.lstrip("/\\\\")'


class ColonsStay(SourceLie):
    """Lie: a colon in a cwd stays what it is."""

    kills = "S-JSONL-FMT-14"
    file = "naming.py"
    line = '"\\\\": "-", ":": "-"})'
    lie = '"\\\\": "-"})'


class ALeadingBackslashIsADash(SourceLie):
    """Lie: only a leading slash is dropped."""

    kills = "S-JSONL-FMT-14"
    file = "naming.py"
    line = 'if cwd[:1] in ("/", "\\\\") else cwd'
    lie = 'if cwd[:1] == "/" else cwd'


class MillisecondsHaveNoLeadingZeros(SourceLie):
    """Lie: the milliseconds in a name have the digits that they need."""

    kills = "S-JSONL-FMT-14"
    file = "naming.py"
    line = "{rest % 1000:03}"
    lie = "{rest % 1000}"


class TimesAreCutToSeconds(SourceLie):
    """Lie: the time in a name is a whole second."""

    kills = "S-JSONL-FMT-14"
    file = "naming.py"
    line = "{rest % 1000:03}"
    lie = "000"


class TildesAreEncoded(SourceLie):
    """Lie: `~` is no safe character of an id."""

    kills = "S-JSONL-FMT-14"
    file = "naming.py"
    line = NAMED
    lie = f'{NAMED}.replace("~", "%7E")'


class HexadecimalIsInLowerCase(SourceLie):
    """Lie: the bytes of a letter are encoded in lower case."""

    kills = "S-JSONL-FMT-14"
    file = "naming.py"
    line = NAMED
    lie = f'{NAMED}.replace("%C3%BC", "%c3%bc")'


class IdsAreNormalized(SourceLie):
    """Lie: an id is named in composed form."""

    kills = "S-JSONL-FMT-14"
    file = "naming.py"
    line = NAMED
    lie = f'session_id = __import__("unicodedata").normalize("NFC", session_id)\n    {NAMED}'


class AForkLiesInADirectoryOfItsOwn(SourceLie):
    """Lie: the directory of a cwd of another system is that of its absolute form."""

    kills = "S-JSONL-FMT-14"
    file = "repo.py"
    line = "            path = await self._new_path(session_id, named.cwd, created_at)\n"
    lie = "            path = await self._new_path(session_id, named.key[0], created_at)\n"
