"""Every report of a run: whole, escaped, the same verdict in each form; a cut or foreign file is refused."""

import io
import json
from datetime import date
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.clauses import Clause, Clauses
from forkproof.ledger import Kind, Ledger, LedgerEntry
from forkproof.report import ReportDirectoryError, prepare_directory, write_reports
from forkproof.report.badge import render_badge
from forkproof.report.document import ReportError, build_document, read_report, render_json
from forkproof.report.html import render_html
from forkproof.report.lines import last_line, visible
from forkproof.report.markdown import render_markdown
from forkproof.report.terminal import Terminal
from forkproof.verdict import CaseResult, Outcome, Target, judge


def clause(clause_id, area, level="MUST", **more):
    more = {"applies": ("all",), "needs": (), "since": "2026.1", **more}
    return Clause(clause_id, level, statement=f"The `sentence` of <{clause_id}>.", area=area, **more)


LISTED = [
    clause("T-A-01", "Toys & games"),
    clause("T-A-02", "Toys & games"),
    clause("T-A-03", "Toys & games", level="SHOULD"),
    clause("T-B-01", "Balls"),
    clause("T-B-02", "Balls"),
    clause("T-B-03", "Balls", needs=("clock",)),
    clause("T-B-04", "Balls", beyond=True),
]
CONTRACT = Clauses("sessions", "2026.1", "T-", ("memory",), ("clock",), {each.id: each for each in LISTED})
DETAIL = """A fork point off the branch is refused.

fork point 'unknown'
expected: EntryNotOnBranch
seen:     <nothing> | `raised`

last operations:
  1. fork

If this fails, look at: the walk starts at the entry; membership is tested against the whole tree."""


def result(clauses, outcome, detail=""):
    ids = tuple(clauses.split())
    reproducer = f"reproducers/{ids[0]}.py" if outcome is Outcome.FAILED else None
    return CaseResult(f"{ids[0]}-case", ids, outcome, 0.25, detail, 3, reproducer)


def good():
    return judge(Target("memory"), CONTRACT, [result("T-A-01 T-A-02 T-A-03 T-B-01 T-B-02", Outcome.HELD)], Ledger())


def bad():
    results = [
        result("T-A-01", Outcome.HELD),
        result("T-A-02 T-A-03", Outcome.FAILED, DETAIL),
        result("T-B-01", Outcome.FAILED, "known to be <b>broken</b>"),
        result("T-B-02", Outcome.NOT_OFFERED, "no balls here"),
    ]
    known = LedgerEntry(1, "T-B-01", Kind.LATER, "balls | come later", "kay", date(2026, 12, 31))
    stale = LedgerEntry(2, "T-A-01", Kind.BUG, "was broken", "kay", date(2026, 12, 31))
    return judge(Target("mine"), CONTRACT, results, Ledger((known, stale), on=date(2026, 6, 1)))


def test_report_json(snapshot):
    assert render_json([good(), bad()]) == snapshot


def test_report_html(snapshot):
    assert render_html([bad()]) == snapshot


def test_summary_md(snapshot):
    assert render_markdown([good(), bad()]) == snapshot


def test_badge_json(snapshot):
    assert [json.loads(render_badge(each)) for each in ([good()], [bad()], [good(), bad()])] == snapshot


def test_terminal(snapshot):
    stream = io.StringIO()
    terminal = Terminal(stream)
    judged = bad()
    for area in ("Toys & games", "Balls"):
        terminal.area(area, [each for each in judged.clauses if each.clause.area == area])
    terminal.verdict(judged)
    terminal.last_line(judged)
    assert stream.getvalue() == snapshot


def test_the_last_line_of_a_target():
    assert last_line(good()) == (
        "memory: CONFORMS  must 4/4  should 1/1  known 0  not exercised 1  not offered 0  failed 0"
        "  (planned 6 = accounted 6)  0.2 s"
    )


def test_the_last_line_says_when_the_sum_does_not_come_out():
    judged = judge(Target("mine"), CONTRACT, [result("T-A-01", Outcome.HELD)], Ledger(), planned={"gone": ("T-A-02",)})
    assert "mine: KIT ERROR  must 1/1" in last_line(judged)
    assert "(planned 6 != accounted 5)" in last_line(judged)


