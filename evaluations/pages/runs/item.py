"""A run's items as pages show them: one with its prompt, reply, token probabilities, score and
people's ratings; those of a trial with how their replies were read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from annotations.models import Rating
from evaluations.judging.runs.leases import ClaimedItem
from evaluations.judging.runs.lifecycle import evaluator_of
from evaluations.judging.runs.run_questions import criterion_prompts, item_of
from evaluations.models import CandidateOutput, EvaluationRun, PairScore, RunItem, Score
from evaluations.models.improving import is_withheld, shown_means
from geval.evaluators.base import CriterionPrompt, EvaluatorError, SettingsError
from geval.evaluators.llm_evaluator import LlmEvaluator, text_of
from geval.evaluators.registry import make_evaluator
from geval.llm.parsing import Failure
from geval.llm.prompts import windows
from geval.llm.replies import ReplyChoice
from geval.llm.reply_structure import choices_from_json
from geval.llm.shown_tokens import ProbabilityBar, TokenView, shown_tokens

# The number of replies to show of a trial's item: enough to see how they differ.
SHOWN_REPLIES = 3


@dataclass(frozen=True)
class ItemView:
    """Everything about one item. `score` is None if there is none; `problem` says why there is no
    question; `window` says which part of a conversation the judge did not see.

    `prompts` is empty if no model is asked; `pair` is set if two outputs are compared.
    """

    prompts: tuple[str, ...]
    problem: str
    pair: PairScore | None
    replies: tuple[ReplyChoice, ...]
    tokens: tuple[TokenView, ...]
    score: Score | None
    distribution: tuple[ProbabilityBar, ...]
    ratings: tuple[tuple[str, float | None], ...]
    human_mean: float | None
    withheld: bool = False
    window: str = ""


def item_view(item: RunItem) -> ItemView:
    """Return what an item's page shows."""
    prompts, problem, window = prompts_of(item, criterion_prompts(item.run))
    replies = choices_from_json(item.reply.choices) if item.reply else ()
    score = Score.objects.filter(run=item.run, output=item.output, criterion=item.criterion).first()
    rated = Rating.objects.filter(output=item.output, criterion=item.criterion).select_related(
        "annotator"
    )
    hidden = is_withheld(item.output.document)
    ratings = () if hidden else tuple((rating.annotator.name, rating.score) for rating in rated)
    means = shown_means(CandidateOutput.objects.filter(pk=item.output_id), item.run.project_id)
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
        tokens=shown_tokens(replies[0]) if replies else (),
        score=score,
        distribution=(
            tuple(
                ProbabilityBar(point, share) for point, share in (score.distribution or {}).items()
            )
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
    """Return the prompts of an item, why there are none, and which part of a conversation is not
    shown.

    Args:
        criteria: the run's criteria, as `criterion_prompts` reads them.
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


@dataclass(frozen=True)
class TrialItem:
    """An item of a trial. `value` is its score, None without one; `coverage` the probability of the
    scale's points, None if not measured; `left_out` how many replies are not in `replies`."""

    item: RunItem
    prompts: tuple[str, ...]
    replies: tuple[ReplyChoice, ...]
    left_out: int
    value: float | None
    coverage: float | None
    is_not_applicable: bool = False


def trial_items(run: EvaluationRun) -> list[TrialItem]:
    """Return the items of a trial in order."""
    items = list(
        run.items.select_related(
            "reply", "criterion", "output__document", "output__system", "rival__system"
        ).order_by("pk")
    )
    criteria = criterion_prompts(run)
    scores = {(score.output_id, score.criterion_id): score for score in run.scores.all()}
    pairs = {
        (pair.output_id, pair.rival_id, pair.criterion_id): pair.value
        for pair in PairScore.objects.filter(run=run)
    }
    shown = []
    for item in items:
        item.run = run
        replies = choices_from_json(item.reply.choices) if item.reply else ()
        score: Score | None = scores.get((item.output_id, item.criterion_id))
        value = score.value if score else None
        if item.rival_id:
            value = pairs.get((item.output_id, item.rival_id, item.criterion_id))
        shown.append(
            TrialItem(
                item,
                prompts_of(item, criteria)[0],
                tuple(replies[:SHOWN_REPLIES]),
                max(0, len(replies) - SHOWN_REPLIES),
                value,
                score.coverage if score and not item.rival_id else None,
                is_not_applicable=score is not None and score.value is None,
            )
        )
    return shown
