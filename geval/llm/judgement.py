"""Judge one item: ask, parse, score, and ask again if a reply cannot be read. No database.

A question whose reply has no rating is asked again once or twice, then becomes a failure with its
reason, never a number. The first readable reply counts, and a note says so where it was not the
first reply.
"""

import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from geval.llm.calls import Answer
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Rating, Reason
from geval.llm.prompts import PromptError, render
from geval.llm.replies import ReplyChoice
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import ChatRequest
from geval.llm.scoring import Scored, score_by_logprobs, score_by_samples, score_directly
from geval.llm.server_fit import MOST_ALTERNATIVES
from geval.llm.structured import ReplyForm, read_rating, schema_of
from geval.statistics.scales import Scale

# A sampled reply without a rating is often an accident, but each attempt costs a call.
READ_ATTEMPTS = 3
# At temperature 0 most servers repeat themselves: a second reply seldom differs, a third less.
READ_ATTEMPTS_GREEDY = 2
# Another reply would fail in the same way; at temperature 0 so would one cut at the same length.
_NOT_ASKED_AGAIN = (Reason.NO_LOGPROBS, Reason.LOW_COVERAGE)
_NOT_ASKED_AGAIN_GREEDY = (*_NOT_ASKED_AGAIN, Reason.CUT)

AskFully = Callable[[Any], Awaitable[Answer]]


@dataclass(frozen=True)
class JudgeQuestion:
    """A prompt about an output, and how to read its reply.

    `onto` is the scale to which a score is converted, None for the scale that is asked for;
    `others` are the other criteria that the same reply rates; `form` is the form of a reply.
    """

    prompt: str
    criterion: str
    scale: Scale
    onto: Scale | None = None
    others: tuple[str, ...] = ()
    form: ReplyForm = "text"

    def request(self, settings: RequestSettings) -> ChatRequest:
        """Return the question's first request."""
        return first_request(
            settings,
            self.prompt,
            ratings=1 + len(self.others),
            schema=schema_of(self.scale, self.form),
        )


def question_on(
    template: str, texts: Texts, criterion: str, scale: Scale
) -> JudgeQuestion | Failure:
    """Return the question that a criterion's template asks about texts, or why it cannot be
    asked."""
    try:
        return JudgeQuestion(render(template, texts), criterion, scale)
    except PromptError as error:
        return Failure(Reason.PROMPT, str(error))


@dataclass(frozen=True)
class Judgement:
    """The outcome of a question: a score or a failure, and all answers. `serves_others` says that
    the answers also hold the scores of other items."""

    outcome: Scored | Failure
    answers: tuple[Answer, ...]
    serves_others: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether its answers are reused instead of asking again."""
        return self.serves_others or isinstance(self.outcome, Scored)


def first_request(
    settings: RequestSettings,
    prompt: str,
    *,
    ratings: int = 1,
    schema: Mapping[str, Any] | None = None,
) -> ChatRequest:
    """Return a question's first request; its content decides whether a stored answer may be used.

    Args:
        ratings: how many ratings a reply holds; the length limit is multiplied by it.
        schema: the schema of replies in JSON.
    """
    request = ChatRequest(
        model=settings.model,
        prompt=prompt,
        temperature=settings.temperature,
        n=settings.replies_each,
        max_tokens=settings.max_tokens * ratings,
        length_parameter=settings.length_parameter,
        top_logprobs=MOST_ALTERNATIVES if settings.mode == "logprobs" else None,
        # Some servers leave out unlikely tokens by default.
        extra={"top_p": 1.0} if settings.mode == "samples" else {},
        options=settings.options,
        schema=schema,
    )
    return settings.fit.fitted(request)


def read_attempts(settings: RequestSettings) -> int:
    """Return how often a question is asked at most until a reply can be read."""
    return READ_ATTEMPTS_GREEDY if settings.is_greedy else READ_ATTEMPTS


def is_worth_asking_again(outcome: Scored | Failure, settings: RequestSettings) -> bool:
    """Return whether another reply to the same question may be readable."""
    if isinstance(outcome, Scored):
        return False
    hopeless = _NOT_ASKED_AGAIN_GREEDY if settings.is_greedy else _NOT_ASKED_AGAIN
    return outcome.reason not in hopeless


async def judge(question: JudgeQuestion, settings: RequestSettings, ask: AskFully) -> Judgement:
    """Ask until there is a score, or until the attempts are used up.

    Raises:
        EndpointError: the endpoint did not answer.
    """
    request = question.request(settings)
    if settings.mode == "samples":
        judgement = await _judge_by_samples(question, request, ask)
        return replace(judgement, outcome=_on_stored_scale(judgement.outcome, question))
    answers: list[Answer] = []
    for _ in range(read_attempts(settings)):
        answers.append(await ask(request))
        outcome = score_choices(answers, question, settings)
        if not is_worth_asking_again(outcome, settings):
            break
    return Judgement(outcome, tuple(answers))


def score_choices(
    answers: list[Answer], question: JudgeQuestion, settings: RequestSettings
) -> Scored | Failure:
    """Score answers in the judge's mode; stored answers are rescored here as well."""
    return _on_stored_scale(_scored(answers, question, settings), question)


