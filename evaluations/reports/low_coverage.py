"""Judges of a view with items left without a score because their coverage is below the judge's
minimum."""

from collections import Counter

from evaluations.models import Project, RunItem
from geval.reports.options import ReportOptions
from geval.reports.page import LowCoverage


def low_coverage(project: Project, options: ReportOptions) -> tuple[LowCoverage, ...]:
    """Return the judges of a view with items below their minimum coverage, those with most such
    items first."""
    counting = RunItem.objects.filter(run__project=project, run__search=None, run__purpose="")
    items = counting.below_coverage()
    if options.judges:
        items = items.filter(run__judge__in=options.judges)
    if options.criteria:
        items = items.filter(criterion__in=options.criteria)
    if options.systems:
        items = items.filter(output__system__in=options.systems)
    if options.documents:
        items = items.filter(output__document__doc_id__icontains=options.documents)
    # An item that failed in several runs counts once.
    failed = set(items.values_list("run__judge", "output", "criterion"))
    counts = Counter(judge for judge, _output, _criterion in failed)
    judges = project.judges.in_bulk(list(counts))
    judges_below = [
        LowCoverage(judges[pk].label, n, judges[pk].min_coverage) for pk, n in counts.items()
    ]
    return tuple(sorted(judges_below, key=lambda one: -one.items))
