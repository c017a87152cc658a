"""Mutants of the suite `jsonl_format`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class LinesEndWithCrlf(SourceLie):
    """Lie: a line ends with CR and LF."""

    kills = "S-JSONL-FMT-01"
    file = "format.py"
    line = 'return b"%b\\n" % records[0] if len(records) == 1 else b"[%b]\\n" % b",".join(records)'
    lie = 'return b"%b\\r\\n" % records[0] if len(records) == 1 else b"[%b]\\r\\n" % b",".join(records)'


class LinesHaveNoEnd(SourceLie):
    """Lie: a commit does not end its line."""

    kills = "S-JSONL-FMT-01"
    file = "storage.py"
    line = "line = transaction_line(records)"
    lie = "line = transaction_line(records)[:-1]"


class TheFileIsBehind(SourceLie):
    """Lie: the last write of a large commit is kept in memory only."""

    kills = "S-JSONL-FMT-01"
    file = "storage.py"
    line = "line = transaction_line(records)"
    lie = "line = transaction_line(records[:-1] if len(records) > 5 else records)"


class OneWriteIsAnArray(SourceLie):
    """Lie: a commit of one write is an array too."""

    kills = "S-JSONL-FMT-02"
    file = "format.py"
    line = "if len(records) == 1 else"
    lie = "if not records else"


class ALineForEachWrite(SourceLie):
    """Lie: each write of a commit has a line of its own."""

    kills = "S-JSONL-FMT-02"
    file = "format.py"
    line = 'b"[%b]\\n" % b",".join(records)'
    lie = 'b"%b\\n" % b"\\n".join(records)'


class AbsentFieldsAreNull(SourceLie):
    """Lie: the header has every optional field, null where it is absent."""

    kills = "S-JSONL-FMT-04"
    file = "headers.py"
    line = "for name, value in fields.items() if value is not None}"
    lie = "for name, value in fields.items()}"


class TheParentStandsInFront(SourceLie):
    """Lie: the parent stands in front of the time."""

    kills = "S-JSONL-FMT-04"
    file = "headers.py"
    line = '            "createdAt": self.created_at,\n'
    lie = '            "parentSessionId": self.parent_session_id,\n            "createdAt": self.created_at,\n'


class NextSeqIsAlwaysWritten(SourceLie):
    """Lie: a created file says that its next sequence is 1."""

    kills = "S-JSONL-FMT-04"
    file = "headers.py"
    line = '"nextSeq": self.next_seq,'
    lie = '"nextSeq": self.next_seq or 1,'


class ACreatedFileHasAFirstTransaction(SourceLie):
    """Lie: a created file begins with an empty transaction."""

    kills = "S-JSONL-FMT-04"
    file = "repo.py"
    line = "    line = header.line()\n"
    lie = '    line = header.line() + b"[]\\n"\n'


class AMarkIsWritten(SourceLie):
    """Lie: a written file begins with a byte-order mark."""

    kills = "S-JSONL-FMT-13"
    file = "headers.py"
    line = "return encode({name: value"
    lie = "return MARK + encode({name: value"
