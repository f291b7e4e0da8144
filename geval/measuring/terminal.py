"""Questions of commands about files at a terminal, and the options that answer them in advance."""

import argparse
import re
import sys
from typing import Any, NoReturn

from geval.files.questions import UploadAnswer, UploadQuestion

# The exit code of an error.
ERROR = 3


class FilesParser(argparse.ArgumentParser):
    """The option parser of commands about files. Wrong usage exits with `ERROR`, because argparse's
    2 means "too early to say" for these commands; options must be written out, as some share
    prefixes with those of other commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(ERROR, f"{self.prog}: error: {message}\n")


# Arguments of the library's functions in messages, which are options here.
_ARGUMENT = re.compile(
    r"(?<![-\w])(criterion|document|group|human|judge|labels|order|output|system|text)"
    r"=(?:…|(?=(['\"\s])))"
)


def write_error(error: Exception) -> None:
    """Write an error, with options in place of the arguments that it names."""
    text = _ARGUMENT.sub(
        lambda named: f"--{named[1]}" + (" " if (named[2] or " ").strip() else ""), str(error)
    )
    sys.stderr.write(f"{text}\n")


def ask_at_terminal(question: UploadQuestion) -> UploadAnswer | None:
    """Ask at the terminal; return the chosen answer, None if nobody can be asked."""
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


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add arguments for the files that a command reads, and the meanings of their columns."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="ratings, scores and texts: CSV, JSON Lines, Parquet, xlsx, files of other tools;"
        " or example:summaries, example:support",
    )
    named = parser.add_argument_group("columns, where they are not recognised")
    named.add_argument(
        "--human", action="append", metavar="COLUMN", help="a person's ratings; can be repeated"
    )
    named.add_argument("--document", metavar="COLUMN", help="names what was written about")
    named.add_argument("--system", metavar="COLUMN", help="names who wrote the output")
    named.add_argument(
        "--group", metavar="COLUMN", help="what documents share, such as their topic"
    )
    named.add_argument("--sheet", default="", metavar="NAME", help="of a workbook")


def add_texts(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the columns with texts."""
    parser.add_argument("--output", metavar="COLUMN", help="has the outputs")
    parser.add_argument("--text", metavar="COLUMN", help="has what they were written about")


def arguments_of(options: argparse.Namespace, names: str) -> dict[str, Any]:
    """Return options as the arguments of a function that reads files.

    Args:
        names: of options besides those of `add_files`, divided by spaces.
    """
    wanted = ("human", "document", "system", "group", "sheet", *names.split())
    return {name: getattr(options, name) for name in wanted} | {"ask": ask_at_terminal}


def add_scale(parser: argparse.ArgumentParser) -> None:
    """Add the option that states scales."""
    parser.add_argument(
        "--scale",
        action="append",
        default=[],
        metavar="[CRITERION=]1-5",
        help="lowest and highest rating, of a criterion or of all; can be repeated",
    )


def add_words(parser: argparse.ArgumentParser) -> None:
    """Add the options that name words in place of numbers."""
    for option, help_text in (
        ("--labels", "the names of labels without an order"),
        ("--order", "words from the lowest rating to the highest"),
    ):
        parser.add_argument(option, type=_words, default=[], metavar="A,B,…", help=help_text)


def _words(listed: str) -> list[str]:
    return [word.strip() for word in listed.split(",")]
