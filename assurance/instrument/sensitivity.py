"""The findings of a study's probes, with titles for people."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from django.db.models import Count, Q

from assurance.instrument.studies import PARTS, can_be_instructed
from evaluations.models import Judge, Project, Study, StudyItem, StudyKind
from evaluations.models.improving import withheld_documents
from evaluations.reports.ratings.human_scores import weighted_scores
from evaluations.reports.report import Sensitivity, ShownFinding
from geval.evaluators.perturbing import BY_NAME, INSTRUCTED, REPEATED, UNCHANGED
from geval.reports.instructed import Instructed
from geval.reports.samples import about_asking
from geval.statistics.arrays import Outputs
from geval.statistics.labels import label_numbers
from geval.statistics.sensitivity import (
    NOISE,
    SEVERITY,
    SPREAD,
    Finding,
    label_sensitivity,
    sensitivity,
)
from geval.statistics.types import FloatArray

# Maximum number of parts; an imported item may name any number.
MOST_PARTS = 10_000

_CHECKS = {
    SEVERITY: "Stricter (−) or more lenient (+) than people, in points",
    SPREAD: "Spread of its scores, as a ratio to people's ratings",
    NOISE: "Reliability of one asking",
}


def instructed_judges(
    project: Project, given: Iterable[Sensitivity] | None = None
) -> dict[tuple[int, int], Instructed]:
    """Return the effect of an instruction for each (judge, criterion) of the judges that can be
    instructed.

    Args:
        given: `sensitivities` of the project; computed if None.
    """
    asked = [judge for judge in project.judges.all() if can_be_instructed(judge)]
    probed = {
        (result.study.judge_id, result.study.criterion_id): Instructed(
            finding.found, result.outputs
        )
        for result in (sensitivities(project) if given is None else given)
        for finding in result.findings
        if finding.found.name == INSTRUCTED
    }
    criteria = project.criteria.values_list("pk", flat=True)
    every = ((judge.pk, criterion) for judge in asked for criterion in criteria)
    return dict.fromkeys(every, Instructed()) | probed


def sensitivity_of(study: Study) -> Sensitivity:
    """Return a study's findings so far; ratings of withheld documents are ignored."""
    hidden = set(withheld_documents(study.project_id))
    items = sorted(
        study.items.select_related("output"), key=lambda item: (item.output.document_id, item.pk)
    )
    kept = [item for item in items if item.output.document_id not in hidden]
    parts = study.parts.filter(recorded_at__isnull=False)
    scores = _scores_of(kept)
    # Imported studies may have parts without scores.
    scored_parts = parts.filter(number__range=(1, scores.shape[1]))
    names = dict(scored_parts.values_list("name", "number"))
    if not {UNCHANGED, REPEATED} <= names.keys():
        return Sensitivity(study, ())
    columns = {name: scores[:, number - 1] for name, number in names.items()}
    unchanged = np.column_stack([columns.pop(UNCHANGED), columns.pop(REPEATED)])
    if not study.criterion.is_ordered:
        scale = study.criterion.scale
        columns = {name: label_numbers(values, scale) for name, values in columns.items()}
        labels = label_numbers(unchanged, scale)
        findings = label_sensitivity(_outputs(kept), labels, columns, len(scale.points))
        return Sensitivity(study, tuple(map(_shown_of_labels, findings)), len(kept))
    people = np.array([np.nan if item.rating is None else item.rating for item in kept])
    human = people if study.judge.rates_on_scale else None
    findings = sensitivity(_outputs(kept), unchanged, columns, human)
    ids = np.unique([item.output_id for item in kept]).astype(np.int64)
    rated = weighted_scores(study.project_id, study.criterion_id, ids)
    return Sensitivity(
        study, tuple(_shown(finding) for finding in findings), len(kept), about_asking(rated)
    )


def _scores_of(items: Sequence[StudyItem]) -> FloatArray:
    """Return the scores of a study; shape (items, parts), NaN if missing.

    Imported items may hold fewer scores than the others; the rest are missing too.
    """
    parts = min(MOST_PARTS, max((len(item.scores) for item in items), default=0))
    rows = [[*item.scores[:parts], *[None] * (parts - len(item.scores))] for item in items]
    return np.array(rows, dtype=float).reshape(len(items), parts)


def _outputs(items: Sequence[StudyItem]) -> Outputs:
    _ids, document = np.unique([item.output.document_id for item in items], return_inverse=True)
    # The system is irrelevant here.
    return Outputs(document, np.arange(len(items)), len(_ids), len(items))


def _shown(finding: Finding) -> ShownFinding:
    title = _CHECKS.get(finding.name) or BY_NAME[finding.name].title
    return ShownFinding(title, finding, finding.name in (SPREAD, NOISE))


def _shown_of_labels(finding: Finding) -> ShownFinding:
    shown = _shown(finding)
    kept = "" if finding.name == NOISE else " (share of labels that stay)"
    return ShownFinding(f"{shown.title}{kept}", finding, is_share=True)


def sensitivities(project: Project, judge: Judge | None = None) -> list[Sensitivity]:
    """Return the findings of each judge's and criterion's newest study."""
    results = (sensitivity_of(study) for study in ended_probes(project, judge))
    return [result for result in results if result.findings]


def ended_probes(project: Project, judge: Judge | None = None) -> list[Study]:
    """Return the newest complete study of each judge and criterion."""
    recorded = Count("parts", filter=Q(parts__recorded_at__isnull=False))
    done = project.studies.filter(kind=StudyKind.PROBES).annotate(recorded=recorded)
    done = done.filter(recorded=len(PARTS[StudyKind.PROBES]))
    if judge is not None:
        done = done.filter(judge=judge)
    newest: dict[tuple[int, int], Study] = {}
    # An aggregation drops the model's default order.
    for study in done.select_related("judge", "criterion", "project").order_by("-pk"):
        newest.setdefault((study.judge_id, study.criterion_id), study)
    return list(newest.values())


def finding_json(result: ShownFinding) -> dict[str, Any]:
    """Return a finding as JSON; null with a reason if nothing can be said."""
    finding = result.found
    ends = finding.interval.ends if finding.interval else None
    return {
        "name": finding.name,
        "title": result.title,
        "outputs": finding.outputs,
        "documents": finding.documents,
        "value": finding.value,
        "interval": ends,
        "p": finding.p,
        "adjusted_p": finding.adjusted,
        "is_found": finding.is_found,
        "reason": finding.reason,
    }
