"""One output on which a judge and people differ, with all evidence: texts, ratings, the judge's
distribution, its prompt and its reply."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotations.models import Annotator, Rating
from evaluations.models import (
    CandidateOutput,
    Criterion,
    EvaluationRun,
    Explanation,
    GapCause,
    Judge,
    RunCriterion,
    RunItem,
    Score,
)
from evaluations.models.newest_scores import newest_scores
from geval.llm.reply_structure import choices_from_json
from geval.reports.data import ReportData
from geval.reports.drawings.strip import Strip, strip_of
from geval.reports.gap_case import (
    OtherCriterion,
    OtherJudge,
    case_in_words,
    describe_scoring,
    difference_in_words,
    other_criteria,
    other_judges,
    shares_of_points,
    shown_on,
)
from geval.reports.gaps import GapNumbers, Gaps
from geval.texts.lengths import count_words
from geval.texts.numbers import signed, two_decimals
from geval.texts.word_differences import Piece, taken_from, word_differences
from geval_site.sql import fetch_rows

# A longer source is truncated; the document's page shows all of it.
MOST_CHARACTERS = 60_000
# The G-Eval paper samples 20 replies for each score.
MOST_REPLIES = 20
# A reasoning model's reply may have pages.
MOST_REPLY_CHARACTERS = 2_000
_NEWEST = newest_scores(
    "r.judge_id = %s AND s.output_id = %s AND (s.criterion_id = %s OR s.criterion_id IS NULL)"
)


@dataclass(frozen=True)
class GapCase:
    """A case: its `rank` among all, its numbers in words, and its evidence.

    `texts` and `source` are in pieces. Pieces of the output are marked if the source does not
    contain them, and pieces of the source if the output copies them.
    """

    rank: int
    of: int
    output: CandidateOutput
    people: str
    score: str
    how: str
    difference: str
    ratings: tuple[tuple[str, str], ...]
    strip: Strip | None
    text: list[Piece]
    source: list[Piece]
    is_cut: bool
    words: int
    source_words: int
    other_judges: tuple[OtherJudge, ...]
    other_criteria: tuple[OtherCriterion, ...]
    item: RunItem | None
    steps: str
    steps_version: int
    replies: tuple[str, ...]
    explanation: str
    cause: GapCause | None


def gap_case(
    numbers: GapNumbers,
    gaps: Gaps,
    place: int,
    *,
    criterion: Criterion,
    judge: Judge,
    run: EvaluationRun | None,
    judges: Mapping[int, str],
    criteria: Mapping[int, Criterion],
) -> GapCase:
    """Return the evidence on one output; only its own texts are read.

    Args:
        place: its position in the arrays of `gaps`.
        run: the run whose score is shown; by default the judge's newest.
        judges: the names of the project's, by id.
        criteria: those that have judges, by id.
    """
    data = numbers.data
    index, key = int(gaps.at[place]), (criterion.pk, judge.pk)
    output = CandidateOutput.objects.select_related("document__project", "system").get(
        pk=int(data.output_ids[index])
    )
    score = _score(judge, criterion, output, run)
    item, steps = _asked(score, output, criterion)
    choices = choices_from_json(item.reply.choices) if item and item.reply else ()
    replies = item.run.frozen.replies_each if item and score and score.mode == "samples" else 0
    people, gap = float(gaps.people[place]), float(gaps.gap[place])
    ratings = _ratings(data, output, criterion)
    source = output.document.source[:MOST_CHARACTERS]
    words = output.text[:MOST_CHARACTERS]
    scale = criterion.scale
    given = shown_on(scale, float(gaps.scores[place]))
    return GapCase(
        rank=int(np.flatnonzero(gaps.order == place)[0]) + 1,
        of=numbers.outputs,
        output=output,
        people=scale.label_at(people) or two_decimals(people),
        score=given,
        how=describe_scoring(score.mode if score else "", replies),
        difference=difference_in_words(gap) if scale.is_ordered else "",
        ratings=tuple((name, shown_on(scale, value)) for name, value in ratings),
        strip=strip_of(
            scale,
            ratings,
            people,
            people + gap,
            shares=shares_of_points((score.distribution or {}) if score else {}),
            replies=replies,
            gap=signed(gap),
            description=case_in_words(judge.label, ratings, people, given, gap),
        )
        if scale.is_ordered
        else None,
        text=word_differences(words, source)[0],
        source=taken_from(source, words),
        is_cut=len(source) < len(output.document.source) or len(words) < len(output.text),
        words=int(data.words[index]),
        source_words=count_words(output.document.source),
        other_judges=tuple(other_judges(data, index, key, judges, scale)),
        other_criteria=tuple(other_criteria(data, index, key, criteria)),
        item=item,
        steps=steps.steps.text if steps and steps.steps else "",
        steps_version=steps.steps.version if steps and steps.steps else 0,
        replies=tuple(
            (choice.text or choice.refusal)[:MOST_REPLY_CHARACTERS]
            for choice in choices[:MOST_REPLIES]
            if choice.echoed is None
        ),
        explanation=_explanation(score),
        cause=GapCause.objects.filter(judge=judge, criterion=criterion, output=output).first(),
    )


def _score(
    judge: Judge, criterion: Criterion, output: CandidateOutput, run: EvaluationRun | None
) -> Score | None:
    """Return the score that counts: a run's, or the newest. A score on this criterion takes
    precedence over one for all criteria."""
    if run is not None:
        scores = Score.objects.filter(run=run, output=output)
    else:
        rows = fetch_rows(f"SELECT n.id FROM ({_NEWEST}) AS n", [judge.pk, output.pk, criterion.pk])
        scores = Score.objects.filter(pk__in=[pk for (pk,) in rows])
    by_criterion = {score.criterion_id: score for score in scores.select_related("run")}
    return by_criterion.get(criterion.pk) or by_criterion.get(None)


def _asked(
    score: Score | None, output: CandidateOutput, criterion: Criterion
) -> tuple[RunItem | None, RunCriterion | None]:
    if score is None:
        return None, None
    item = (
        RunItem.objects.filter(run=score.run, output=output, criterion=score.criterion)
        .select_related("run__judge", "reply")
        .first()
    )
    steps = (
        RunCriterion.objects.filter(run=score.run, criterion=criterion)
        .select_related("steps")
        .first()
    )
    return item, steps


def _ratings(
    data: ReportData, output: CandidateOutput, criterion: Criterion
) -> list[tuple[str, float]]:
    """Return who gave which rating: the people included in the view, or the release's mean if
    nobody is named."""
    counted = set(data.humans[criterion.pk].annotator_ids)
    rows = (
        Rating.objects.filter(output=output, criterion=criterion)
        .order_by("annotator")
        .values_list("annotator", "annotator__name", "annotator__kind", "score")
    )
    numbers = [(pk, name, kind, score) for pk, name, kind, score in rows if score is not None]
    people = [(name, score) for pk, name, _kind, score in numbers if pk in counted]
    means = [(name, score) for _pk, name, kind, score in numbers if kind == Annotator.Kind.MEAN]
    return people or means


def _explanation(score: Score | None) -> str:
    explanation = Explanation.objects.filter(score=score).first() if score else None
    return explanation.text if explanation else ""
