"""A project's annotators: read ratings and marked spans for the library to compute."""

from collections import defaultdict

import numpy as np

from evaluations.models import Project
from evaluations.models.query_arrays import fetch_numbers
from geval.reports.annotators import AnnotatorsFound, criterion_annotators, of_ratings
from geval.reports.data import ReportData
from geval.reports.options import ReportOptions
from geval.reports.verdicts.steps import OnStep, unseen
from geval.statistics.arrays import Outputs, positions
from geval.statistics.span_agreement import Mark, MarkedText, span_agreement
from geval.statistics.types import IntArray


def annotators_found(
    project: Project, data: ReportData, options: ReportOptions, on_step: OnStep = unseen
) -> AnnotatorsFound:
    """Return the numbers of a view.

    Args:
        data: all data of the project.
    """
    part = data.selected(of_ratings(options))
    rated = project.criteria.without_rubrics()
    criteria = [about for about in rated if options.shows(about.pk)]
    people = []
    for index, criterion in enumerate(criteria):
        on_step(index / len(criteria), f"{criterion.name}: severity and agreement of annotators")
        human = part.humans[criterion.pk]
        if len(human.ratings):
            people.append(criterion_annotators(part, criterion, human))
    texts = marked_texts(
        project.pk,
        part.units,
        output_ids=part.output_ids,
        annotators=frozenset(options.annotators),
        round_id=options.round,
    )
    if not texts:
        return AnnotatorsFound(tuple(people), None)
    on_step(1, "Agreement on marked spans")
    return AnnotatorsFound(tuple(people), span_agreement(texts, part.units.documents))


_OF_PROJECT = """JOIN evaluations_candidateoutput o ON o.id = {output}
    JOIN evaluations_document d ON d.id = o.document_id WHERE d.project_id = {project}"""
# Answers in campaigns that ask for spans; their items have a single output.
_ANSWERS = """annotations_assignment a
    JOIN annotations_campaign c ON c.id = a.campaign_id AND c.kind = 'rating'
        AND c.span_categories <> '[]'::jsonb AND {within}
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'"""
_IN_ROUND = """(SELECT a.shown[1] AS output_id, a.annotator_id, g.*
    FROM {answers}
    CROSS JOIN LATERAL jsonb_to_recordset(a.answer -> 'spans') AS g(
        start int, "end" int)
    WHERE a.state = 'submitted')"""


def marked_texts(
    project_id: int,
    outputs: Outputs,
    *,
    output_ids: IntArray,
    annotators: frozenset[int],
    round_id: int = 0,
) -> list[MarkedText]:
    """Return the outputs in which somebody marked a span.

    Annotators who submitted such an output in a campaign that asks for spans, but marked nothing,
    are included with no spans.

    Args:
        output_ids: shape (outputs,), the ids of `outputs`.
        annotators: ids of the annotators to include; empty means all.
        round_id: the only campaign whose spans count; 0: each person's newest spans in an output.
    """
    answers = _ANSWERS.format(within=f"c.id = {int(round_id)}" if round_id else "true")
    marks = _IN_ROUND.format(answers=answers) if round_id else "annotations_span"
    spans = fetch_numbers(
        ["s.output_id", "s.annotator_id", "s.start", 's."end"'],
        f"FROM {marks} s " + _OF_PROJECT.format(output="s.output_id", project=int(project_id)),
    ).astype(int)
    if not len(spans):
        return []
    asked = fetch_numbers(
        ["o.id", "a.annotator_id"],
        f"FROM {answers} "
        + _OF_PROJECT.format(output="a.shown[1]", project=int(project_id))
        + " AND a.state = 'submitted'",
    ).astype(int)
    marks_by_output: dict[int, dict[int, list[Mark]]] = defaultdict(dict)
    for output, annotator, start, end in spans.tolist():
        marks_by_output[output].setdefault(annotator, []).append(Mark(start, end))
    for output, annotator in asked.tolist():
        if output in marks_by_output:
            marks_by_output[output].setdefault(annotator, [])
    ids = sorted(marks_by_output)
    places = positions(np.array(ids, dtype=float), output_ids).tolist()
    return [
        MarkedText(
            int(outputs.document[place]),
            {
                annotator: own
                for annotator, own in sorted(marks_by_output[output].items())
                if not annotators or annotator in annotators
            },
        )
        for output, place in zip(ids, places, strict=True)
        if place >= 0
    ]
