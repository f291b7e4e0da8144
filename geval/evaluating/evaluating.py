"""`geval.evaluate`: from outputs in a file or a table to a judge's scores."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from tqdm.std import tqdm

from geval.evaluating.evaluation import Evaluation, Usage, evaluation_of
from geval.evaluating.judging import EvaluationError, Judging, JudgingResult, JudgingTask, Outcome
from geval.evaluating.kept_answers import KeptAnswers, usual_path
from geval.evaluating.outputs import JudgedOutput, outputs_of
from geval.evaluators.base import SettingsError, new_settings
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.registry import evaluator_class
from geval.files.questions import UploadAnswer, UploadQuestion
from geval.files.rows import RatingRow, Row
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError
from geval.llm.judge_settings import CHATTING, JudgeSettings
from geval.llm.presets import Preset, PresetError, presets, presets_by_key
from geval.llm.prompts import PromptParts
from geval.llm.providers import BY_NAME, provider_at
from geval.llm.time_limit import TimeLimit
from geval.measuring.gathering import gathered
from geval.measuring.inputs import InputError, Source, input_files, named_columns
from geval.measuring.measuring import columns_of, counting_rows, refuse_unknown_criterion
from geval.measuring.reading import Ask, Naming, nobody, rows_of
from geval.statistics.scales import Scale, scale_of_words

# The default provider.
USUAL_BASE_URL = BY_NAME["openai"].base_url
USUAL_SCALE = Scale(1, 5)
MOST_REPEATS = 20
# The kinds of judges that rate single outputs, without a site.
KINDS = ("geval", "decision")
# A judge's settings that apply here.
SETTINGS = (
    "mode", "samples", "temperature", "max_tokens", "concurrency", "timeout_seconds",
    "min_coverage", "request_options",
)  # fmt: skip
# Settings of one kind of judge each, for the form of its answers.
FORMS = {"reply_form": "geval", "protocol": "decision"}
# The total probability of all labels is a decision model's coverage.
_CHATTING = CHATTING - {"min_coverage"}
# The introduction for outputs without a source.
INTRODUCTION_ALONE = (
    "You will be given a text. Rate it on one metric only. Read these instructions with care and"
    " keep them in view while you rate."
)
INPUTS_ALONE = "Text:\n\n{{Output}}"
Result = TypeVar("Result")


def evaluate(
    source: Source,
    *,
    criterion: str,
    model: str,
    kind: str = "geval",
    base_url: str = USUAL_BASE_URL,
    api_key: str | None = None,
    definition: str = "",
    introduction: str = "",
    scale: tuple[float, float] | None = None,
    labels: Sequence[str] = (),
    order: Sequence[str] = (),
    allows_not_applicable: bool = False,
    steps: bool | str = True,
    judge: str = "",
    output: str = "",
    text: str = "",
    document: str = "",
    system: str = "",
    group: str = "",
    human: str | Sequence[str] | None = None,
    repeats: int = 1,
    kept_in: str | Path | None = "",
    progress: bool = True,
    sheet: str = "",
    ask: Ask = nobody,
    **settings: Any,
) -> Evaluation:
    """Have a model rate outputs on a criterion by G-Eval (Liu et al., 2023) or as a decision model.

    The model writes evaluation steps first, once; then it rates each output. The score is the mean
    of the scale's points, weighted by the probabilities of their tokens; where the endpoint gives
    none, by how often each occurs in 20 replies. A decision model writes nothing and gives the
    probabilities of the points itself. Answers are stored in a file: questions are not asked twice,
    and a stopped program continues where it was.

    Args:
        source: as for `geval.measure`; rows have an output, and what it was written about.
        criterion: its name with a `definition`, or a ready one such as
            "summarisation/any/coherence"; where people rated criteria, one of these.
        model: the endpoint's name of the model.
        kind: "geval", or "decision" for a decision model.
        base_url: of an OpenAI-compatible endpoint.
        api_key: by default what the provider's usual variable holds, such as OPENAI_API_KEY.
        introduction: describes what the model is shown; by default a text and one written from it.
        scale: lowest and highest rating; by default those of the ready criterion, else of people's
            ratings in the file, else 1 to 5.
        labels: the names of labels without an order, which the model gives in place of a rating.
        order: words from the lowest rating to the highest, in the same way.
        allows_not_applicable: the model may answer "n/a", which is no score and in no figure.
        steps: False for none; a text for steps of your own.
        judge: the judge's name in results; by default the model's.
        output, text: the columns with outputs and with what they were written about.
        document, system, group, human: as for `geval.measure`.
        repeats: how often the model is asked about each output, 1 to MOST_REPEATS: the score is the
            vote or the mean, and its steadiness stands beside.
        kept_in: a file for answers; by default one in this account's cache, None for none.
        progress: whether a bar is shown.
        sheet, ask: as for `geval.measure`.
        settings: of a judge, such as `mode` ("logprobs", "samples", "direct"), `samples`,
            `temperature`, `max_tokens`, `concurrency`, `timeout_seconds`, `min_coverage`,
            `request_options` (a dictionary); and of its kind: `reply_form` ("text", "rating",
            "reason": JSON by a schema of the scale) of G-Eval, `protocol` ("decisions",
            "systemone") of a decision model.

    Raises:
        InputError: something cannot be read, or a setting is invalid.
        EvaluationError: the model cannot be asked, or most outputs fail for the same reason.
    """
    if isinstance(repeats, bool) or not 1 <= repeats <= MOST_REPEATS:
        raise InputError(f"repeats is a whole number from 1 to {MOST_REPEATS}, not {repeats!r}.")
    evaluator = _evaluator(kind, settings)
    preset = _preset(criterion, definition)
    name = preset.name if preset else criterion.strip()
    source, names = named_columns(
        source, human=human, criterion=name, document=document, system=system, output=output,
        source=text, group=group,
    )  # fmt: skip
    naming = Naming.of(names)
    words = _scale_of_words(labels, order, scale)

    def ask_or_ignore(question: UploadQuestion) -> UploadAnswer | None:
        return ask(question) or _unrated(question)

    with input_files(source, sheet=sheet) as files:
        read = list(rows_of(files, naming, ask_or_ignore, scale_of=lambda _criterion: words))
        columns = columns_of(files, naming)
    rows = list(counting_rows(read, naming, columns))
    refuse_unknown_criterion([row for row in rows if isinstance(row, RatingRow)], name)
    outputs = _repeated(outputs_of(rows), repeats)
    asked_scale = replace(
        words or _scale(scale, preset, name, rows), allows_not_applicable=allows_not_applicable
    )
    stand_alone = not any(each.texts.source or each.texts.is_conversation for each in outputs)
    usual = (INTRODUCTION_ALONE, INPUTS_ALONE) if stand_alone else ("", "")
    parts = PromptParts(
        criterion=name,
        scale=asked_scale,
        definition=definition or (preset.definition if preset else ""),
        introduction=introduction or (preset.introduction if preset else usual[0]),
        inputs=preset.inputs if preset else usual[1],
    )
    asked = JudgingTask(
        parts,
        model,
        base_url.rstrip("/"),
        _judge_settings(settings, evaluator),
        evaluator,
        steps if isinstance(steps, str) else None if steps else "",
    )
    path = usual_path() if kept_in == "" else Path(kept_in) if kept_in else None
    with (
        KeptAnswers(path) as kept,
        tqdm(total=len(outputs), desc=f"{model} on {name}", disable=not progress) as bar,
    ):
        client = _client(asked, api_key)
        judging: list[Judging] = []

        def note(_outcome: Outcome) -> None:
            bar.update()

        async def work() -> JudgingResult:
            async with client:
                judging.append(Judging(asked, client, kept, outputs, note))
                return await judging[0].judge()

        judged = run_apart(work)
        usage = judging[0].caller.spent
        return evaluation_of(
            judge or model,
            asked,
            outputs,
            judged,
            Usage(reused=kept.reused, **asdict(usage)),
            rows,
        )


def _repeated(outputs: list[JudgedOutput], repeats: int) -> list[JudgedOutput]:
    """Return each output as often as it is asked about, round by round."""
    if repeats == 1:
        return outputs
    return [replace(each, repeat=str(number + 1)) for number in range(repeats) for each in outputs]


def _unrated(question: UploadQuestion) -> UploadAnswer | None:
    """Answer a question about unnamed columns of ratings by ignoring them, as a judge needs none.
    None where the question is about something else."""
    rated = ("score", "scores", "ratings", "annotator", "judge")
    are_rated = [
        any(target.startswith(rated) for target in dict(choice.columns).values())
        for choice in question.choices
    ]
    if not any(are_rated):
        return None
    choices = zip(question.choices, are_rated, strict=True)
    return next((choice for choice, is_rated in choices if choice.columns and not is_rated), None)


def _preset(criterion: str, definition: str) -> Preset | None:
    """Return the named ready criterion; None for a criterion with its own definition.

    Raises:
        InputError: there is no such ready criterion, or it is not clear which.
    """
    if definition:
        return None
    try:
        chosen = presets_by_key([criterion]) if "/" in criterion else []
    except PresetError as error:
        raise InputError(str(error)) from None
    if len(chosen) == 1:
        return chosen[0]
    wanted = criterion.lower().replace(" ", "-")
    alike = [each.word for each in chosen or presets() if chosen or wanted in each.word.split("/")]
    ready = f" Ready ones: {', '.join(alike)}." if alike else ""
    raise InputError(f"Say what {criterion!r} means: pass definition=….{ready}")


def _scale_of_words(
    labels: Sequence[str], order: Sequence[str], scale: tuple[float, float] | None
) -> Scale | None:
    """Return the scale whose points are words; None without any."""
    if not labels and not order:
        return None
    if (labels and order) or scale:
        raise InputError("Pass one of scale, labels and order.")
    if isinstance(labels, str) or isinstance(order, str):
        raise InputError("labels and order are lists of words.")
    try:
        return scale_of_words([*(labels or order)], is_ordered=not labels)
    except ValueError as error:
        raise InputError(f"{str(error).capitalize()}.") from None


def _scale(
    given: tuple[float, float] | None, preset: Preset | None, name: str, rows: Sequence[Row]
) -> Scale:
    if given:
        try:
            return Scale(*given)
        except ValueError as error:
            raise InputError(f"{str(error).capitalize()}.") from None
    ratings = [row for row in rows if isinstance(row, RatingRow)]
    if preset or not ratings:
        return preset.scale if preset else USUAL_SCALE
    scales = {each.name.lower(): each.scale for each in gathered(ratings, {}).criteria}
    return scales.get(name.lower(), USUAL_SCALE)


def _evaluator(kind: str, settings: Mapping[str, Any]) -> LlmEvaluator:
    """Create the evaluator of a kind, with its own settings."""
    if kind not in KINDS:
        raise InputError(f"There is no kind {kind!r} here. There are: {', '.join(KINDS)}.")
    made = evaluator_class(kind)
    own = {name: value for name, value in settings.items() if name in made.Settings.model_fields}
    try:
        return cast(LlmEvaluator, made(new_settings(made, own)))
    except SettingsError as error:
        raise InputError(str(error)) from None


def _judge_settings(settings: Mapping[str, Any], evaluator: LlmEvaluator) -> JudgeSettings:
    own = type(evaluator).Settings.model_fields
    general = [name for name in SETTINGS if evaluator.chats or name not in _CHATTING]
    if unknown := [name for name in settings if name not in general and name not in own]:
        taken = ", ".join([*general, *own])
        raise InputError(
            f"There is no setting {unknown[0]!r} of {evaluator.title}. There are: {taken}."
        )
    try:
        return JudgeSettings(**{name: settings[name] for name in general if name in settings})
    except ValidationError as error:
        problem = error.errors()[0]
        raise InputError(f"{problem['loc'][0]}: {problem['msg']}.") from None


def _client(asked: JudgingTask, api_key: str | None) -> Client:
    variable = provider_at(asked.base_url).key_env
    key = os.environ.get(variable, "") if api_key is None else api_key
    if variable and not key:
        raise InputError(f"{asked.base_url} needs a key: set {variable}, or pass api_key=….")
    try:
        check_address(asked.base_url, allow_private=True)
        limit = TimeLimit(asked.settings.timeout_seconds)
        return Client(asked.base_url, key, timeout=limit, allow_private=True)
    except (ForbiddenAddressError, EndpointError) as error:
        raise InputError(str(error)) from None


def run_apart(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine in a separate thread with its own event loop, as notebooks already run one.
    On interruption, calls are cancelled first."""
    result: Future[Result] = Future()
    loop = asyncio.new_event_loop()
    task: list[asyncio.Task[Result]] = []

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                task.append(loop.create_task(work()))
                result.set_result(runner.run(_finished(task[0])))
        except BaseException as error:
            result.set_exception(error)

    thread = threading.Thread(target=run, name="geval", daemon=True)
    thread.start()
    try:
        return result.result()
    except KeyboardInterrupt:
        if task and not loop.is_closed():
            loop.call_soon_threadsafe(task[0].cancel)
        thread.join()
        raise EvaluationError(
            "Stopped. What was answered is kept; run it again to go on."
        ) from None


async def _finished(task: "asyncio.Task[Result]") -> Result:
    return await task
