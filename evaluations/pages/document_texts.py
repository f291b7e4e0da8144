"""The texts behind a number, for readers of a shared report: one document, its outputs, their
ratings and score, and the judge's words."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from statistics import fmean

from annotations.models import Rating
from evaluations.models import (
    CandidateOutput,
    Criterion,
    Document,
    Explanation,
    Judge,
    RunItem,
    Score,
)
from evaluations.models.improving import shown_means
from evaluations.models.newest_scores import newest_scores
from geval.llm.reply_structure import choices_from_json
from geval.reports.score_cells import number_or_none
from geval.statistics.scales import short
from geval.texts.numbers import or_dash
from geval_site.sql import fetch_rows

# A reasoning model's reply may have pages; a page shows one for each score.
MOST_CHARACTERS = 2_000
_NEWEST = newest_scores(
    "o.document_id = %s AND r.judge_id = %s AND (s.criterion_id = %s OR s.criterion_id IS NULL)",
    joins="JOIN evaluations_candidateoutput o ON o.id = s.output_id",
)


@dataclass(frozen=True)
class OutputText:
    """An output with its ratings and score, "–" if missing; `words` are the judge's explanation, or
    else its reply."""

    output: CandidateOutput
    people: str
    score: str
    words: str


def document_texts(
    document: Document,
    criterion: Criterion,
    judge: Judge,
    *,
    systems: Collection[int] = (),
    annotators: Collection[int] = (),
) -> list[OutputText]:
    """Return the outputs of a document, ordered by system.

    Args:
        systems, annotators: ids of those in the view; empty means all.
    """
    outputs = document.outputs.select_related("system").order_by("system")
    if systems:
        outputs = outputs.filter(system__in=systems)
    means = _means(document, criterion, annotators)
    scores = _scores(document, criterion, judge)
    words = _words(list(scores.values()))
    document_texts = []
    for output in outputs:
        score, mean = scores.get(output.pk), means.get(output.pk)
        document_texts.append(
            OutputText(
                output,
                people=or_dash(mean),
                score="–" if score is None else number_or_none(score.value, _rounded),
                words="" if score is None else words.get(score.pk, ""),
            )
        )
    return document_texts


def _means(
    document: Document, criterion: Criterion, annotators: Collection[int]
) -> dict[int, float]:
    if not annotators:
        means = shown_means(document.outputs.all(), document.project_id)
        return {output: mean for (output, of), mean in means.items() if of == criterion.pk}
    ratings = defaultdict(list)
    for output, score in Rating.objects.filter(
        output__document=document,
        criterion=criterion,
        annotator__in=annotators,
    ).values_list("output", "score"):
        if score is not None:
            ratings[output].append(score)
    return {output: fmean(scores) for output, scores in ratings.items()}


def _rounded(score: float) -> str:
    return short(round(score, 2))


def _scores(document: Document, criterion: Criterion, judge: Judge) -> dict[int, Score]:
    """Return the score that counts, by output: one on this criterion before one for all
    criteria."""
    rows = fetch_rows(f"SELECT n.id FROM ({_NEWEST}) AS n", [document.pk, judge.pk, criterion.pk])
    newest = Score.objects.filter(pk__in=[pk for (pk,) in rows])
    about_all_first = sorted(newest, key=lambda score: score.criterion_id is not None)
    return {score.output_id: score for score in about_all_first}


def _words(scores: list[Score]) -> dict[int, str]:
    """Return the judge's words on each score: its explanation, or else its first reply with
    words."""
    explained = dict(
        Explanation.objects.filter(score__in=scores).exclude(text="").values_list("score", "text")
    )
    by_item = {(score.run_id, score.output_id, score.criterion_id): score.pk for score in scores}
    items = RunItem.objects.filter(
        run__in={score.run_id for score in scores}, output__in={score.output_id for score in scores}
    ).select_related("reply")
    notes = {}
    for item in items:
        score = by_item.get((item.run_id, item.output_id, item.criterion_id))
        choices = choices_from_json(item.reply.choices) if score and item.reply else ()
        text = (choices[0].text or choices[0].refusal) if choices else ""
        # A bare rating gives no reason.
        if score and any(character.isalpha() for character in text):
            notes[score] = text
    return {pk: text[:MOST_CHARACTERS] for pk, text in (notes | explained).items()}
