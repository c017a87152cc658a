"""The command `forkstore`: what is in a session file, and what is wrong with it.

Exit codes: 0 nothing was found; 1 there are findings; 2 bad usage, or no file that could be read; 130 interrupted. What
goes wrong is one line on stderr; `--debug` adds the traceback. The file is never written.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Final, NoReturn

_ABOUT_FINDINGS: Final = """\
what counts as a finding:
  error   a store refuses to open the file: a broken header or line, a version that nobody reads, sequences that do
          not rise, ids used twice, parents that are not there
  note    the file opens, and something about it is not as it should be: a torn tail, a byte-order mark, a tip or a
          label without its entry, rows that no fork rule covers, no sequence left
What is merely so (a data-only branch, an unreachable entry, a dead record) is shown and is no finding.

exit codes: 0 no finding; 1 findings; 2 bad usage, or the file cannot be read; 130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # An ASCII terminal shows a letter it lacks as an escape; it must not end the run.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        return _inspect(arguments)
    except KeyboardInterrupt:
        return _say("interrupted", 130, arguments.debug)
    except OSError as error:  # what is written, not what is read: that has errors of its own
        return _say(f"output failed: {error}", 2, arguments.debug)


def _inspect(arguments: argparse.Namespace) -> int:
    # A mistyped option and `--help` must not wait for the decoders.
    from .inspection import UnreadableFile, inspect_file
    from .inspection.progress import progress_on

    try:
        with progress_on(sys.stderr, "inspecting") as progress:
            inspection = inspect_file(arguments.file, progress)
    except UnreadableFile as error:
        return _say(str(error), 2, arguments.debug)
    if arguments.json:
        from .inspection.document import document_of

        _print(json.dumps(document_of(inspection), indent=1))
    else:
        from .inspection.text import text_of

        _print(text_of(inspection))
    return 1 if inspection.findings.errors + inspection.findings.notes else 0


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left goes nowhere, or the interpreter complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(line: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"forkstore: {' '.join(line.split())}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments; `--help` shows the rest."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {' '.join(message.split())}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="forkstore", description="Looks after session files.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    inspect = commands.add_parser(
        "inspect",
        help="say what is in a session file, and what is wrong with it",
        description="Reads a session file of format 4 or legacy version 3, and never writes it.",
        epilog=_ABOUT_FINDINGS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    inspect.add_argument("file", metavar="FILE")
    inspect.add_argument("--json", action="store_true", help="print one JSON document, for scripts")
    inspect.add_argument("--debug", action="store_true", help="show the traceback of what goes wrong")
    return parser


if __name__ == "__main__":
    sys.exit(main())
