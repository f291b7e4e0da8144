"""`geval-site evaluate FILE…`: a model rates outputs; with people's ratings, what that is worth."""

import argparse
import sys
from collections.abc import Sequence
from typing import get_args

from geval.evaluating.evaluating import (
    FORMS,
    KINDS,
    MOST_REPEATS,
    SETTINGS,
    USUAL_BASE_URL,
    evaluate,
)
from geval.evaluating.evaluation import Evaluation
from geval.evaluating.judging import EvaluationError
from geval.evaluators.registry import evaluator_class
from geval.llm.judge_settings import declared, option_of
from geval.measuring.inputs import InputError
from geval.measuring.terminal import (
    ERROR,
    FilesParser,
    add_files,
    add_texts,
    add_words,
    arguments_of,
    write_error,
)
from geval.statistics.scales import Scale, parsed_scale
from geval.texts.program import command

# Options that are arguments of `evaluate` as they are.
ASKED = (
    "criterion model kind base_url definition introduction labels order output text repeats kept_in"
)


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code: with ratings as for `check`; without them 0, or 1 if
    an output has no score. 3 is an error."""
    parser = _parser()
    options = parser.parse_args(list(arguments))
    chosen = {name: getattr(options, name) for name in (*SETTINGS, *FORMS)}
    try:
        result = evaluate(
            options.files,
            scale=options.scale and (options.scale.lowest, options.scale.highest),
            allows_not_applicable=options.allow_na,
            steps=not options.no_steps,
            judge=options.name,
            progress=sys.stderr.isatty(),
            **arguments_of(options, ASKED),
            **{name: value for name, value in chosen.items() if value is not None},
        )
        sys.stdout.write(f"{result.to_json() if options.json else result}\n")
        if options.scores:
            result.to_csv(options.scores)
            sys.stderr.write(f"Written: {options.scores}\n")
        return _exit_code(result)
    except (InputError, EvaluationError) as error:
        write_error(error)
        return ERROR


def _exit_code(result: Evaluation) -> int:
    if result.has_ratings and len(result.failures) < len(result.scores):
        return result.measurement.exit_code
    return 1 if result.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = FilesParser(
        prog=command("evaluate"),
        description=(
            "A model rates outputs on a criterion by G-Eval, or as a decision model. Where the"
            " files have people's ratings, also what the scores are worth, with the exit codes of"
            " `check`; else 0, or 1 if some output has no score. Answers are kept: what was asked"
            " is not asked again."
        ),
    )
    add_files(parser)
    parser.set_defaults(document="", system="", group="")
    parser.add_argument(
        "--criterion",
        required=True,
        metavar="NAME",
        help="with --definition, or a ready one such as summarisation/any/coherence",
    )
    parser.add_argument("--model", required=True, help="as the endpoint calls it")
    parser.add_argument("--kind", choices=KINDS, default=KINDS[0], help="of judge: default geval")
    parser.add_argument(
        "--base-url", default=USUAL_BASE_URL, metavar="URL", help=f"default: {USUAL_BASE_URL}"
    )
    parser.add_argument("--definition", default="", metavar="TEXT", help="what is rated")
    parser.add_argument("--introduction", default="", metavar="TEXT", help="what is shown")
    parser.add_argument("--scale", type=_scale, metavar="1-5", help="lowest and highest rating")
    add_words(parser)
    parser.add_argument("--allow-na", action="store_true", help="n/a is an answer, and no score")
    parser.add_argument("--no-steps", action="store_true", help="without evaluation steps")
    parser.add_argument("--name", default="", help="of the judge (default: the model)")
    add_texts(parser)
    for name in SETTINGS:
        info = declared(name)
        parser.add_argument(
            f"--{option_of(name)}", dest=name, metavar="VALUE", help=info.description
        )
    for name, kind in FORMS.items():
        info = evaluator_class(kind).Settings.model_fields[name]
        parser.add_argument(
            f"--{name.replace('_', '-')}", choices=get_args(info.annotation), help=info.description
        )
    parser.add_argument(
        "--repeats",
        type=int,
        default=1,
        metavar="N",
        help=f"ask about each output so often, at most {MOST_REPEATS}; the score is the vote or the"
        " mean",
    )
    parser.add_argument("--scores", metavar="FILE", help="also write the scores as CSV")
    parser.add_argument("--json", action="store_true", help="print scores and settings as JSON")
    parser.add_argument(
        "--kept-in", default="", metavar="FILE", help="of answers (default: in the cache folder)"
    )
    return parser


def _scale(written: str) -> Scale:
    try:
        return parsed_scale(written)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
