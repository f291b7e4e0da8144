"""`geval-site check FILE…`: whether a judge may rate, from files alone. It needs no database."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from geval.files.questions import UploadAnswer, UploadQuestion
from geval.program import command

ERROR = 3
LEVELS = ("summary", "system", "dataset")
COMMANDS = {"check": "Whether a judge may rate, from a file of ratings and scores"}
# Options of Django's own command of that name, which inspects a site.
OF_DJANGO = {"--deploy", "--tag", "-t", "--list-tags", "--fail-level", "--database"}


def main(arguments: Sequence[str]) -> int:
    """Run one of `COMMANDS`; the exit code.

    0: a judge is usable on every criterion; 1: on some criterion people must keep rating; 2: it is
    too early to say; 3: an error.
    """
    options = _parser().parse_args(list(arguments))
    from geval.measuring.inputs import InputError  # noqa: PLC0415 (numpy takes a while)
    from geval.measuring.measuring import measure  # noqa: PLC0415
    from geval.measuring.pictures import card_of, page_of  # noqa: PLC0415

    try:
        result = measure(
            options.files,
            human=options.human,
            judge=options.judge,
            criterion=options.criterion,
            document=options.document,
            system=options.system,
            level=options.level,
            sheet=options.sheet,
            ask=_ask,
        )
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return ERROR
    sys.stdout.write(f"{result.to_json() if options.json else result}\n")
    for path, write in ((options.html, page_of), (options.card, card_of)):
        if path:
            Path(path).write_text(write(result), encoding="utf-8")
            sys.stderr.write(f"Written: {path}\n")
    return result.exit_code


def is_for(arguments: Sequence[str]) -> bool:
    """Whether a command line is for `main`: `check` with files, and not Django's `check`."""
    if not arguments or arguments[0] not in COMMANDS:
        return False
    names = {argument.partition("=")[0] for argument in arguments[1:]}
    has_files = any(not name.startswith("-") for name in names)
    return not names & OF_DJANGO and (has_files or bool(names & {"-h", "--help"}))


def _ask(question: UploadQuestion) -> UploadAnswer | None:
    """The answer that somebody at a terminal chooses; None where nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    sys.stderr.write(f"{question.text}\n")
    for number, choice in enumerate(question.choices, start=1):
        sys.stderr.write(f"  {number}. {choice.label}: {choice.gives}\n")
    while True:
        sys.stderr.write(f"1 to {len(question.choices)}: ")
        sys.stderr.flush()
        chosen = sys.stdin.readline().strip()
        if chosen.isdigit() and 1 <= int(chosen) <= len(question.choices):
            return question.choices[int(chosen) - 1]
        if not chosen:
            return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=command("check"),
        description=(
            "Whether a judge's scores may stand in for people's ratings. Ends with 0 (usable on"
            " every criterion), 1 (not on some), 2 (too early to say) or 3 (an error)."
        ),
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="ratings, scores and texts: CSV, JSON Lines, Parquet, xlsx, files of other tools",
    )
    named = parser.add_argument_group("columns, where they are not recognised")
    named.add_argument(
        "--human", action="append", metavar="COLUMN", help="a person's ratings; can be repeated"
    )
    named.add_argument(
        "--judge", action="append", metavar="COLUMN", help="a judge's scores; can be repeated"
    )
    named.add_argument(
        "--criterion", metavar="NAME", help="the column that names it, or the only one's name"
    )
    named.add_argument("--document", metavar="COLUMN", help="names what was written about")
    named.add_argument("--system", metavar="COLUMN", help="names who wrote the output")
    named.add_argument("--sheet", default="", metavar="NAME", help="of a workbook")
    parser.add_argument("--level", choices=LEVELS, help="of correlations (default: summary)")
    parser.add_argument("--json", action="store_true", help="as `report --format json` prints it")
    parser.add_argument("--html", metavar="FILE", help="also write a page that needs no scripts")
    parser.add_argument("--card", metavar="FILE", help="also write the verdicts as an SVG")
    return parser
