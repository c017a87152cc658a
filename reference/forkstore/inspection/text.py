"""An inspection as text, for a person at a terminal.

Names and ids come out of the file, so they are shown with escapes for all that a terminal would act on, and cut when
they are long. Long tables are cut too; the JSON document has everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final, TypeVar

from .facts import Contents, DeadRecords, Inspection
from .findings import Findings

_Item = TypeVar("_Item")
_MOST_ROWS: Final = 40
_LONGEST_NAME: Final = 60
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def text_of(inspection: Inspection) -> str:
    """The report, lines without trailing blanks."""
    lines = [shown(inspection.path, longest=None)]
    lines += _aligned([*_of_the_file(inspection), *_of_the_session(inspection)])
    if inspection.contents is not None:
        lines += _tables(inspection.contents)
    lines += ["", *_findings(inspection.findings)]
    return "\n".join(line.rstrip() for line in lines)


def shown(text: str, longest: int | None = _LONGEST_NAME) -> str:
    """A text out of a file, on one line: quoted when something in it needs an escape, cut when it is too long."""
    rest = "" if longest is None or len(text) <= longest else "…"
    text = text if longest is None else text[:longest]
    is_plain = text.isprintable() and text.strip() == text and text
    return (text if is_plain else repr(text)) + rest


def _of_the_file(inspection: Inspection) -> Iterator[tuple[str, str]]:
    yield "format", _format(inspection)
    yield "size", _count(inspection.size, "byte")
    if inspection.lines is not None:
        largest = inspection.largest_line
        details = f", the largest is line {largest[0]} with {_count(largest[1], 'byte')}" if largest else ""
        yield "lines", f"{inspection.lines:,}{details}"
        yield "torn tail", _count(inspection.torn_tail, "byte") if inspection.torn_tail else "none"


def _format(inspection: Inspection) -> str:
    if inspection.format is None:
        return "not known"
    name = "legacy v3" if inspection.is_legacy else str(inspection.format)
    version = inspection.storage_version
    return name if version is None else f"{name}, storage version {version}"


def _of_the_session(inspection: Inspection) -> Iterator[tuple[str, str]]:
    header, contents = inspection.header, inspection.contents
    if header is not None:
        yield "id", shown(header.id)
        yield "cwd", shown(header.cwd)
        yield "created", _time(header.created_at)
        parent, path = header.parent_session_id, header.legacy_parent_session_path
        if parent is not None:
            yield "parent", shown(parent)
        if path is not None:
            yield "parent file", shown(path)
        if parent is None and path is None:
            yield "parent", "none"
    if contents is not None:
        yield from _of_the_contents(contents)
        yield "records", _records(inspection, contents)
        yield "usage", _usage(inspection, contents)
        yield "tree fork", _tree_fork(inspection, contents)


def _of_the_contents(contents: Contents) -> Iterator[tuple[str, str]]:
    yield "next sequence", str(contents.next_seq)
    types = _joined([f"{shown(name)} {count:,}" for name, count in contents.entries_by_type.items()])
    yield "entries", f"{contents.entries:,}{f': {types}' if types else ''}"
    yield "tree", f"{_count(contents.roots, 'root')}, {contents.unreachable:,} on the path of no branch"
    yield "messages", f"{contents.messages:,}"


def _usage(inspection: Inspection, contents: Contents) -> str:
    ledger = "in the records" if inspection.is_legacy else _count(contents.usage_rows, "row")
    usage = contents.usage
    numbers = {name: value for name, value in usage.items() if name != "cost"} | {"cost": usage["cost"]["total"]}
    return f"{ledger}: " + ", ".join(f"{name} {_number(value)}" for name, value in numbers.items())


def _number(value: float) -> str:
    return f"{value:,.15g}" if isinstance(value, float) else f"{value:,}"


def _records(inspection: Inspection, contents: Contents) -> str:
    if inspection.is_legacy:
        return f"{contents.records:,}, of them {contents.discarded:,} become no entry"
    return f"{contents.records:,}, of them dead {_dead(contents.dead)}"


def _dead(dead: DeadRecords) -> str:
    parts = [
        (dead.superseded_sets, "superseded set"),
        (dead.deleted_rows, "deleted row"),
        (dead.deletes, "delete"),
    ]
    named = ", ".join(_count(count, what) for count, what in parts if count)
    return f"{dead.total:,}{f': {named}' if named else ''}"


def _tree_fork(inspection: Inspection, contents: Contents) -> str:
    if not inspection.opens:
        return "no, the file does not open"
    if not contents.undeclared:
        return "yes"
    named = _joined([f"{kind} rows in {shown(namespace)}" for namespace, kind in contents.undeclared])
    return f"no, for no fork rule is declared for {named}"


def _tables(contents: Contents) -> Iterator[str]:
    branches = [
        (
            shown(branch.name),
            "lane" if branch.is_lane else "data-only",
            _count(branch.entries, "entry", "entries"),
            "no tip" if branch.tip is None else f"tip {shown(branch.tip)}",
        )
        for branch in contents.branches[:_MOST_ROWS]
    ]
    yield from _table("branches", branches, len(contents.branches))
    scalars = [(shown(namespace), f"{count:,}") for namespace, count in _first(contents.scalars.items())]
    yield from _table("scalars", scalars, len(contents.scalars))
    lists = [
        (shown(namespace), _count(found.lists, "list"), _count(found.elements, "element"))
        for namespace, found in _first(contents.lists.items())
    ]
    yield from _table("lists", lists, len(contents.lists))


def _table(title: str, rows: Sequence[tuple[str, ...]], total: int) -> Iterator[str]:
    if rows:
        yield ""
        yield title
        yield from _aligned(rows)
        if total > len(rows):
            yield f"  and {total - len(rows):,} more; --json has them all"


def _findings(findings: Findings) -> Iterator[str]:
    if not findings.errors + findings.notes:
        yield "no findings"
        return
    counts = [(findings.errors, "error"), (findings.notes, "note")]
    yield ", ".join(_count(count, what) for count, what in counts if count)
    yield from _aligned(
        (finding.severity, "" if finding.line is None else f"line {finding.line}", _on_one_line(finding.reason))
        for finding in findings.in_order()
    )
    if findings.omitted:
        yield f"  and {findings.omitted:,} more"


def _on_one_line(reason: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in reason)


def _aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows of cells below each other, two blanks between them; the last cell is as long as it likes."""
    rows = [*rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))


def _first(items: Iterable[_Item]) -> list[_Item]:
    return [*islice(items, _MOST_ROWS)]


def _joined(parts: list[str]) -> str:
    more = len(parts) - _MOST_ROWS
    return ", ".join(parts[:_MOST_ROWS]) + (f" and {more:,} more" if more > 0 else "")


def _count(count: int, what: str, several: str | None = None) -> str:
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def _time(time_ms: int) -> str:
    try:
        time = _EPOCH + timedelta(milliseconds=time_ms)
    except OverflowError:
        return f"{time_ms:,} milliseconds after 1970"
    return time.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
