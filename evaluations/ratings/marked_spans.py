"""What people marked in outputs, for how far they mark the same."""

from collections import defaultdict

import numpy as np

from evaluations.models.query_arrays import fetch_numbers
from geval.statistics.gamma import Mark
from geval.statistics.layout import Outputs, positions
from geval.statistics.span_agreement import MarkedText
from geval.statistics.types import IntArray

_OF_PROJECT = """JOIN evaluations_candidateoutput o ON o.id = {output}
    JOIN evaluations_document d ON d.id = o.document_id WHERE d.project_id = {project}"""


def marked_texts(
    project_id: int, outputs: Outputs, *, output_ids: IntArray, annotators: frozenset[int]
) -> list[MarkedText]:
    """The outputs in which somebody marked something.

    Whoever submitted such an output in a campaign that asks for spans, and marked nothing, is there
    with no marks.

    Args:
        output_ids: shape (outputs,), the ids of `outputs`.
        annotators: count these alone; empty means all.
    """
    spans = fetch_numbers(
        [
            *("s.output_id", "s.annotator_id", "s.start", 's."end"'),
            "dense_rank() OVER (ORDER BY s.category)",
            "length(o.text)",
        ],
        "FROM annotations_span s "
        + _OF_PROJECT.format(output="s.output_id", project=int(project_id)),
    ).astype(int)
    if not len(spans):
        return []
    asked = fetch_numbers(
        ["o.id", "a.annotator_id"],
        """FROM annotations_assignment a
           JOIN annotations_campaign c ON c.id = a.campaign_id
                AND c.span_categories <> '[]'::jsonb
           JOIN annotations_campaignitem i ON i.id = a.item_id
           CROSS JOIN LATERAL unnest(i.outputs) AS u(id) """
        + _OF_PROJECT.format(output="u.id", project=int(project_id))
        + " AND a.state = 'submitted'",
    ).astype(int)
    found: dict[int, dict[int, list[Mark]]] = defaultdict(dict)
    length = {}
    for output, annotator, start, end, category, characters in spans.tolist():
        found[output].setdefault(annotator, []).append(Mark(start, end, category))
        length[output] = characters
    for output, annotator in asked.tolist():
        if output in found:
            found[output].setdefault(annotator, [])
    ids = sorted(found)
    places = positions(np.array(ids, dtype=float), output_ids).tolist()
    return [
        MarkedText(
            int(outputs.document[place]),
            length[output],
            {
                annotator: own
                for annotator, own in sorted(found[output].items())
                if not annotators or annotator in annotators
            },
        )
        for output, place in zip(ids, places, strict=True)
        if place >= 0
    ]
