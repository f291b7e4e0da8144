"""`geval-site policy FILE… --promise PROMISE`: which outputs a judge may decide."""

import sys
from collections.abc import Sequence

from geval.files.questions import StatementError
from geval.improving.ground import ImproveError
from geval.improving.policies import policy
from geval.improving.promises import PromiseKind
from geval.measuring.command import parse_scale
from geval.measuring.inputs import InputError
from geval.measuring.terminal import (
    ERROR,
    FilesParser,
    add_files,
    add_scale,
    arguments_of,
    write_error,
)
from geval.texts.program import command

PROMISED, CANNOT_PROMISE, TOO_EARLY = 0, 1, 2


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code. 0: promised; 1: it cannot be promised; 2: more
    documents have to be rated first; 3: an error."""
    options = _parser().parse_args(list(arguments))
    try:
        result = policy(
            options.files,
            scale=parse_scale(options.scale),
            **arguments_of(options, "promise judge second by criterion locked seconds price"),
        )
    except (InputError, ImproveError, StatementError) as error:
        write_error(error)
        return ERROR
    sys.stdout.write(f"{result.to_json() if options.json else result}\n")
    if result.is_promised:
        return PROMISED
    return CANNOT_PROMISE if result.more_documents is None else TOO_EARLY


def _parser() -> FilesParser:
    parser = FilesParser(
        prog=command("policy"),
        description=(
            "Which outputs a judge may decide, which go to people, and what error remains, proven"
            " on locked documents. Ends with 0 (promised), 1 (it cannot be), 2 (more documents"
            " have to be rated) or 3 (an error)."
        ),
    )
    add_files(parser)
    parser.add_argument(
        "--promise",
        required=True,
        help=f'"{PromiseKind.ONE_PERSON}", "within 0.5" (points) or "{PromiseKind.FALSE_PASSES}"',
    )
    parser.add_argument("--judge", metavar="NAME", help="whose answers are kept")
    parser.add_argument(
        "--second", metavar="NAME", help="who is asked where the judge is not sure enough"
    )
    parser.add_argument(
        "--by",
        metavar="FIELD",
        help="also by each value of a column, such as a language; or system",
    )
    parser.add_argument("--criterion", metavar="NAME", help="if the files have several")
    add_scale(parser)
    parser.add_argument(
        "--locked", metavar="FILE", help="the file of `improve`; counts this question as a look"
    )
    parser.add_argument("--seconds", type=float, help="that a person takes for a rating")
    parser.add_argument("--price", type=float, help="of a rating by a person")
    parser.add_argument("--json", action="store_true", help="also the curve and each output")
    return parser
