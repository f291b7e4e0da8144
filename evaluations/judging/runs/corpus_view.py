"""What an evaluator may read before it scores: a project's texts, scores and ratings."""

from collections import defaultdict

from django.db import connection

from evaluations.models import CandidateOutput, EvaluationRun
from evaluations.models.improving import withheld_documents
from evaluations.models.newest_scores import newest_scores
from geval.evaluators.base import Corpus


def corpus_for(run: EvaluationRun, wanted: frozenset[str]) -> Corpus:
    """Return the parts of a corpus that an evaluator asks for: outputs, sources, references,
    scores."""
    project = run.project
    outputs = CandidateOutput.objects.of_project(project)
    references = (
        project.documents.values_list("references", flat=True) if "references" in wanted else ()
    )
    return Corpus(
        outputs=list(outputs.values_list("text", flat=True)) if "outputs" in wanted else (),
        sources=(
            list(project.documents.values_list("source", flat=True)) if "sources" in wanted else ()
        ),
        references=[text for listed in references for text in listed],
        scores=_scores(project.pk) if "scores" in wanted else {},
        ratings=_ratings(project.pk) if "scores" in wanted else {},
        document_of=dict(outputs.values_list("pk", "document_id")) if "scores" in wanted else {},
    )


def _scores(project_id: int) -> dict[tuple[str, str], dict[int, float]]:
    """Return the newest score of each judge, from its latest version that gave one; a score that
    holds for every criterion has an empty criterion."""
    scores: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT j.name, coalesce(c.name, ''), n.output_id, n.value
                FROM ({newest_scores("r.project_id = %s")}) AS n
                JOIN evaluations_judge j ON j.id = n.judge_id
                LEFT JOIN evaluations_criterion c ON c.id = n.criterion_id
                ORDER BY j.version""",
            [project_id],
        )
        for judge, criterion, output, value in cursor.fetchall():
            scores[judge, criterion][output] = value
    return dict(scores)


def _ratings(project_id: int) -> dict[str, dict[int, float]]:
    """Return the human mean by criterion and output, without withheld ratings, which a score must
    not reveal."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT c.name, h.output_id, h.mean
               FROM annotations_human_means(ARRAY(
                   SELECT o.id FROM evaluations_candidateoutput o
                   JOIN evaluations_document d ON d.id = o.document_id
                   WHERE d.project_id = %s AND d.id <> ALL(%s))) h
               JOIN evaluations_criterion c ON c.id = h.criterion_id""",
            [project_id, withheld_documents(project_id)],
        )
        ratings: dict[str, dict[int, float]] = defaultdict(dict)
        for criterion, output, score in cursor.fetchall():
            ratings[criterion][output] = score
    return dict(ratings)
