"""The sentences every report shares: the last line of a target, a failure from verdict to likely causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forkproof.clauses import Clause
from forkproof.report.document import count
from forkproof.verdict import CaseResult, ClauseVerdict, Lane, Outcome, Status, Verdict


def last_line(verdict: Verdict) -> str:
    """The line a person and a CI job look for: `memory: CONFORMS  must 214/214  should 2/2  ...`."""
    counts = count(verdict)
    equal = "=" if verdict.planned == verdict.accounted else "!="
    parts = [
        f"{' '.join(verdict.target.name.split())}: {verdict.word}",
        *(f"{level} {counts[level]['held']}/{counts[level]['exercised']}" for level in ("must", "should")),
        *(f"{name.replace('_', ' ')} {counts[name]}" for name in ("known", "not_exercised", "not_offered", "failed")),
    ]
    if counts["kit_error"]:
        parts.append(f"kit error {counts['kit_error']}")
    parts.append(f"(planned {verdict.planned} {equal} accounted {verdict.accounted})")
    if verdict.left_out:
        parts.append(f"variants {verdict.cases:,} of {verdict.cases + verdict.left_out:,}")
    return "  ".join([*parts, f"{verdict.seconds:.1f} s"])


LOOK_AT = "If this fails, look at:"
"""What begins the likely causes in the detail of a failed case, as in the docstring of the case."""


@dataclass(frozen=True)
class Failure:
    """A failed case with the asked clauses it breaks, and what is worth looking at."""

    result: CaseResult
    clauses: tuple[Clause, ...]
    status: Status
    scored: bool

    @property
    def seen(self) -> str:
        """What the case saw, up to its likely causes: expected and seen, the last operations."""
        return self.result.detail.partition(LOOK_AT)[0].rstrip()

    @property
    def causes(self) -> str:
        """The likely causes, which a reader needs only after the reproducer; empty when the case names none."""
        return " ".join(self.result.detail.partition(LOOK_AT)[2].split())

    @property
    def headline(self) -> str:
        words = {Status.FAILS: "FAILS", Status.KNOWN: "fails, as the ledger says"}
        note = "" if self.scored else "  (shown, not scored)"
        return f"{', '.join(clause.id for clause in self.clauses)}  {words[self.status]}{note}"


def failures(verdict: Verdict) -> Iterator[Failure]:
    """Every failed case once, in contract order."""
    failed = [each for each in verdict.clauses if each.status in (Status.FAILS, Status.KNOWN)]
    results = {result.case: result for each in failed for result in each.results if result.outcome is Outcome.FAILED}
    for result in results.values():
        broken = [each for each in failed if each.clause.id in result.clauses]
        yield Failure(
            result=result,
            clauses=tuple(each.clause for each in broken),
            status=Status.FAILS if any(each.status is Status.FAILS for each in broken) else Status.KNOWN,
            scored=any(each.lane is Lane.SCORED for each in broken),
        )


def in_short(detail: str, limit: int = 160) -> str:
    """A detail on one line, for a table: what was seen, without the case's sentence that stands above it."""
    paragraphs = [part for part in detail.partition(LOOK_AT)[0].split("\n\n") if part.strip()]
    short = "; ".join(
        " ".join(line.split()) for line in "".join(paragraphs[1:2] or paragraphs[:1]).splitlines() if line.strip()
    )
    short = short.replace("differs at:; ", "differs at ")
    return short if len(short) <= limit else f"{short[: limit - 3]}..."


def notes(verdict: Verdict) -> Iterator[str]:
    """What a verdict must not keep silent about, one line each."""
    yield from (f"kit error: {line}" for line in verdict.kit_errors)
    yield from (f"ledger: {line}" for line in verdict.ledger_problems)
    should = _failing(each for each in verdict.scored if each.clause.level == "SHOULD")
    if should:
        yield f"SHOULD clauses that fail, without a part in the verdict: {should}"
    grace = f"newer than the pinned contract {verdict.target.contract}"
    for lane, why in ((Lane.GRACE, grace), (Lane.BEYOND, "beyond the public protocol")):
        shown = verdict.in_lane(lane)
        if shown:
            yield f"not scored, {why}: {len(shown)} clauses, failing {_failing(shown) or 'none'}"


def _failing(clauses: Iterable[ClauseVerdict]) -> str:
    return ", ".join(each.clause.id for each in clauses if each.status is Status.FAILS)


def not_exercised_by_reason(verdict: Verdict) -> dict[str, list[str]]:
    """The clauses nobody asked, by the reason why: it says what it would take."""
    reasons: dict[str, list[str]] = {}
    for each in verdict.with_status(Status.NOT_EXERCISED):
        reasons.setdefault(each.detail, []).append(each.clause.id)
    return reasons


def visible(text: str) -> str:
    """Text whose control characters and lone surrogates are written out: a backend must not steer a terminal."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else ascii(letter)[1:-1] for letter in text)