def test_a_report_is_read_back(tmp_path):
    prepare_directory(tmp_path / "deep" / "report")
    write_reports(tmp_path / "deep" / "report", [good(), bad()])
    directory = tmp_path / "deep" / "report"
    assert sorted(path.name for path in directory.iterdir()) == [
        "badge.json",
        "report.html",
        "report.json",
        "summary.md",
    ]
    report = read_report(directory / "report.json")
    assert report == build_document([good(), bad()])
    assert (next(iter(report)), list(report)[-1]) == ("forkproof_report", "end")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text[: len(text) // 2], "is no JSON, or was cut"),
        (lambda text: "", "is no JSON, or was cut"),
        (lambda text: "[]", "is no forkproof report"),
        (lambda text: '{"schemaVersion": 1}', "is no forkproof report"),
        (lambda text: text.replace('"forkproof_report": 1', '"forkproof_report": true'), "is no forkproof report"),
        (lambda text: text.replace('"forkproof_report": 1', '"forkproof_report": 2'), "has schema version 2"),
        (lambda text: text.replace('"end": true', '"end": false'), "lacks its end mark"),
    ],
    ids=["cut", "empty", "list", "foreign", "boolean-version", "newer", "no-end"],
)
def test_a_cut_or_foreign_report_is_refused(tmp_path, change, problem):
    path = tmp_path / "report.json"
    path.write_text(change(render_json([good()])), encoding="utf-8")
    with pytest.raises(ReportError, match=problem):
        read_report(path)


def test_a_missing_report_is_refused(tmp_path):
    with pytest.raises(ReportError, match="cannot be read"):
        read_report(tmp_path / "none.json")


def test_every_cut_of_a_report_is_refused(tmp_path):
    path, text = tmp_path / "report.json", render_json([good()])
    for size in range(0, len(text.rstrip()), 97):
        path.write_text(text[:size], encoding="utf-8")
        with pytest.raises(ReportError):
            read_report(path)


def test_a_directory_that_cannot_be_written_is_found_before_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportDirectoryError, match="cannot be written"):
        prepare_directory(tmp_path / "file" / "report")


def test_an_old_report_is_replaced_whole(tmp_path):
    (tmp_path / "report.json").write_text("x" * 100_000)
    write_reports(tmp_path, [good()])
    assert read_report(tmp_path / "report.json")["targets"][0]["verdict"] == "CONFORMS"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


class Page(HTMLParser):
    """Tags, and whether they nest."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


wild = st.text() | st.sampled_from(["<script>alert(1)</script>", "</pre>", "`````", "\x1b[31m", "\ud800", "a\u2028b"])


@given(name=wild, detail=wild)
def test_no_text_of_a_backend_gets_out_of_its_place(tmp_path_factory, name, detail):
    results = [CaseResult("T-A-01-case", ("T-A-01",), Outcome.FAILED, 0.25, detail, 3, name)]
    judged = judge(Target(name or "x"), CONTRACT, results, Ledger())
    page = Page()
    page.feed(render_html([judged]))
    assert page.open == []
    assert "script" not in page.seen
    directory = tmp_path_factory.mktemp("wild")
    write_reports(directory, [judged])
    assert read_report(directory / "report.json")["targets"][0]["cases"]["T-A-01-case"]["outcome"] == "failed"
    stream = io.StringIO()
    Terminal(stream).verdict(judged)
    Terminal(stream).last_line(judged)
    assert all(letter.isprintable() or letter in "\n\t" for letter in stream.getvalue())


def test_control_characters_are_written_out():
    assert visible("a\x1b[31mb\r\u2028\ud800é\n") == "a\\x1b[31mb\\r\\u2028\\ud800é\n"


def test_the_page_can_be_used_without_eyes_and_without_a_network():
    page = render_html([bad()])
    assert '<html lang="en">' in page
    assert "prefers-color-scheme: dark" in page
    assert "<caption>" in page
    assert 'scope="row"' in page
    for loaded in ("src=", "url(", "@import", "<link", "<script", "http:", "https:"):
        assert loaded not in page
