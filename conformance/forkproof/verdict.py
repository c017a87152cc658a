"""From case results to a verdict: what each clause came to, and whether every planned clause is accounted for.

A clause fails when one of its cases failed, holds when at least one held and none failed, and is otherwise said to be
not exercised, not offered or a kit error, each with a reason. Nothing here knows a backend, pytest or the terminal:
the command line and the pytest plugin hand in the same values and get the same verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from forkproof.clauses import CONTRACT, Clause, Clauses, ClausesError, load, parse_version
from forkproof.ledger import Ledger, LedgerEntry

PLACES = ("sessions_root", "database_directory", "database_path")
"""The facts of a harness that say where its store's files are."""


class Outcome(StrEnum):
    """What one case came to."""

    HELD = "held"
    FAILED = "failed"
    NOT_EXERCISED = "not exercised"
    NOT_OFFERED = "not offered"
    KIT_ERROR = "kit error"


class Status(StrEnum):
    """What one clause came to."""

    HOLDS = "holds"
    FAILS = "fails"
    KNOWN = "known failure"
    NOT_EXERCISED = "not exercised"
    NOT_OFFERED = "not offered"
    KIT_ERROR = "kit error"


class Lane(StrEnum):
    """Whether a clause counts: only the scored lane makes the verdict, the other two are shown."""

    SCORED = "scored"
    GRACE = "grace"
    BEYOND = "beyond"


class Word(StrEnum):
    """The verdict in a word, or a few: a store with known broken MUST clauses does not simply conform."""

    CONFORMS = "CONFORMS"
    KNOWN_FAILURES = "CONFORMS BUT FOR KNOWN FAILURES"
    DOES_NOT_CONFORM = "DOES NOT CONFORM"
    NOTHING_EXERCISED = "NOTHING EXERCISED"
    PARTIAL = "PARTIAL"
    KIT_ERROR = "KIT ERROR"


class TargetError(ValueError):
    """A harness whose facts cannot be used, or a target that cannot be found; the message is one line."""


@dataclass(frozen=True)
class CaseResult:
    """What came of one bound case; `to_json` makes it travel in pytest reports and between xdist workers."""

    case: str
    clauses: tuple[str, ...]
    outcome: Outcome
    seconds: float
    detail: str
    calls: int
    reproducer: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "clauses": list(self.clauses),
            "outcome": self.outcome.value,
            "seconds": self.seconds,
            "detail": self.detail,
            "calls": self.calls,
            "reproducer": self.reproducer,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CaseResult:
        return cls(
            case=data["case"],
            clauses=tuple(data["clauses"]),
            outcome=Outcome(data["outcome"]),
            seconds=data["seconds"],
            detail=data["detail"],
            calls=data["calls"],
            reproducer=data["reproducer"],
        )


@dataclass(frozen=True)
class Target:
    """The facts of a harness that scoring needs."""

    name: str
    family: str = "sessions"
    kinds: frozenset[str] = frozenset()
    seams: frozenset[str] = frozenset()
    durable: bool = False
    contract: str = CONTRACT
    beyond: bool = False

    @classmethod
    def of(cls, harness: object, name: str | None = None) -> Target:
        """Reads the facts of a harness; what a duck-typed harness leaves out takes the defaults above.

        Raises TargetError when an attribute has the wrong type or names what the contract does not know, or when the
        pinned contract is not a version of this kit.
        """
        target = cls(
            name=name or _fact(harness, "name", str, "") or type(harness).__name__,
            family=_fact(harness, "family", str, "sessions"),
            kinds=_names(harness, "kinds"),
            seams=_names(harness, "seams"),
            durable=_fact(harness, "durable", bool, False),
            contract=_fact(harness, "contract", str, CONTRACT),
            beyond=_fact(harness, "beyond", bool, False),
        )
        if not isinstance(cwd := getattr(harness, "cwd", None), str | None):
            raise TargetError(f"{type(harness).__name__}.cwd must be a str or None, is {cwd!r}")
        target._check_places(harness)
        try:
            newer = parse_version(target.contract) > parse_version(CONTRACT)
        except ValueError:
            raise TargetError(f"{target.name}: contract {target.contract!r} is no version such as {CONTRACT}") from None
        if newer:
            raise TargetError(f"{target.name}: contract {target.contract} is newer than this kit's, {CONTRACT}")
        target._check_names()
        return target

    def _check_places(self, harness: object) -> None:
        """Without its place no case could find the files that the seam `raw-files` promises."""
        kind = type(harness).__name__
        places = {name: getattr(harness, name, None) for name in PLACES}
        for name, place in places.items():
            if not isinstance(place, Path | None):
                raise TargetError(f"{kind}.{name} must be a Path or None, is {place!r}")
            if place is not None and not place.is_absolute():
                raise TargetError(f"{kind}.{name} must be absolute, is {str(place)!r}")
        if "raw-files" not in self.seams:
            return
        if places["sessions_root"] is None and "jsonl" in self.kinds:
            raise TargetError(
                f"{self.name}: offers the seam raw-files, so {kind}.sessions_root must name the "
                "directory that holds the session directories"
            )
        if "sqlite" in self.kinds and (places["database_directory"] is None) is (places["database_path"] is None):
            raise TargetError(
                f"{self.name}: offers the seam raw-files, so {kind}.database_directory must name the directory of "
                f"the databases, or {kind}.database_path the one database, not both"
            )

    def _check_names(self) -> None:
        """A misspelt seam would silently leave its clauses unasked."""
        try:
            clauses = load(self.family)
        except ClausesError as error:
            raise TargetError(str(error)) from None
        for what, names, known in (("kinds", self.kinds, clauses.kinds), ("seams", self.seams, clauses.seams)):
            unknown = sorted(names.difference(known))
            if unknown:
                raise TargetError(f"{self.name}: {what}: unknown {', '.join(unknown)}; known are {', '.join(known)}")

    def is_asked(self, clause: Clause) -> bool:
        """Whether the clause applies to this target at all (spec 1.3)."""
        return "all" in clause.applies or bool(self.kinds & set(clause.applies)) or (self.durable and clause.durable)

    def lane(self, clause: Clause) -> Lane:
        if parse_version(clause.since) > parse_version(self.contract):
            return Lane.GRACE
        return Lane.BEYOND if clause.beyond and not self.beyond else Lane.SCORED

    def missing_seams(self, needs: Iterable[str]) -> tuple[str, ...]:
        return tuple(seam for seam in needs if seam not in self.seams and seam != "code")


