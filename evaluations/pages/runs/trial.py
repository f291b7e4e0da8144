"""The items of a trial as its page shows them: the prompt, the reply, and how it was read."""

from dataclasses import dataclass

from evaluations.judging.runs.run_questions import criterion_prompts
from evaluations.models import EvaluationRun, PairScore, RunItem, Score
from evaluations.pages.runs.item import prompts_of
from geval.llm.replies import ReplyChoice
from geval.llm.reply_json import choices_from_json


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


# The number of an item's replies to show: enough to see how they differ.
SHOWN_REPLIES = 3


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
            )
        )
    return shown
