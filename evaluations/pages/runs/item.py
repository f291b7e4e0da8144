"""The page of a run's item: prompt, reply, token probabilities, score, and people's ratings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from annotations.models import Rating
from evaluations.judging.runs.item_questions import criterion_prompts, item_of
from evaluations.judging.runs.leases import ClaimedItem
from evaluations.judging.runs.lifecycle import evaluator_of
from evaluations.models import CandidateOutput, PairScore, RunItem, Score
from evaluations.models.improving import is_withheld
from geval.evaluators.base import CriterionPrompt, EvaluatorError, SettingsError
from geval.evaluators.llm_evaluator import LlmEvaluator, text_of
from geval.evaluators.registry import make_evaluator
from geval.llm.parsing import Failure
from geval.llm.prompts import windows
from geval.llm.replies import ReplyChoice, Token
from geval.llm.reply_json import choices_from_json

SHOWN_ALTERNATIVES = 10
SHOWN_TOKENS = 60


@dataclass(frozen=True)
class Share:
    """A bar: its label and a probability from 0 to 1."""

    label: str
    share: float

    @property
    def percent(self) -> float:
        return round(100 * self.share, 1)


@dataclass(frozen=True)
class TokenView:
    """A token of the reply with its likeliest alternatives."""

    text: str
    alternatives: tuple[Share, ...]


@dataclass(frozen=True)
class ItemView:
    """Everything about one item. `score` is None while there is none; `problem` says why nothing
    can be asked; `window` says what of a conversation the judge did not see.

    `prompts` is empty where nobody is asked; `pair` is there where two outputs are compared.
    """

    prompts: tuple[str, ...]
    problem: str
    pair: PairScore | None
    replies: tuple[ReplyChoice, ...]
    tokens: tuple[TokenView, ...]
    score: Score | None
    distribution: tuple[Share, ...]
    ratings: tuple[tuple[str, float], ...]
    human_mean: float | None
    withheld: bool = False
    window: str = ""


def item_view(item: RunItem) -> ItemView:
    """Gather what an item's page shows."""
    prompts, problem, window = prompts_of(item, criterion_prompts(item.run))
    replies = choices_from_json(item.reply.choices) if item.reply else ()
    score = Score.objects.filter(run=item.run, output=item.output, criterion=item.criterion).first()
    rated = Rating.objects.filter(output=item.output, criterion=item.criterion).select_related(
        "annotator"
    )
    hidden = is_withheld(item.output.document)
    ratings = () if hidden else tuple((one.annotator.name, one.score) for one in rated)
    means = {} if hidden else CandidateOutput.objects.filter(pk=item.output_id).human_means()
    return ItemView(
        prompts=prompts,
        problem=problem,
        pair=(
            PairScore.objects.filter(
                run=item.run, output=item.output, rival=item.rival, criterion=item.criterion
            ).first()
            if item.rival
            else None
        ),
        replies=replies,
        tokens=_tokens(replies[0]) if replies else (),
        score=score,
        distribution=(
            tuple(Share(point, share) for point, share in (score.distribution or {}).items())
            if score
            else ()
        ),
        ratings=ratings,
        human_mean=means.get((item.output_id, item.criterion_id or 0)),
        withheld=hidden,
        window=window,
    )


def prompts_of(
    item: RunItem, criteria: Mapping[int, CriterionPrompt]
) -> tuple[tuple[str, ...], str, str]:
    """What is asked about an item, why nothing can be, and what of a conversation is not shown.

    Args:
        criteria: those of its run, as `criterion_prompts` reads them.
    """
    try:
        evaluator = make_evaluator(*evaluator_of(item.run))
    except (EvaluatorError, SettingsError) as error:
        return (), str(error), ""
    if not isinstance(evaluator, LlmEvaluator):
        return (), "", ""
    texts = item.output.texts(rival=item.rival)
    claimed = ClaimedItem(item.pk, item.output_id, item.criterion_id, texts, item.rival_id)
    seen, about = item_of(claimed, criteria)
    settings = item.run.frozen.request_settings
    question = evaluator.question(seen, about.scale, settings)
    if isinstance(question, Failure):
        return (about.template,), question.detail, ""
    prompts = tuple(text_of(request) for request in evaluator.requests(question, settings))
    return prompts, "", windows(about.template, texts)


def _tokens(choice: ReplyChoice) -> tuple[TokenView, ...]:
    """The tokens of a reply, or the last ones of a text that came back with its
    log-probabilities."""
    if choice.echoed is not None:
        tokens = [token for token in choice.echoed if token.logprob is not None]
        return tuple(
            TokenView(_visible(token.text), (Share("p", math.exp(min(0.0, token.logprob or 0.0))),))
            for token in tokens[-SHOWN_TOKENS:]
        )
    return tuple(_token_view(token) for token in (choice.tokens or ())[:SHOWN_TOKENS])


def _token_view(token: Token) -> TokenView:
    ranked = sorted(token.alternatives or ((token.text, token.logprob),), key=lambda pair: -pair[1])
    shares = (
        Share(_visible(text), math.exp(min(0.0, value)))
        for text, value in ranked[:SHOWN_ALTERNATIVES]
    )
    return TokenView(_visible(token.text), tuple(shares))


def _visible(text: str) -> str:
    """A token with its blanks and line ends made visible."""
    return text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥") or "(empty)"