@dataclass(frozen=True)
class ClauseVerdict:
    """One clause of a run: its status, why, and the cases that say so."""

    clause: Clause
    status: Status
    lane: Lane
    detail: str = ""
    results: tuple[CaseResult, ...] = ()
    known: LedgerEntry | None = None

    @property
    def seconds(self) -> float:
        return sum(result.seconds for result in self.results)


@dataclass(frozen=True)
class Verdict:
    """What a run against one target came to."""

    target: Target
    word: Word
    clauses: tuple[ClauseVerdict, ...]
    planned: int
    accounted: int
    seconds: float
    kit_errors: tuple[str, ...] = ()
    ledger_problems: tuple[str, ...] = ()
    selected: bool = False
    counts: Mapping[Status, int] = field(default_factory=dict)
    cases: int = 0
    """How many variants of cases gave a result."""
    left_out: int = 0
    """How many more the run was told to leave out."""

    def of_level(self, level: str) -> tuple[int, int]:
        """(held, exercised) of the scored clauses of one level."""
        statuses = [each.status for each in self.scored if each.clause.level == level]
        exercised = [status for status in statuses if status in _EXERCISED]
        return exercised.count(Status.HOLDS), len(exercised)

    @property
    def scored(self) -> tuple[ClauseVerdict, ...]:
        return self.in_lane(Lane.SCORED)

    def in_lane(self, lane: Lane) -> tuple[ClauseVerdict, ...]:
        return tuple(each for each in self.clauses if each.lane is lane)

    def with_status(self, status: Status) -> tuple[ClauseVerdict, ...]:
        return tuple(each for each in self.clauses if each.status is status)

    @property
    def exit_code(self) -> int:
        """0 conforms, 1 red, 3 nothing exercised; 2 is for bad input and never comes from a verdict."""
        if self.word is Word.NOTHING_EXERCISED:
            return 3
        return 0 if self.is_good else 1

    @property
    def is_good(self) -> bool:
        """Whether nothing is red: everything asked holds or is known to fail."""
        return self.word in (Word.CONFORMS, Word.KNOWN_FAILURES, Word.PARTIAL)


_EXERCISED = (Status.HOLDS, Status.FAILS, Status.KNOWN, Status.KIT_ERROR)


