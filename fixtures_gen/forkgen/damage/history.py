"""Damage to what records say together: sequences, ids, parents (S-JSONL-FMT-11, S-JSONL-FMT-12, C-47)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from .changes import appended, line_changed, one_after_the_other, record_changed, record_copied, record_text
from .making import Workbench
from .records import having
from .source import Site
from .variant import Damaged

_CLAUSES = ["S-JSONL-FMT-11"]
_LAST_SEQUENCE = 2**53 - 1


def history(bench: Workbench) -> Iterator[Damaged]:
    """Every breach of sequences, ids and parents, and the odd histories that are none."""
    yield from _sequences(bench)
    yield from _ids(bench)
    yield from _parents(bench)
    yield from _parents_in_place(bench)
    yield from _odd_but_right(bench)
    yield from _faults_before_a_torn_tail(bench)


def _array(*records: bytes) -> bytes:
    return b"[" + b",".join(records) + b"]"


def _sequences(bench: Workbench) -> Iterator[Damaged]:
    last = bench.survey.last_seq
    if last:
        yield bench.corrupt_end("sequence-repeats", record_text(bench.value(seq=last)), _CLAUSES)
        yield bench.corrupt_end("sequence-starts-again", record_text(bench.value(seq=1)), _CLAUSES)
    if any(site.line == 2 for site in bench.survey.sites.values()):
        yield bench.corrupt("second-line-twice", 3, line_changed(2, lambda line: line * 2), _CLAUSES)
    if last > 1:
        yield bench.corrupt_end("sequence-falls", record_text(bench.value(seq=last - 1)), _CLAUSES)
    first, second = record_text(bench.value()), record_text(bench.value(offset=1))
    yield bench.corrupt_end("sequence-repeats-in-line", _array(first, first), _CLAUSES)
    yield bench.corrupt_end("sequence-falls-in-line", _array(second, first), _CLAUSES)
    gap = bench.value(offset=1000)
    yield bench.opens_with_record("sequence-gap", gap, ["S-JSONL-FMT-12"])
    gapped = [bench.value(), bench.value("wet", offset=7), bench.element(offset=9)]
    texts = [record_text(record) for record in gapped]
    yield bench.opens_with("sequence-gap-in-line", _array(*texts), gapped, ["S-JSONL-FMT-12"])
    yield bench.opens_with_record("sequence-last-possible", bench.value(seq=_LAST_SEQUENCE), ["S-JSONL-FMT-12"])


def _ids(bench: Workbench) -> Iterator[Damaged]:
    entry, usage, late = (bench.survey.sites.get(kind) for kind in ("entry", "usage", "late"))
    known = {"entry": entry or bench.survey.sites.get("custom"), "usage-row": usage, "late-entry": late}
    for name, site in known.items():
        if site is not None:
            taken = site.id
            again = record_text(bench.entry(id=taken))
            yield bench.corrupt_end(f"id-of-{name}-on-entry", again, _CLAUSES, "DuplicateId")
            again = record_text(bench.usage(id=taken))
            yield bench.corrupt_end(f"id-of-{name}-on-usage-row", again, _CLAUSES, "DuplicateId")
            lost = record_text(bench.entry(id=taken, parentId=_unknown(bench)))
            yield bench.corrupt_end(f"id-of-{name}-with-unknown-parent", lost, _CLAUSES, "DuplicateId")
            copied = record_copied(site, bench.survey.next_seq)
            yield bench.corrupt(f"id-of-{name}-equal-content", bench.survey.end, copied, _CLAUSES, "DuplicateId")
    first = bench.entry()
    for name, second in {"entry": bench.entry(1, id=first["id"]), "usage-row": bench.usage(1, id=first["id"])}.items():
        line = _array(record_text(first), record_text(second))
        yield bench.corrupt_end(f"id-twice-in-line-{name}", line, _CLAUSES, "DuplicateId")


def _unknown(bench: Workbench) -> str:
    return f"damage-{bench.survey.next_seq}-nobody"


def _parents(bench: Workbench) -> Iterator[Damaged]:
    child = bench.entry()
    later = bench.entry(1)
    orphans = {
        "parent-unknown": [child | {"parentId": _unknown(bench)}],
        "parent-self": [child | {"parentId": child["id"]}],
        "parent-later-in-line": [child | {"parentId": later["id"]}, later],
        "parents-in-cycle": [child | {"parentId": later["id"]}, later | {"parentId": child["id"]}],
        "parent-usage-row-in-line": [bench.usage(), later | {"parentId": bench.usage()["id"]}],
        "parent-unknown-in-line": [bench.usage(), later | {"parentId": _unknown(bench)}],
    }
    for name, records in orphans.items():
        line = record_text(records[0]) if len(records) == 1 else _array(*map(record_text, records))
        yield bench.corrupt_end(name, line, _CLAUSES, "UnknownParent")
    row = bench.survey.sites.get("usage")
    if row is not None:
        orphan = record_text(child | {"parentId": row.id})
        yield bench.corrupt_end("parent-usage-row", orphan, _CLAUSES, "UnknownParent")
    forward = [record_text(child | {"parentId": later["id"]}) + b"\n", record_text(later) + b"\n"]
    yield bench.corrupt("parent-forward", bench.survey.end, appended(*forward), _CLAUSES, "UnknownParent")
    cycle = [forward[0], record_text(later | {"parentId": child["id"]}) + b"\n"]
    yield bench.corrupt("parents-in-cycle-over-lines", bench.survey.end, appended(*cycle), _CLAUSES, "UnknownParent")


def _parents_in_place(bench: Workbench) -> Iterator[Damaged]:
    """Wrong parents where whole lines follow, or where the good file itself has the later entry."""
    sites = bench.survey.sites
    child, late = sites.get("child"), sites.get("late")
    first = _first_entry(bench)
    if child is not None:
        yield _reparented(bench, "parent-lost", child, _unknown(bench))
        yield _reparented(bench, "parent-becomes-self", child, child.id)
    if first is not None and late is not None and late.seq > first.seq:
        yield _reparented(bench, "parent-forward-to-end", first, late.id)


def _first_entry(bench: Workbench) -> Site | None:
    kinds = ("entry", "custom")
    found = [site for kind in kinds if (site := bench.survey.sites.get(kind)) is not None]
    return min(found, key=lambda site: site.seq, default=None)


def _reparented(bench: Workbench, name: str, site: Site, parent: str) -> Damaged:
    changed = record_changed(site, partial(having, {"parentId": parent}))
    return bench.corrupt(name, site.line, changed, _CLAUSES, "UnknownParent")


def _odd_but_right(bench: Workbench) -> Iterator[Damaged]:
    yield bench.opens_with_record("one-more-root", bench.entry(), ["S-JSONL-FMT-11"])
    family = [bench.entry(), bench.entry(1, parentId=bench.entry()["id"]), bench.custom(2)]
    yield bench.opens_with("parent-earlier-in-line", _array(*map(record_text, family)), family, ["S-JSONL-FMT-11"])
    yield bench.opens_with_record(
        "usage-row-of-unknown-entry", bench.usage(entryId=_unknown(bench)), ["S-ENT-07", "S-JSONL-FMT-11"]
    )


def _faults_before_a_torn_tail(bench: Workbench) -> Iterator[Damaged]:
    """The tail stays when anything before it is refused (S-JSONL-TAIL-03)."""
    tail = appended(record_text(bench.value(offset=1))[:-1])
    clauses = ["S-JSONL-TAIL-03", "S-JSONL-FMT-10"]
    broken = one_after_the_other(appended(b"{]\n"), tail)
    yield bench.corrupt("broken-line-before-torn-tail", bench.survey.end, broken, clauses)
    orphan = record_text(bench.entry(parentId=_unknown(bench))) + b"\n"
    lost = one_after_the_other(appended(orphan), tail)
    yield bench.corrupt("unknown-parent-before-torn-tail", bench.survey.end, lost, clauses, "UnknownParent")
    if bench.survey.line_count > 1:
        early = one_after_the_other(line_changed(2, lambda line: b"z" + line[1:]), tail)
        yield bench.corrupt("broken-second-line-before-torn-tail", 2, early, clauses)
