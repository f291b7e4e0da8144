"""A judge's steadiness: from a study that repeats its questions, or else from the stored replies
behind its scores."""

from collections.abc import Collection, Iterator
from functools import partial

from django.db.models import CharField
from django.db.models.functions import MD5, Cast

from evaluations.models import Criterion, Judge, RunItem, ScoringMode, Study, StudyKind
from evaluations.models.improving import withheld_documents
from evaluations.models.newest_scores import runs_of_newest
from evaluations.reports.ratings.human_scores import weighted_scores
from geval.llm.parsing import Rating
from geval.llm.reply_structure import choices_from_json
from geval.llm.structured import read_rating
from geval.reports.steadiness import ItemRow, Steadiness, replies_repeated
from geval.statistics.scales import NO_POINT

# Maximum number of items whose replies are read for a page, which takes half a second with 20
# replies each. Items of whole documents are drawn by a hash.
MOST_ITEMS = 2000


def steadiness(judge: Judge) -> list[Steadiness]:
    """Return how much a judge's replies to the same question differ, by criterion, for criteria
    with repeated questions or scores based on several replies."""
    steadiness = []
    criteria = list(judge.project.criteria.all())
    studies, hidden = _newest_studies(judge), set(withheld_documents(judge.project_id))
    for criterion in criteria:
        study = studies.get(criterion.pk)
        people = partial(weighted_scores, judge.project_id, criterion.pk)
        measured = partial(replies_repeated, people=people, is_ordered=criterion.is_ordered)
        rows = _rows_of_study(study, hidden) if study else ()
        if study is not None and (shown := measured(list(rows))):
            each = judge.samples if judge.mode == ScoringMode.SAMPLES else 1
            steadiness.append(Steadiness(criterion.name, shown[0], study.made_at, each, shown[1]))
            continue
        stored = _rows(judge, criterion, hidden, most=MOST_ITEMS // len(criteria))
        if shown := measured(list(stored)):
            steadiness.append(Steadiness(criterion.name, shown[0], sample=shown[1]))
    return steadiness


def _newest_studies(judge: Judge) -> dict[int, Study]:
    """Return the judge's newest repetition studies with at least two recorded parts, by the id of
    their criterion."""
    studies = judge.studies.filter(
        kind=StudyKind.AGAIN, parts__number__gte=2, parts__recorded_at__isnull=False
    )
    newest: dict[int, Study] = {}
    for study in studies:
        newest.setdefault(study.criterion_id, study)
    return newest


def _rows_of_study(study: Study, hidden: Collection[int]) -> Iterator[ItemRow]:
    rows = study.items.values_list("output__document", "output", "scores")
    for document, output, scores in rows:
        values = [value for value in scores if value is not None]
        if len(values) > 1 and document not in hidden:
            yield document, output, values


def _rows(
    judge: Judge, criterion: Criterion, hidden: Collection[int], *, most: int
) -> Iterator[ItemRow]:
    """Yield document, output and readable replies of up to `most` items with several replies."""
    items = RunItem.objects.filter(
        run__in=runs_of_newest(judge.pk, criterion.pk),
        criterion=criterion,
        rival=None,
        reply__choices__1__isnull=False,
    )
    if hidden:
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
        values = [
            rating.value
            for rating in read
            if isinstance(rating, Rating) and rating.value != NO_POINT
        ]
        if len(values) > 1:
            yield document, output, values