def judge(
    target: Target,
    clauses: Clauses,
    results: Iterable[CaseResult],
    ledger: Ledger,
    *,
    selection: Collection[str] | None = None,
    planned: Mapping[str, Sequence[str]] | None = None,
    left_out: int = 0,
) -> Verdict:
    """Judges one run.

    `selection` is the set of clause ids that were to be asked, None for all. `planned` maps every case id that was to
    run to its clauses: a case that gave no result leaves its clauses unaccounted, and the run fails. `left_out` is the
    number of variants that were not to run, for the reports to say.
    """
    found = list(results)
    asked = [clause for clause in clauses if target.is_asked(clause) and (selection is None or clause.id in selection)]
    lost = {case: ids for case, ids in (planned or {}).items() if case not in {result.case for result in found}}
    by_clause: dict[str, list[CaseResult]] = {}
    for result in found:
        for clause_id in result.clauses:
            by_clause.setdefault(clause_id, []).append(result)
    verdicts = tuple(_judge_clause(target, clause, by_clause.get(clause.id, ()), ledger) for clause in asked)
    scored = [each for each in verdicts if each.lane is Lane.SCORED]
    unaccounted = {clause_id for ids in lost.values() for clause_id in ids}
    kit_errors = (*_kit_errors(clauses, found), *(f"{case}: was planned and gave no result" for case in lost))
    statuses = {each.clause.id: each.status.value for each in verdicts}
    problems = ledger.problems(target.name, clauses, statuses, selection)
    return Verdict(
        target=target,
        word=_word(scored, bool(kit_errors), bool(problems), selection is not None),
        clauses=verdicts,
        planned=len(scored),
        accounted=sum(1 for each in scored if each.clause.id not in unaccounted),
        seconds=sum(result.seconds for result in found),
        kit_errors=kit_errors,
        ledger_problems=problems,
        selected=selection is not None,
        counts=Counter(each.status for each in scored),
        cases=len(found),
        left_out=left_out,
    )


def _judge_clause(target: Target, clause: Clause, results: Sequence[CaseResult], ledger: Ledger) -> ClauseVerdict:
    status, detail, known = _status(results), "", None
    if status is Status.FAILS:
        entry = ledger.entry_for(target.name, clause.id)
        if entry and not ledger.is_expired(entry):
            status, known = Status.KNOWN, entry
    if status in (Status.FAILS, Status.KNOWN):
        detail = _first_detail(results, Outcome.FAILED)
    elif status is Status.NOT_EXERCISED:
        detail = _first_detail(results, Outcome.NOT_EXERCISED) or reason_not_exercised(target, clause)
    elif status is not Status.HOLDS:
        detail = _first_detail(results, Outcome(status.value))
    return ClauseVerdict(clause, status, target.lane(clause), detail, tuple(results), known)


def _status(results: Sequence[CaseResult]) -> Status:
    outcomes = {result.outcome for result in results}
    for outcome, status in _BY_WEIGHT:
        if outcome in outcomes:
            return status
    return Status.NOT_EXERCISED


_BY_WEIGHT = (
    (Outcome.FAILED, Status.FAILS),
    (Outcome.KIT_ERROR, Status.KIT_ERROR),
    (Outcome.HELD, Status.HOLDS),
    (Outcome.NOT_OFFERED, Status.NOT_OFFERED),
)


def reason_not_exercised(target: Target, clause: Clause) -> str:
    """Why no case asked the clause: what the harness lacks first, because its author can change that."""
    missing = target.missing_seams(clause.needs)
    if missing:
        return f"needs the seam{'s' if len(missing) > 1 else ''} {', '.join(missing)}, not offered by the harness"
    if clause.proven_by or "code" in clause.needs:
        return "asked of the reference only, by a test of its own"
    return clause.reason or "no case asks it"


def _first_detail(results: Sequence[CaseResult], outcome: Outcome) -> str:
    return next((result.detail for result in results if result.outcome is outcome and result.detail), "")


def _kit_errors(clauses: Clauses, found: Sequence[CaseResult]) -> Iterable[str]:
    for result in found:
        unknown = [clause_id for clause_id in result.clauses if clause_id not in clauses]
        if unknown or not result.clauses:
            yield f"{result.case}: names {', '.join(unknown) or 'no clause'}, which the contract does not know"
        if result.outcome is Outcome.KIT_ERROR:
            yield f"{result.case}: {result.detail}"
    for case, times in Counter(result.case for result in found).items():
        if times > 1:
            yield f"{case}: gave {times} results in one run"


def _word(scored: Sequence[ClauseVerdict], kit_error: bool, ledger_red: bool, selected: bool) -> Word:
    if kit_error:
        return Word.KIT_ERROR
    if not any(each.status in _EXERCISED for each in scored):
        return Word.NOTHING_EXERCISED
    must = {each.status for each in scored if each.clause.level == "MUST"}
    if ledger_red or Status.FAILS in must:
        return Word.DOES_NOT_CONFORM
    if selected:
        return Word.PARTIAL
    return Word.KNOWN_FAILURES if Status.KNOWN in must else Word.CONFORMS


def _fact(harness: object, name: str, kind: type, default: Any) -> Any:
    value = getattr(harness, name, default)
    if not isinstance(value, kind):
        raise TargetError(f"{type(harness).__name__}.{name} must be a {kind.__name__}, is {value!r}")
    return value


def _names(harness: object, name: str) -> frozenset[str]:
    value = getattr(harness, name, ())
    if isinstance(value, str) or not isinstance(value, Iterable) or not all(isinstance(each, str) for each in value):
        raise TargetError(f"{type(harness).__name__}.{name} must be a set of names, is {value!r}")
    return frozenset(value)
