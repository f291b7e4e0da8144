"""A project's annotators: read ratings and marked spans for the library to compute.

A worker does this, because intervals refit the models of a criterion many times.
"""

from evaluations.models import Project
from evaluations.reports.ratings.marked_spans import marked_texts
from geval.reports.annotators import AnnotatorsFound, criterion_annotators, of_ratings
from geval.reports.data import ReportData
from geval.reports.options import ReportOptions
from geval.reports.verdicts.steps import OnStep, unseen
from geval.statistics.span_agreement import span_agreement


def annotators_found(
    project: Project, data: ReportData, options: ReportOptions, on_step: OnStep = unseen
) -> AnnotatorsFound:
    """Return the numbers of a view.

    Args:
        data: all data of the project.
    """
    part = data.selected(of_ratings(options))
    criteria = [about for about in project.criteria.all() if options.shows(about.pk)]
    people = []
    for index, criterion in enumerate(criteria):
        on_step(index / len(criteria), f"{criterion.name}: severity and competence of annotators")
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
