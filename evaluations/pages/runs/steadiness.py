"""How steady a judge is: from being asked again on purpose, or else from the replies that are kept
behind its scores."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import CharField
from django.db.models.functions import MD5, Cast

from evaluations.models import Criterion, Judge, RunItem, ScoringMode, Study, StudyKind
from evaluations.models.improving import withheld_documents
from evaluations.models.newest_scores import runs_of_newest
from evaluations.reports.ratings.weights import weighted_scores
from geval.llm.parsing import Rating
from geval.llm.reply_json import choices_from_json
from geval.llm.structured import read_rating
from geval.reports.downloads.json_values import estimate_json
from geval.reports.samples import about_asking
from geval.statistics.layout import Outputs, Ratings
from geval.statistics.repeatability import Repeatability, repeatability
from geval.statistics.results import Estimate
from geval.texts.numbers import shown, thin, whole_percent

# Replies of no more items are read for a page, which takes half a second with 20 each; the items of
# whole documents, drawn by a hash.
MOST_ITEMS = 2000
# How many replies a score could rest on, beside how many it does.
REPLIES = (1, 5, 20)


@dataclass(frozen=True)
class Steadiness:
    """A judge on one criterion.

    `asked_at` is when it was asked again on purpose; then each score of that study counts as a
    reply. None where stored replies are used. `sample` says of what correlations with people speak,
    where these do not speak of all outputs.
    """

    criterion: str
    found: Repeatability
    asked_at: datetime | None = None
    replies_of_score: int = 1
    sample: tuple[str, ...] = ()

    @property
    def score_error(self) -> Estimate:
        """The standard error of a score as the judge gives it."""
        if self.asked_at is None or self.found.reply_error.value is None:
            return self.found.score_error
        return Estimate(self.found.reply_error.value / math.sqrt(self.replies_of_score))


def steadiness(judge: Judge) -> list[Steadiness]:
    """How far a judge's replies to the same question differ, by criterion; only criteria on which
    it was asked again, or on which its scores rest on several replies."""
    steadiness = []
    criteria = list(judge.project.criteria.all())
    for criterion in criteria:
        study = _newest_study(judge, criterion)
        rows = _rows_of_study(study) if study else ()
        if study is not None and (measured := _repeatability(judge, criterion, list(rows))):
            each = judge.samples if judge.mode == ScoringMode.SAMPLES else 1
            steadiness.append(
                Steadiness(criterion.name, measured[0], study.made_at, each, measured[1])
            )
            continue
        stored = _rows(judge, criterion, most=MOST_ITEMS // len(criteria))
        if measured := _repeatability(judge, criterion, list(stored)):
            steadiness.append(Steadiness(criterion.name, measured[0], sample=measured[1]))
    return steadiness


# A row of the table: what it says, its term in the glossary, and a text for each criterion.
Row = tuple[str, str, list[str]]


def rows_of(found: Sequence[Steadiness]) -> list[Row]:
    """The table of a page: statistics down, criteria across."""
    each = [one.found for one in found]
    rows: list[Row] = [
        ("Items", "", [thin(one.items) for one in each]),
        ("Replies to each", "", [f"{round(one.replies, 1):g}" for one in each]),
        ("Reliability of one reply", "reply_reliability", [shown(one.icc) for one in each]),
        ("Error of a reply, in points", "reply_error", [shown(one.reply_error) for one in each]),
        ("Error of a score, in points", "", [shown(one.score_error) for one in found]),
        ("Two replies differ", "replies_differ", [_percent(one.differ) for one in each]),
        ("Orders flip", "order_flips", [_percent(one.flips) for one in each]),
    ]
    for replies in REPLIES:
        of = "one reply" if replies == 1 else f"{replies} replies"
        name = f"Pearson's r with people over all outputs, {of}"
        term = "more_replies" if replies == 1 else ""
        rows.append((name, term, [shown(one.pearson_with(replies)) for one in each]))
    return rows


def steadiness_json(one: Steadiness) -> dict[str, Any]:
    """A criterion's figures; an undefined one is null with its reason."""
    value = one.found
    return {
        "items": value.items,
        "replies": value.replies,
        "reply_reliability": estimate_json(value.icc),
        "reply_error": estimate_json(value.reply_error),
        "asked_at": one.asked_at,
        "score_error": estimate_json(one.score_error),
        "replies_differ": estimate_json(value.differ),
        "orders_flip": estimate_json(value.flips),
        "pearson_with_replies": {
            str(replies): estimate_json(value.pearson_with(replies)) for replies in REPLIES
        },
        **({"what_numbers_speak_of": list(one.sample)} if one.sample else {}),
    }


def _percent(share: Estimate) -> str:
    return shown(share) if share.value is None else whole_percent(share.value)


# Document, output, and the values of its replies.
ItemRow = tuple[int, int, Sequence[float]]


def _newest_study(judge: Judge, criterion: Criterion) -> Study | None:
    """The newest time that the judge was asked again on a criterion and said something twice."""
    studies = judge.studies.filter(criterion=criterion, kind=StudyKind.AGAIN)
    return studies.filter(parts__number__gte=2, parts__recorded_at__isnull=False).first()


def _rows_of_study(study: Study) -> Iterator[ItemRow]:
    hidden = set(withheld_documents(study.project_id))
    rows = study.items.values_list("output__document", "output", "scores")
    for document, output, scores in rows:
        values = [value for value in scores if value is not None]
        if len(values) > 1 and document not in hidden:
            yield document, output, values


def _repeatability(
    judge: Judge, criterion: Criterion, rows: Sequence[ItemRow]
) -> tuple[Repeatability, tuple[str, ...]] | None:
    """How repeatable the replies are, and of what their correlation with people speaks."""
    if not rows:
        return None
    document, output, values = zip(*sorted(rows), strict=True)
    documents, at_document = np.unique(document, return_inverse=True)
    replies = Ratings(
        np.repeat(np.arange(len(rows)), [len(each) for each in values]),
        np.concatenate([np.arange(len(each)) for each in values]),
        np.concatenate([np.array(each) for each in values]),
        len(rows),
        max(len(each) for each in values),
    )
    # Which system wrote an output does not matter here.
    outputs = Outputs(at_document, np.arange(len(rows)), len(documents), len(rows))
    ids = np.sort(np.array(output, dtype=np.int64))
    human = weighted_scores(judge.project_id, criterion.pk, ids)
    means = human.mean[np.searchsorted(ids, output)]
    result = repeatability(replies, outputs, means)
    return None if result is None else (result, about_asking(human))


def _rows(judge: Judge, criterion: Criterion, *, most: int) -> Iterator[ItemRow]:
    """Document, output and the readable replies of each of some items that have several."""
    items = RunItem.objects.filter(
        run__in=runs_of_newest(judge.pk, criterion.pk),
        criterion=criterion,
        rival=None,
        reply__choices__1__isnull=False,
    )
    if hidden := withheld_documents(judge.project_id):
        items = items.exclude(output__document__in=hidden)
    drawn = items.annotate(draw=MD5(Cast("output__document", CharField())))
    rows = drawn.order_by("draw", "output", "-run").values_list(
        "output__document", "output", "reply__choices"
    )
    form = judge.settings.get("reply_form", "text")
    seen = set()
    for document, output, choices in rows[:most].iterator():
        if output in seen:
            continue
        seen.add(output)
        read = [
            read_rating(choice, scale=criterion.scale, criterion=criterion.name, form=form)
            for choice in choices_from_json(choices)
        ]
        values = [one.value for one in read if isinstance(one, Rating)]
        if len(values) > 1:
            yield document, output, values
