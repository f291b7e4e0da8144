"""`geval-site check FILE…`: whether a judge may rate, from files alone."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from geval.files.questions import StatementError, parsed_scales
from geval.measuring.certifying import certify, exit_code_of, fields_named
from geval.measuring.inputs import InputError
from geval.measuring.measuring import Ends, measure
from geval.measuring.pictures import card_of, page_of
from geval.measuring.terminal import (
    ERROR,
    FilesParser,
    add_files,
    add_scale,
    add_texts,
    add_words,
    arguments_of,
    write_error,
)
from geval.statistics.correlation import LEVELS
from geval.statistics.scales import parsed_scale
from geval.texts.program import command


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code. 0: a judge is usable on every criterion; 1: on some
    criterion people must keep rating; 2: it is too early to say; 3: an error.

    With requirements: 0 if all are met, 1 if one is not, 2 if one cannot be decided.
    """
    options = _parser().parse_args(list(arguments))
    try:
        result = measure(
            options.files,
            scale=parse_scale(options.scale),
            by=fields_named(options.by, options.require),
            rubric=parse_rubrics(options.rubric),
            **arguments_of(options, "judge criterion output text labels order level find"),
        )
        required = certify(result, options.require) if options.require else []
    except (InputError, StatementError) as error:
        write_error(error)
        return ERROR
    sys.stdout.write(f"{result.to_whole_json() if options.json else result}\n")
    for each in required:
        (sys.stderr if options.json else sys.stdout).write(f"\n{each}\n")
    for path, write in ((options.html, page_of), (options.card, card_of)):
        if path:
            Path(path).write_text(write(result), encoding="utf-8")
            sys.stderr.write(f"Written: {path}\n")
    return exit_code_of(required) if required else result.exit_code


def parse_scale(options: Sequence[str]) -> Ends | Mapping[str, Ends] | None:
    if len(options) == 1 and "=" not in options[0]:
        try:
            scale = parsed_scale(options[0])
        except ValueError as error:
            raise StatementError(f"--scale {options[0]}: {error}") from None
        return scale.lowest, scale.highest, scale.step
    return parsed_scales(options) or None


def parse_rubrics(options: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the weights of items by rubric, from texts such as "quality: correct=2, polite".

    Raises:
        StatementError: a text is written otherwise.
    """
    rubrics: dict[str, dict[str, float]] = {}
    for text in options:
        rubric, _, listed = text.partition(":")
        items = [_weighted(item.strip(), text) for item in listed.split(",")]
        if rubric.strip() in rubrics or len(dict(items)) != len(items):
            raise StatementError(f"--rubric {text}: name each rubric and each of its items once.")
        rubrics[rubric.strip()] = dict(items)
    return rubrics


def _weighted(item: str, text: str) -> tuple[str, float]:
    name, equals, weight = item.rpartition("=")
    try:
        named = (name.strip(), float(weight)) if equals else (item, 1.0)
    except ValueError:
        named = "", 0
    if not named[0] or text.strip().startswith(":"):
        raise StatementError(f"--rubric {text}: write RUBRIC: ITEM=WEIGHT, ITEM=WEIGHT.")
    return named


def _parser() -> argparse.ArgumentParser:
    parser = FilesParser(
        prog=command("check"),
        description=(
            "Whether a judge's scores may stand in for people's ratings. Ends with 0 (usable on"
            " every criterion), 1 (not on some), 2 (too early to say) or 3 (an error)."
        ),
    )
    add_files(parser)
    parser.add_argument(
        "--judge", action="append", metavar="COLUMN", help="a judge's scores; can be repeated"
    )
    parser.add_argument(
        "--criterion", metavar="NAME", help="the column that names it, or the only one's name"
    )
    add_texts(parser)
    add_scale(parser)
    add_words(parser)
    parser.add_argument("--level", choices=LEVELS, help="of correlations (default: summary)")
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="FIELD",
        help="measure on the outputs of each value of a column, too, such as a language; or system",
    )
    parser.add_argument(
        "--find",
        default="",
        metavar="ANSWER",
        help="on pass or fail, the answer that the judge has to find (default: the lower one)",
    )
    parser.add_argument(
        "--rubric",
        action="append",
        default=[],
        metavar="NAME: ITEM=WEIGHT, …",
        help="the weighted share of passed items as a criterion; can be repeated",
    )
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="such as spearman.summary.low>=0.45; can be repeated; decides the exit code",
    )
    parser.add_argument("--json", action="store_true", help="as `report --format json` prints it")
    parser.add_argument("--html", metavar="FILE", help="also write a page that needs no scripts")
    parser.add_argument("--card", metavar="FILE", help="also write the verdicts as an SVG")
    return parser
