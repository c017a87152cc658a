"""The command `forkgen`: sessions by recipe, legacy and damaged files, digests, each for a shell and for scripts.

Exit codes: 0 done; 1 a target failed, or its session is not what the recipe expects; 2 bad usage, input or
destination; 130 interrupted. What goes wrong is one line on stderr; `--debug` adds the traceback.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from forkstore.contract.errors import SessionStoreError

from .commands import TargetFailed, UsageError, in_one_line
from .recipe import BadRequest

LARGEST_SIZE: Final = 10**9
"""No machine holds more; a mistyped number is met with a word instead of a full disk."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # An ASCII terminal shows a letter it lacks as an escape; it must not end the run.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        code: int = arguments.command(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _say("interrupted", 130, arguments.debug)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left goes nowhere, or the interpreter complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except TargetFailed as error:
        return _say(str(error), 1, arguments.debug)
    except (UsageError, BadRequest, SessionStoreError) as error:
        return _say(str(error), 2, arguments.debug)
    return code


def _say(line: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"forkgen: {in_one_line(line)}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments; `--help` shows the rest."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {in_one_line(message)}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="forkgen", description="Makes deterministic sessions of any size and shape.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    shared = _Parser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print one JSON document, for scripts")
    shared.add_argument("--debug", action="store_true", help="show the traceback of what goes wrong")
    request = _Parser(add_help=False, parents=[shared])
    request.add_argument("recipe", metavar="RECIPE", help="what `forkgen list` lists")
    request.add_argument("--seed", type=_whole, required=True, metavar="N", help="0 … 2^64−1")
    request.add_argument("--size", type=_size, required=True, metavar="N", help="how large, in the recipe's unit")

    listing = commands.add_parser("list", parents=[shared], help="list the recipes, or draw one")
    listing.add_argument("name", nargs="?", metavar="NAME", help="show this recipe with its picture")
    listing.set_defaults(command=_list)

    make = commands.add_parser("make", parents=[request], help="make a session: a file, or in a backend")
    place = make.add_mutually_exclusive_group(required=True)
    place.add_argument("-o", "--output", type=Path, metavar="FILE", help="write a session file of format 4")
    place.add_argument("--into", metavar="TARGET", help="commit to a registered backend, and check what it holds")
    make.add_argument("--id", metavar="ID", help="id of the session; default: RECIPE-SEED-SIZE")
    make.add_argument("--cwd", metavar="DIR", help="with -o: working directory in the header; default: /srv/garden")
    make.add_argument("--force", action="store_true", help="with -o: replace an existing file")
    make.add_argument("--directory", type=Path, metavar="DIR", help="with --into: where the backend keeps its files")
    make.set_defaults(command=_make)

    legacy = commands.add_parser("legacy", parents=[shared], help="write the legacy files with their outcomes")
    legacy.add_argument("name", nargs="?", metavar="NAME", help="only this one")
    legacy.add_argument("--list", action="store_true", help="list them, write nothing")
    _add_directory(legacy)
    legacy.set_defaults(command=_legacy)

    damage = commands.add_parser("damage", parents=[shared], help="list or write the damaged variants of a file")
    damage.add_argument("file", type=Path, metavar="FILE", help="a good session file of format 4")
    damage.add_argument("--only", action="append", default=[], metavar="PREFIX", help="only variants of this name")
    _add_directory(damage)
    damage.set_defaults(command=_damage)

    digest = commands.add_parser("digest", parents=[request], help="print the digest of a session's writes")
    digest.set_defaults(command=_digest)
    return parser


def _add_directory(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", type=Path, metavar="DIR", help="write the files here; must be empty or new")
    command.add_argument("--force", action="store_true", help="write into a directory that holds files already")


def _whole(text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,20}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number, is {text:.40}")
    return int(text)


def _size(text: str) -> int:
    size = _whole(text)
    if size > LARGEST_SIZE:
        raise argparse.ArgumentTypeError(f"must be at most {LARGEST_SIZE:,}, is {size:,}")
    return size


# The commands import what they need: `forkgen --help` and a mistyped option must not wait for the recipes.


def _list(arguments: argparse.Namespace) -> int:
    from .commands.recipes import list_recipes, show_recipe

    if arguments.name is None:
        return list_recipes(as_json=arguments.json)
    return show_recipe(arguments.name, as_json=arguments.json)


def _digest(arguments: argparse.Namespace) -> int:
    from .commands.recipes import show_digest

    return show_digest(arguments.recipe, arguments.seed, arguments.size, as_json=arguments.json)


def _make(arguments: argparse.Namespace) -> int:
    from .commands.recipes import generate

    for option, partner, misplaced in (
        ("--directory", "--into", arguments.directory is not None and arguments.into is None),
        ("--cwd", "-o", arguments.cwd is not None and arguments.output is None),
        ("--force", "-o", arguments.force and arguments.output is None),
    ):
        if misplaced:
            raise UsageError(f"{option} goes with {partner}")
    generated = generate(arguments.recipe, arguments.seed, arguments.size)
    if arguments.into is not None:
        from .commands.make_session import make_session

        return make_session(
            generated, arguments.into, id=arguments.id, directory=arguments.directory, as_json=arguments.json
        )
    from .commands.make_file import make_file

    return make_file(
        generated,
        arguments.output,
        id=arguments.id,
        cwd=arguments.cwd,
        force=arguments.force,
        as_json=arguments.json,
    )


def _legacy(arguments: argparse.Namespace) -> int:
    from .commands.legacy import list_legacy, write_legacy

    if arguments.list == (arguments.output is not None):
        raise UsageError("legacy takes either --list or -o DIR")
    if arguments.list:
        return list_legacy(arguments.name, as_json=arguments.json)
    return write_legacy(arguments.name, arguments.output, force=arguments.force, as_json=arguments.json)


def _damage(arguments: argparse.Namespace) -> int:
    from .commands.damage import damage_file

    return damage_file(
        arguments.file, arguments.output, only=arguments.only, force=arguments.force, as_json=arguments.json
    )


if __name__ == "__main__":
    sys.exit(main())
