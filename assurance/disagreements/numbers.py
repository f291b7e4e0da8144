"""The numbers of the page of disagreements: the ranked outputs, and what they have in common."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from django.db import connection

from evaluations.models import EvaluationRun, Project
from evaluations.models.changes import state_of
from evaluations.reports.data import fill_judges
from evaluations.reports.report import criterion_result
from evaluations.reports.serving.parts import PageParts, part_of_page
from geval.reports.data import ReportData
from geval.reports.gap_numbers import (
    GapNumbers,
    Patterns,
    largest_gaps,
    patterns_of,
    rho_on,
    shift_in_words,
)
from geval.reports.gap_view import GapView, first_of, read_gap_view
from geval.reports.gaps import Gaps, gaps_of, judges_on
from geval.reports.samples import about_sample
from geval.statistics.cache import remembered_as
from geval.statistics.thresholds import WORD_DOCUMENTS, WORD_SHARE

MOST_WORDS = 40
# PostgreSQL parses each word, and the beginning of a text has its topic.
READ_CHARACTERS = 30_000
# Words of at least four letters that are not stop words of PostgreSQL's English dictionary. The
# most common words are tested first, so that the choice does not depend on which documents have
# large gaps.
_WORDS = """
    WITH found AS (
        SELECT word, array_agg(d.id) AS ids
        FROM evaluations_document d, unnest(tsvector_to_array(
            evaluations_search_words(left(d.source, %(characters)s)))) AS word
        WHERE d.project_id = %(project)s AND d.id = ANY (%(ids)s::bigint[])
            AND word ~ '^[[:alpha:]]{4,24}$'
        GROUP BY word HAVING count(*) BETWEEN %(least)s AND %(most)s)
    SELECT word, ids FROM found WHERE length(to_tsvector('english', word)) > 0
    ORDER BY cardinality(ids) DESC, word LIMIT %(words)s"""


def gap_numbers(project: Project, everything: ReportData, view: GapView) -> GapNumbers:
    """Return the numbers of a view. Defaults are the first criterion with a judge, and the best
    judge on it, as its report has it."""
    criteria = {record.pk: record for record in project.criteria.all()}
    judge_ids = list(project.judges.values_list("pk", flat=True))
    data = everything.selected(view.options)
    judged = tuple(pk for pk in criteria if any(on == pk for on, _judge in data.judges))
    chosen = first_of(view.criterion, criteria, (judged or (0,))[0])
    ranked = [pk for pk in (judges_on(data, chosen) if chosen else ()) if pk in judge_ids]
    judge = first_of(view.judge, judge_ids)
    if not judge and ranked:
        result = criterion_result(
            project, criteria[chosen], options=view.options, data=data, probed=()
        )
        judge = result.best.pk if result.best else ranked[0]
    runs = project.runs.counting().filter(judge=judge, pk=view.run) if judge else ()
    run = next(iter(runs), None)
    listed = tuple(sorted({*ranked, *([judge] if judge and ranked else [])}))
    numbers = GapNumbers(chosen, judge, run.pk if run else 0, judged, listed, data)
    if not chosen or not judge:
        return numbers
    if run is not None:
        data = scores_of_run(everything, run, chosen).selected(view.options)
    gaps = gaps_of(data, criteria[chosen], judge, by=view.by)
    return replace(
        numbers,
        data=data,
        gaps=gaps,
        outputs=len(gaps.at),
        large=int(gaps.large.sum()),
        shift=shift_in_words(gaps),
        patterns=project_patterns(project, data, gaps, chosen),
        sample=about_sample(data.humans[chosen]),
        rho=rho_on(data, chosen, judge),
    )


def project_patterns(project: Project, data: ReportData, gaps: Gaps, criterion: int) -> Patterns:
    """Return what a judge's large gaps on a criterion have in common, cached because the page of
    every case shows it."""
    human = data.humans[criterion]
    names = hash((data.system_names, human.annotators))
    parts = (
        *(project.pk, state_of(project.pk).get((None, None)), names, data.document_ids),
        *(gaps.outputs, gaps.at, gaps.gap, gaps.strength, gaps.scores, human.ratings, data.words),
    )
    return remembered_as(
        "gap patterns",
        parts,
        lambda: patterns_of(data, gaps, criterion, partial(topic_words, project)),
    )


def scores_of_run(data: ReportData, run: EvaluationRun, criterion: int) -> ReportData:
    """Return the data with one run's scores in place of its judge's newest."""
    alone = replace(data, judges={})
    fill_judges(alone, [run.judge_id], [criterion], run=run)
    key = (criterion, run.judge_id)
    others = {pk: scores for pk, scores in data.judges.items() if pk != key}
    return replace(data, judges=others | alone.judges)


def topic_words(project: Project, documents: Collection[int]) -> dict[str, frozenset[int]]:
    """Return the documents (by id) that contain each word around which large gaps may cluster,
    without stop words.

    Args:
        documents: ids of the documents to read, a few hundred.
    """
    ids = sorted(documents)
    of_corpus = state_of(project.pk).get((None, None))
    return remembered_as(
        "topic words", [project.pk, of_corpus, ids], lambda: _words_of(project.pk, ids)
    )


def _words_of(project_id: int, ids: list[int]) -> dict[str, frozenset[int]]:
    most = int(WORD_SHARE * len(ids))
    with connection.cursor() as cursor:
        cursor.execute(
            _WORDS,
            {
                "project": project_id,
                "ids": ids,
                "characters": READ_CHARACTERS,
                "least": WORD_DOCUMENTS,
                "most": most,
                "words": MOST_WORDS,
            },
        )
        return {word: frozenset(having) for word, having in cursor.fetchall()}


GAPS = part_of_page(GapNumbers, gap_numbers, largest_gaps)
PAGES = (PageParts("disagreements", "disagreement_list", read_gap_view, (GAPS,)),)
