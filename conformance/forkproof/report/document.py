"""report.json: what a run came to, for programs. Schema version 1.

    forkproof_report   the schema version, first
    contract           the contract version of the kit
    targets[]          name, family, verdict, contract, kinds[], seams[], durable, selected, seconds,
                       counts, planned, accounted, left_out, kit_errors[], ledger_problems[], clauses{}, cases{}
      counts           must and should as {held, exercised}; known, not_exercised, not_offered, failed, kit_error
      clauses{id}      status, lane, level, area, statement, detail, seconds, cases[] (ids), known (or null)
      cases{id}        outcome, seconds, calls, detail, reproducer
    end                true, last: a file without it was cut

A reader that knows version 1 ignores fields it does not know; a field is removed or changes its meaning only with a
new schema version.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forkproof.clauses import CONTRACT
from forkproof.verdict import CaseResult, ClauseVerdict, Status, Verdict

SCHEMA = 1


class ReportError(Exception):
    """A file that is not a whole report of this kit; the message is one line."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


def build_document(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The report as plain JSON data."""
    return {
        "forkproof_report": SCHEMA,
        "contract": CONTRACT,
        "targets": [_target(verdict) for verdict in verdicts],
        "end": True,
    }


def render_json(verdicts: Sequence[Verdict]) -> str:
    """The text of report.json."""
    return json.dumps(build_document(verdicts), indent=1) + "\n"


def read_report(path: Path | str) -> dict[str, Any]:
    """Reads a report.json. Raises ReportError for a file that is cut, foreign, or of a newer schema."""
    place = Path(path)
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(place, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ReportError(place, "is no JSON, or was cut") from error
    version = data.get("forkproof_report") if isinstance(data, dict) else None
    if type(version) is not int:
        raise ReportError(place, "is no forkproof report")
    if version > SCHEMA:
        raise ReportError(place, f"has schema version {version}; this kit reads up to {SCHEMA}")
    if data.get("end") is not True or not isinstance(data.get("targets"), list):
        raise ReportError(place, "lacks its end mark or its targets: it was cut")
    return dict(data)


def count(verdict: Verdict) -> dict[str, Any]:
    """The counts of the scored clauses, by the names the report uses."""
    levels = {level: verdict.of_level(level.upper()) for level in ("must", "should")}
    return {
        **{level: {"held": held, "exercised": exercised} for level, (held, exercised) in levels.items()},
        "known": verdict.counts.get(Status.KNOWN, 0),
        "not_exercised": verdict.counts.get(Status.NOT_EXERCISED, 0),
        "not_offered": verdict.counts.get(Status.NOT_OFFERED, 0),
        "failed": verdict.counts.get(Status.FAILS, 0),
        "kit_error": verdict.counts.get(Status.KIT_ERROR, 0),
    }


def _target(verdict: Verdict) -> dict[str, Any]:
    target = verdict.target
    cases = {result.case: result for each in verdict.clauses for result in each.results}
    return {
        "name": target.name,
        "family": target.family,
        "verdict": verdict.word.value,
        "contract": target.contract,
        "kinds": sorted(target.kinds),
        "seams": sorted(target.seams),
        "durable": target.durable,
        "selected": verdict.selected,
        "seconds": round(verdict.seconds, 6),
        "counts": count(verdict),
        "planned": verdict.planned,
        "accounted": verdict.accounted,
        "left_out": verdict.left_out,
        "kit_errors": list(verdict.kit_errors),
        "ledger_problems": list(verdict.ledger_problems),
        "clauses": {each.clause.id: _clause(each) for each in verdict.clauses},
        "cases": {case: _case(result) for case, result in cases.items()},
    }


def _clause(each: ClauseVerdict) -> dict[str, Any]:
    known = each.known and {
        "kind": each.known.kind.value,
        "reason": each.known.reason,
        "owner": each.known.owner,
        "expires": each.known.expires.isoformat(),
    }
    return {
        "status": each.status.value,
        "lane": each.lane.value,
        "level": each.clause.level,
        "area": each.clause.area,
        "statement": each.clause.statement,
        "detail": each.detail,
        "seconds": round(each.seconds, 6),
        "cases": [result.case for result in each.results],
        "known": known,
    }


def _case(result: CaseResult) -> dict[str, Any]:
    fields = result.to_json()
    del fields["case"], fields["clauses"]
    return fields