def _on_stored_scale(outcome: Scored | Failure, question: JudgeQuestion) -> Scored | Failure:
    """Convert a score to the scale on which it is stored."""
    if isinstance(outcome, Failure):
        return outcome
    scored = outcome.on(question.scale)
    return scored if question.onto is None else scored.brought(question.scale, question.onto)


def _scored(
    answers: list[Answer], question: JudgeQuestion, settings: RequestSettings
) -> Scored | Failure:
    if settings.mode == "samples":
        values, failures = _read_samples(answers, question)
        return score_by_samples(values) if values else _most_frequent(failures)
    outcomes = (_scored_choice(choice, question, settings) for choice in _all_choices(answers))
    first = next(outcomes)
    if isinstance(first, Scored):
        return first
    for number, outcome in enumerate(outcomes, start=2):
        if isinstance(outcome, Scored):
            return replace(outcome, note=_later_reply(number))
    return first


def _scored_choice(
    choice: ReplyChoice, question: JudgeQuestion, settings: RequestSettings
) -> Scored | Failure:
    """Score one reply."""
    if settings.mode == "direct":
        return score_directly(
            choice,
            scale=question.scale,
            criterion=question.criterion,
            others=question.others,
            form=question.form,
        )
    return score_by_logprobs(
        choice,
        scale=question.scale,
        criterion=question.criterion,
        others=question.others,
        min_coverage=settings.min_coverage,
        form=question.form,
    )


def _later_reply(number: int) -> str:
    unread = "The first reply" if number == 2 else f"The first {number - 1} replies"
    return f"{unread} could not be read; this score is from reply {number}."


def _all_choices(answers: Sequence[Answer]) -> Iterator[ReplyChoice]:
    return (choice for answer in answers for choice in answer.choices)


def readable_choices(
    answers: list[Answer], question: JudgeQuestion, settings: RequestSettings
) -> tuple[ReplyChoice, ...]:
    """Return the choices behind a score: as many readable samples as requested, or the one reply
    that counts."""

    def is_readable(choice: ReplyChoice) -> bool:
        if settings.mode == "samples":
            return isinstance(_rating_in(choice, question), Rating)
        return isinstance(_scored_choice(choice, question, settings), Scored)

    readable = filter(is_readable, _all_choices(answers))
    return tuple(itertools.islice(readable, settings.replies_each))


async def _judge_by_samples(
    question: JudgeQuestion, request: ChatRequest, ask: AskFully
) -> Judgement:
    answers: list[Answer] = []
    wanted = request.n
    for _ in range(READ_ATTEMPTS):
        values, _failures = _read_samples(answers, question)
        if len(values) >= wanted:
            break
        answers.append(await ask(replace(request, n=wanted - len(values))))
    values, failures = _read_samples(answers, question)
    if len(values) < wanted:
        worst = _most_frequent(failures)
        detail = (
            f"Only {len(values)} of {wanted} replies could be read after asking again."
            f" {worst.detail}"
        )
        return Judgement(Failure(worst.reason, detail), tuple(answers))
    return Judgement(score_by_samples(values), tuple(answers))


def _read_samples(
    answers: list[Answer], question: JudgeQuestion
) -> tuple[list[float], list[Failure]]:
    values: list[float] = []
    failures: list[Failure] = []
    for choice in _all_choices(answers):
        read = _rating_in(choice, question)
        if isinstance(read, Failure):
            failures.append(read)
        else:
            values.append(read.value)
    return values, failures


def _rating_in(choice: ReplyChoice, question: JudgeQuestion) -> Rating | Failure:
    return read_rating(
        choice,
        scale=question.scale,
        criterion=question.criterion,
        others=question.others,
        form=question.form,
    )


def _most_frequent(failures: list[Failure]) -> Failure:
    counts = Counter(failure.reason for failure in failures)
    reason = counts.most_common(1)[0][0]
    return next(failure for failure in failures if failure.reason == reason)
