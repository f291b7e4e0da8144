"""Create studies of a judge, and choose the outputs that they ask about."""

from decimal import Decimal
from typing import Any

from django.db import transaction

from evaluations.judging.runs.lifecycle import evaluator_for
from evaluations.models import Criterion, EvaluationRun, Judge, Study, StudyItem, StudyKind
from evaluations.models.improving import withheld_documents
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.perturbing import PROBES, REPEATED, UNCHANGED
from geval.statistics.thresholds import STUDY_MOST_OUTPUTS, STUDY_OUTPUTS
from geval_site.sql import fetch_rows

# Default numbers of outputs and repetitions.
USUAL = {StudyKind.AGAIN: (100, 5), StudyKind.PROBES: (200, 1)}
# The names of a study's parts, if they differ.
PARTS = {StudyKind.PROBES: (UNCHANGED, REPEATED, *(probe.name for probe in PROBES))}


class StudyError(ValueError):
    """A study that cannot be created; the message says why and what to do."""


def why_not(judge: Judge) -> str:
    """Return why a judge cannot be studied, or an empty text."""
    if not judge.evaluator or not issubclass(judge.evaluator, LlmEvaluator):
        return "Only judges that ask a model can be unsteady; this one computes."
    if not can_be_instructed(judge):
        return "It compares pairs; only judges that score one output at a time can be studied."
    if judge.retired_at or (judge.endpoint and judge.endpoint.retired_at):
        return f"{judge} or its endpoint is retired; restore it first."
    return ""


def can_be_instructed(judge: Judge) -> bool:
    """Whether a judge asks a model about one output at a time."""
    kind = judge.evaluator
    return kind is not None and issubclass(kind, LlmEvaluator) and not kind.compares_pairs


@transaction.atomic
def make_study(
    judge: Judge,
    criterion: Criterion,
    kind: str,
    *,
    items: int | None = None,
    replies: int | None = None,
    budget: Decimal | None = None,
    by: Any = None,
) -> Study:
    """Create a study; workers do the asking.

    Args:
        kind: a `StudyKind`.
        items: number of outputs, spread over documents, rated ones first; one of several equal
            texts.
        replies: number of scores per output to ask for (asked again).
        budget: budget of each run, in the currency of the judge's prices.
        by: the user who requests it.

    Raises:
        StudyError: the judge cannot be studied, or there are too few outputs.
    """
    if reason := why_not(judge):
        raise StudyError(reason)
    if reason := criterion.why_items:
        raise StudyError(reason)
    usual_items, usual_replies = USUAL[StudyKind(kind)]
    wanted = items or usual_items
    if not STUDY_OUTPUTS <= wanted <= STUDY_MOST_OUTPUTS:
        raise StudyError(f"A study asks about {STUDY_OUTPUTS} to {STUDY_MOST_OUTPUTS} outputs.")
    if budget is not None and (judge.price_in is None or judge.price_out is None):
        raise StudyError(
            f"A budget needs prices: give {judge} its prices for a million tokens in and out."
        )
    chosen = _chosen(judge.project_id, criterion.pk, wanted)
    if len(chosen) < STUDY_OUTPUTS:
        raise StudyError(
            f"This project has {len(chosen)} outputs with different texts; a study needs"
            f" {STUDY_OUTPUTS}. Load more outputs."
        )
    study = Study.objects.create(
        project=judge.project, judge=judge, criterion=criterion, kind=kind,
        replies=replies or usual_replies, budget=budget, made_by=by,
    )  # fmt: skip
    StudyItem.objects.bulk_create(
        StudyItem(study=study, output_id=output, rating=rating) for output, rating in chosen
    )
    return study


def criteria_asked(
    judge: Judge, criterion: Criterion, study: Study | None = None
) -> list[Criterion]:
    """Return the criteria of a study's requests: its own and, if its judge rates several per
    request, those in the study's first run, or else in the judge's newest run. A request with a
    single criterion would be a different instrument."""
    if not evaluator_for(judge).asks_together:
        return [criterion]
    rated = judge.runs.counting().filter(run_criteria__criterion=criterion)
    run = (first_run_of(study) if study else None) or rated.order_by("-pk").first()
    if run is None:
        return [criterion]
    return list(Criterion.objects.filter(pk__in=run.run_criteria.values("criterion")))


def first_run_of(study: Study) -> EvaluationRun | None:
    """Return the run of the first part whose run still exists."""
    part = study.parts.exclude(run=None).select_related("run").order_by("number").first()
    return part.run if part else None


def parts_of(study: Study) -> int:
    """Return how many parts a study has."""
    return len(PARTS.get(StudyKind(study.kind), ())) or study.replies


def stop(study: Study) -> bool:
    """End a study for good, keeping its findings; return False if it had already ended."""
    return Study.objects.filter(pk=study.pk).stop() == 1


def _chosen(project: int, criterion: int, most: int) -> list[tuple[int, float | None]]:
    """Return outputs with people's mean rating: two of each document, then two more, and so on;
    documents with ratings first, otherwise ordered by a hash.

    Withheld ratings are left out.
    """
    return fetch_rows(
        """WITH outputs AS (
               SELECT DISTINCT ON (o.document_id, md5(o.text)) o.id, o.document_id
               FROM evaluations_candidateoutput o
               JOIN evaluations_document d ON d.id = o.document_id
               WHERE d.project_id = %(project)s AND btrim(o.text) <> ''
               ORDER BY o.document_id, md5(o.text), o.id),
           rated AS (
               SELECT o.id, o.document_id, h.mean,
                      row_number() OVER (PARTITION BY o.document_id ORDER BY md5(o.id::text))
                          AS place
               FROM outputs o
               LEFT JOIN annotations_human_means(ARRAY(SELECT id FROM outputs)) h
                 ON h.output_id = o.id AND h.criterion_id = %(criterion)s
                AND NOT o.document_id = ANY(%(withheld)s::bigint[]))
           SELECT id, mean FROM rated
           ORDER BY count(mean) OVER (PARTITION BY document_id) = 0, (place - 1) / 2,
                    md5(document_id::text), document_id, place
           LIMIT %(most)s""",
        {
            "project": project,
            "criterion": criterion,
            "withheld": withheld_documents(project),
            "most": most,
        },
    )
