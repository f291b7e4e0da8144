"""`geval-site improve FILE… --locked FILE`: a better judge, and its proof, from files alone."""

import argparse
import sys
from collections.abc import Sequence

from geval.improving.ground import ImproveError, TooFewRatingsError
from geval.improving.improvement import Improvement
from geval.improving.improving import EVERYTHING, improve
from geval.improving.lock_file import NAME
from geval.measuring.inputs import InputError
from geval.measuring.terminal import (
    ERROR,
    FilesParser,
    add_files,
    add_words,
    arguments_of,
    write_error,
)
from geval.statistics.locked_rule import LOOKS, SHARE
from geval.texts.program import command

PROVEN, NOT_PROVEN, TOO_EARLY = 0, 1, 2


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code. 0: a better judge is proven; 1: it is not, or nothing
    better was found; 2: it is too early to say, as too few documents are rated or no look was
    taken; 3: an error.
    """
    options = _parser().parse_args(list(arguments))
    try:
        result = improve(
            options.files,
            changes=[name.strip() for name in options.change.split(",") if name.strip()],
            **arguments_of(options, "locked judge judges criterion labels order share looks prove"),
        )
    except (InputError, ImproveError) as error:
        write_error(error)
        return TOO_EARLY if isinstance(error, TooFewRatingsError) else ERROR
    sys.stdout.write(f"{result.to_json() if options.json else result}\n")
    return _exit_code(result)


def _exit_code(result: Improvement) -> int:
    if result.look is None:
        return NOT_PROVEN if result.proposed is None else TOO_EARLY
    return PROVEN if result.is_proven else NOT_PROVEN


def _parser() -> argparse.ArgumentParser:
    parser = FilesParser(
        prog=command("improve"),
        description=(
            "Search for a better judge in the ratings and scores of files, on documents that are"
            " not locked, and with --prove test it on those that are. Ends with 0 (proven), 1 (not"
            " proven, or nothing better was found), 2 (too early: too few ratings, or no --prove)"
            " or 3 (an error)."
        ),
    )
    add_files(parser)
    add_words(parser)
    parser.add_argument(
        "--locked",
        required=True,
        metavar="FILE",
        help=f"remembers locked documents and looks; is made if missing; or its folder ({NAME})",
    )
    parser.add_argument("--judge", metavar="NAME", help="that is used today (default: the only)")
    parser.add_argument(
        "--judges",
        action="append",
        metavar="NAME",
        help="may take its place, or be on a panel; can be repeated (default: all in the files)",
    )
    parser.add_argument("--criterion", metavar="NAME", help="if the files have several")
    parser.add_argument(
        "--change",
        default=",".join(EVERYTHING),
        metavar="CHANGE,…",
        help="what may be changed, divided by commas (default: %(default)s)",
    )
    parser.add_argument(
        "--share", type=float, help=f"of documents, when they are locked (default: {SHARE})"
    )
    parser.add_argument(
        "--looks", type=int, help=f"that are allowed, when they are locked (default: {LOOKS})"
    )
    parser.add_argument("--prove", action="store_true", help="take a look, which counts")
    parser.add_argument("--json", action="store_true", help="as `improve PROJECT --json` prints it")
    return parser
