"""report.html: one self-contained page, the verdict first. It loads nothing, runs no script, and escapes everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from forkproof.clauses import CONTRACT
from forkproof.report.lines import Failure, failures, in_short, last_line, not_exercised_by_reason, notes
from forkproof.verdict import ClauseVerdict, Lane, Status, Verdict

_STYLE = """
:root { color-scheme: light dark; --line: #c8c8c8; --good: #0a6b2d; --bad: #b00020; --soft: #6b4e00; --pane: #f4f4f4; }
@media (prefers-color-scheme: dark) {
  :root { --line: #444; --good: #6fd08c; --bad: #ff8a80; --soft: #e0b84c; --pane: #1e1e1e; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 0 0 1.5rem; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
th[scope=row], .status { white-space: nowrap; }
pre { background: var(--pane); padding: .8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; } .soft { color: var(--soft); }
article { border-left: .3rem solid var(--bad); padding-left: 1rem; margin: 1.5rem 0; }
.skip { position: absolute; left: -100rem; } .skip:focus { left: 1rem; }
""".strip()

_TONE = {
    Status.HOLDS: "good",
    Status.FAILS: "bad",
    Status.KIT_ERROR: "bad",
    Status.KNOWN: "soft",
    Status.NOT_EXERCISED: "soft",
    Status.NOT_OFFERED: "soft",
}


def render_html(verdicts: Sequence[Verdict]) -> str:
    """The page."""
    sections = "\n".join(_target(number, verdict) for number, verdict in enumerate(verdicts, start=1))
    title = ", ".join(f"{verdict.target.name}: {verdict.word}" for verdict in verdicts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} - forkproof</title>
<style>
{_STYLE}
</style>
</head>
<body>
<a class="skip" href="#verdict">Skip to the verdict</a>
<header><p>forkproof, contract {CONTRACT}</p></header>
<main id="verdict">
{sections}
</main>
</body>
</html>
"""


def _target(number: int, verdict: Verdict) -> str:
    name, good = escape(verdict.target.name), verdict.is_good
    parts = [
        f'<section aria-labelledby="target-{number}">',
        f'<h1 id="target-{number}" class="{"good" if good else "bad"}">{name}: {verdict.word}</h1>',
        f"<p><code>{escape(last_line(verdict))}</code></p>",
        _list(notes(verdict)),
    ]
    broken = list(failures(verdict))
    if broken:
        parts.append(f"<h2>What fails ({len(broken)} cases)</h2>")
        parts += [_broken(list(cases)) for _, cases in groupby(broken, key=lambda failure: failure.clauses)]
    parts.append("<h2>Every clause</h2>")
    areas = groupby(verdict.clauses, key=lambda each: each.clause.area)
    parts += [_area(area, list(clauses)) for area, clauses in areas]
    reasons = not_exercised_by_reason(verdict)
    if reasons:
        lines = (f"{reason}: {', '.join(ids)}" for reason, ids in reasons.items())
        parts += ["<h2>What was not exercised, and what it takes</h2>", _list(lines)]
    return "\n".join([*(part for part in parts if part), "</section>"])


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _broken(cases: Sequence[Failure]) -> str:
    """The failing cases of the same clauses, under the sentences of those."""
    sentences = "".join(
        f"<p><strong>{escape(clause.id)}</strong> {_prose(clause.statement)}</p>" for clause in cases[0].clauses
    )
    return "\n".join([f"<article><h3>{escape(cases[0].headline)}</h3>", sentences, *map(_failure, cases), "</article>"])


def _failure(failure: Failure) -> str:
    parts = [f"<p>Case <code>{escape(failure.result.case)}</code></p>", f"<pre>{escape(failure.seen)}</pre>"]
    if failure.result.reproducer:
        parts.append(f"<p>Reproducer: <code>{escape(failure.result.reproducer)}</code></p>")
    if failure.causes:
        parts.append(f"<p>Look at: {_prose(failure.causes)}</p>")
    return "\n".join(parts)


def _prose(text: str) -> str:
    """Text with code between backticks, as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _area(area: str, clauses: Sequence[ClauseVerdict]) -> str:
    held = sum(1 for each in clauses if each.status is Status.HOLDS)
    rows = "\n".join(_row(each) for each in clauses)
    return f"""<table>
<caption>{escape(area)}: {held} of {len(clauses)} hold</caption>
<thead><tr><th scope="col">Clause</th><th scope="col">Level</th><th scope="col">Statement</th>\
<th scope="col">Status</th><th scope="col">Seen</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>"""


def _row(each: ClauseVerdict) -> str:
    lane = "" if each.lane is Lane.SCORED else f" ({each.lane}, not scored)"
    return (
        f'<tr><th scope="row">{escape(each.clause.id)}</th><td>{each.clause.level}</td>'
        f"<td>{_prose(each.clause.statement)}</td>"
        f'<td class="status {_TONE[each.status]}">{each.status}{lane}</td><td>{_seen(each)}</td></tr>'
    )


def _seen(each: ClauseVerdict) -> str:
    if each.known:
        entry = each.known
        return escape(f"{entry.kind}: {entry.reason} ({entry.owner}, until {entry.expires.isoformat()})")
    if each.status is Status.HOLDS:
        return f"{len(each.results)} case{'' if len(each.results) == 1 else 's'}"
    return escape(in_short(each.detail))
