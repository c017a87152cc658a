"""The command `forkproof`: check a backend, read the clauses, write a known-failures ledger.

Exit codes: 0 conforms; 1 does not conform, a red ledger, or a kit error; 2 bad usage or input; 3 nothing exercised or
target unreachable; 130 interrupted. What goes wrong is one line on stderr; `--debug` adds the traceback.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from datetime import date, timedelta
from importlib.metadata import version
from pathlib import Path

from forkproof.clauses import CONTRACT, ClausesError
from forkproof.commands import UsageError
from forkproof.ledger import LedgerError, today
from forkproof.report import ReportDirectoryError
from forkproof.verdict import TargetError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # An ASCII terminal shows a letter it lacks as an escape; it must not end the run.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        code: int = arguments.command(arguments)
    except KeyboardInterrupt:
        return _say("interrupted", 130, arguments.debug)
    except SystemExit as error:
        # A backend that ends the process must not choose the exit code: 0 would pass for a verdict.
        return _say(f"the run was ended by what it ran: SystemExit: {error.code}", 1, arguments.debug)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; closing stderr too keeps the interpreter from complaining at exit.
        sys.stderr.close()
        return 1
    except OSError as error:
        # A full disk or device is no verdict on anybody.
        return _say(f"output or temporary files failed: {error}", 3, arguments.debug)
    except (UsageError, TargetError, LedgerError, ClausesError, ReportDirectoryError) as error:
        return _say(str(error), 2, arguments.debug)
    return code


def _say(line: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"forkproof: {line}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="forkproof", description="Proves that a storage backend forks right.")
    parser.add_argument("--version", action="version", version=f"forkproof {version('forkproof')}, contract {CONTRACT}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--debug", action="store_true", help="show the traceback of what goes wrong")
    shared.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    running = argparse.ArgumentParser(add_help=False, parents=[shared])
    running.add_argument("--slow", type=_factor, default=1.0, metavar="X", help="multiply every time-out by X")
    running.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="share the cases among N processes; default: 1"
    )

    check = commands.add_parser("check", parents=[running], help="run the contract against backends")
    check.add_argument("targets", nargs="+", metavar="TARGET", help="a registered backend, or package.module:Class")
    check.add_argument(
        "--only", type=_prefix, action="append", default=[], metavar="PREFIX", help="only clauses or cases of this id"
    )
    check.add_argument(
        "--breadth", type=_count, metavar="N", help="at most N variants of each case, for a short run; default: all"
    )
    check.add_argument("--report", type=Path, metavar="DIR", help="write the reports of the run here")
    check.add_argument("--ledger", type=Path, metavar="FILE", help="known failures; default: this project's")
    check.set_defaults(command=_check)

    ledger = commands.add_parser("ledger", parents=[running], help="write today's failures as a ledger, for editing")
    ledger.add_argument("target", metavar="TARGET")
    ledger.add_argument("--owner", required=True, help="who answers for the entries")
    ledger.add_argument("--expires", type=_day, metavar="DATE", help="last day they are accepted; default: in 30 days")
    ledger.set_defaults(command=_ledger)

    clauses = commands.add_parser("clauses", parents=[shared], help="list the clauses of the contract")
    clauses.add_argument("--area", type=_prefix, metavar="PREFIX", help="only ids that begin so, such as S-FORK")
    clauses.add_argument("--missing", action="store_true", help="only clauses without a case, each with the reason")
    clauses.add_argument("--format", choices=("table", "json", "md"), default="table")
    clauses.set_defaults(command=_clauses)

    explain = commands.add_parser("explain", parents=[shared], help="say everything about one clause")
    explain.add_argument("clause", metavar="ID")
    explain.set_defaults(command=_explain)
    return parser


def _factor(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, is {text}")
    return value


def _prefix(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be blank")
    return text


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, is {text}")
    return int(text)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a date such as 2026-12-31, is {text}") from None


# The commands import what they need: `forkproof --help` and a mistyped target must not wait for the suites.


def _check(arguments: argparse.Namespace) -> int:
    from forkproof.commands.check import check

    return check(
        arguments.targets,
        only=arguments.only,
        report=arguments.report,
        ledger=arguments.ledger,
        slow=arguments.slow,
        jobs=arguments.jobs,
        breadth=arguments.breadth,
        color=arguments.color,
    )


def _ledger(arguments: argparse.Namespace) -> int:
    from forkproof.commands.check import write_todays_ledger

    expires = arguments.expires or today() + timedelta(days=30)
    return write_todays_ledger(
        arguments.target, owner=arguments.owner, expires=expires, slow=arguments.slow, jobs=arguments.jobs
    )


def _clauses(arguments: argparse.Namespace) -> int:
    from forkproof.commands.clauses import list_clauses

    return list_clauses(arguments.area, missing=arguments.missing, form=arguments.format, color=arguments.color)


def _explain(arguments: argparse.Namespace) -> int:
    from forkproof.commands.clauses import explain

    return explain(arguments.clause, color=arguments.color)


if __name__ == "__main__":
    sys.exit(main())
