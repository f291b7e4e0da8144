"""Certificates: created, stored, signed, and compared with the present."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from assurance.certifying.bindings import (
    bindings_of,
    differences,
    outdated,
    policy_of,
    probes_outdated,
)
from evaluations.corpus.locks.draws import earlier_draws
from evaluations.corpus.locks.locking import locked_of
from evaluations.models import Certificate, Criterion, Judge
from evaluations.models.sealing import is_signed, public_key, sign
from evaluations.reports.data import load_data
from evaluations.reports.report import criterion_result
from evaluations.reports.searched import searches_behind
from geval.files.certificates import FORMAT, MOST_REQUIREMENTS
from geval.reports.data import ReportData
from geval.reports.label_results import labels_of, labels_result
from geval.reports.options import ADJUDICATED, MEAN, Epsilon, ReportOptions
from geval.reports.required_figures import InView, figure_of_labels, figures_in
from geval.reports.requirements import (
    OF_POLICIES,
    OF_PROBES,
    Checked,
    RequiredFigure,
    Requirement,
    RequirementError,
    RequirementOutcome,
    check,
    overall,
    parse_requirement,
    refuse_unknown_labels,
)
from geval.reports.samples import about_sample
from geval.reports.words import compared_with
from geval.statistics.consensus import HumanScore
from geval.statistics.correlation import Coefficient, Level

SEEN_BY_SEARCH = (
    "its search has seen all documents that are not locked; certify after the last look, or when"
    " the locked documents are opened"
)
# Commands that issue and check certificates of projects too large for pages.
COMMANDS = ("certify", "verify")


def read_requirements(texts: Sequence[str]) -> list[Requirement]:
    """Read requirements as people write them, without duplicates, in order.

    Raises:
        RequirementError: there is none, there are too many, or one is not a requirement.
    """
    requirements = list(dict.fromkeys(parse_requirement(text) for text in texts if text.strip()))
    if not requirements:
        raise RequirementError("Name at least one requirement, such as spearman.summary.low>=0.45.")
    if len(requirements) > MOST_REQUIREMENTS:
        raise RequirementError(f"A certificate has at most {MOST_REQUIREMENTS} requirements.")
    return requirements


def certify(
    judge: Judge,
    criterion: Criterion,
    requirements: Sequence[Requirement],
    *,
    epsilon: Epsilon = "0.2",
    human_score: HumanScore = MEAN,
    by: Any = None,
) -> Certificate:
    """Check a judge on a criterion, and store the certificate.

    Raises:
        RequirementError: a requirement is of a label that the criterion does not have.

    Args:
        epsilon: epsilon of the alternative annotator test.
        human_score: what the judge is compared with.
        by: the user who requests it.
    """
    refuse_unknown_labels(requirements, criterion.name, labels_of(criterion))
    data, is_searched = _data(judge, criterion)
    # The search that made the judge has seen all documents that are not withheld.
    cannot_say = SEEN_BY_SEARCH if is_searched and data.withheld else outdated(judge, criterion)
    if judge.can_run and criterion.why_items:
        # Its scores depend on the prompts of its items, to which no certificate on it is bound.
        cannot_say = criterion.why_items
    if cannot_say:
        checked = [
            Checked(requirement, RequirementOutcome.CANNOT_SAY, None, cannot_say)
            for requirement in requirements
        ]
    else:
        checked = _checked(
            judge, criterion, requirements, data=data, epsilon=epsilon, human_score=human_score
        )
    outcome = overall(checked)
    content: dict[str, Any] = {
        "format": FORMAT,
        "project": judge.project.slug,
        "judge": judge.label,
        "criterion": criterion.name,
        "outcome": outcome.value,
        "epsilon": float(epsilon),
        "requirements": [_checked_json(entry, _per_document(criterion, data)) for entry in checked],
        "bound_to": bindings_of(
            judge,
            criterion,
            data,
            with_probes=any(requirement.figure in OF_PROBES for requirement in requirements),
            with_policy=any(requirement.figure in OF_POLICIES for requirement in requirements),
            with_decisions=human_score == ADJUDICATED,
        ),
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "public_key": public_key(),
    }
    speak_of = list(about_sample(data.humans[criterion.pk]))
    if human_score != MEAN:
        content["human_score"] = human_score
        speak_of.append(compared_with(ReportOptions(human_score=human_score)))
    if locked_of(judge.project) and (earlier := earlier_draws(judge.project)):
        speak_of.append(f"The locked documents are the {earlier} on this site.")
    if speak_of:
        content["what_numbers_speak_of"] = speak_of
    if is_searched and not data.withheld:
        content["unseen_documents"] = int(data.units.documents)
    if data.withheld:
        content["withheld_documents"] = data.withheld
    content["signature"] = sign(signed_part(content))
    with transaction.atomic():
        return Certificate.objects.create(
            project=judge.project, judge=judge, criterion=criterion, outcome=outcome.value,
            content=content, made_by=by,
        )  # fmt: skip


def what_changed(certificate: Certificate) -> list[str]:
    """Describe why a certificate no longer fits; empty if it does."""
    content = certificate.content
    today = bindings_now(certificate.judge, certificate.criterion, content)
    return differences(content["bound_to"], today)


def bindings_now(judge: Judge, criterion: Criterion, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a certificate of the same documents would be bound to now.

    A certificate made before documents were locked is still compared over all of them, by digests
    only: the lock changes nothing that was measured.
    """
    is_before_lock = not content.get("withheld_documents")
    data = load_data(
        judge.project, [judge], [criterion], with_withheld=is_before_lock, with_labels=True
    )
    if content.get("unseen_documents") is not None:
        data = searches_behind(judge.project).unseen(data)
    return bindings_of(
        judge,
        criterion,
        data,
        with_probes="probes" in content["bound_to"],
        with_policy="policy" in content["bound_to"],
        with_decisions=content.get("human_score") == ADJUDICATED,
    )


def is_intact(content: dict[str, Any]) -> bool:
    """Whether a certificate's content is unchanged since it was signed with the public key in
    it."""
    try:
        signed = signed_part(content)
    except orjson.JSONEncodeError:
        return False  # a number beyond 64 bits, or nested too deeply: never signed
    return is_signed(signed, str(content.get("signature")), str(content.get("public_key")))


def signed_part(content: dict[str, Any]) -> bytes:
    """Return the signed bytes: all other fields as canonical JSON."""
    rest = {name: value for name, value in content.items() if name != "signature"}
    return orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)


def _data(judge: Judge, criterion: Criterion) -> tuple[ReportData, bool]:
    """Return the data for measuring a judge, and whether a search made it. For such a judge only
    unseen documents are used, as soon as their ratings are not withheld."""
    data = load_data(judge.project, [judge], [criterion], with_labels=True)
    searches = searches_behind(judge.project)
    is_searched = searches.made(criterion.pk, judge.pk)
    return (searches.unseen(data) if is_searched and not data.withheld else data), is_searched


def _checked(
    judge: Judge,
    criterion: Criterion,
    requirements: Sequence[Requirement],
    *,
    data: ReportData,
    epsilon: Epsilon,
    human_score: HumanScore,
) -> list[Checked]:
    if not criterion.scale.is_ordered:
        compared = judge.project.judges.with_scores().count()
        result = labels_result(criterion, [judge], data.scored(human_score), compared=compared)
        return [
            check(each, figure_of_labels(each.figure, each.label, result, judge.label))
            for each in requirements
        ]
    figures = _required_figures(
        judge,
        criterion,
        [requirement.figure for requirement in requirements],
        data=data,
        epsilon=epsilon,
        human_score=human_score,
    )
    of_probes = OF_PROBES & figures.keys()
    if of_probes and (why_not := probes_outdated(judge, criterion)):
        figures |= dict.fromkeys(of_probes, RequiredFigure(None, why_not))
    if OF_POLICIES & figures.keys():
        figures |= _policy_figures(judge, criterion)
    return [check(requirement, figures[requirement.figure]) for requirement in requirements]


def _policy_figures(judge: Judge, criterion: Criterion) -> dict[str, RequiredFigure]:
    """Return the figures of the policy in use, as they were proven; empty without one."""
    policy = policy_of(judge, criterion)
    if policy is None or policy.kept is None:
        return {}
    kept, units = policy.kept, policy.content["locked"]
    return {
        name: RequiredFigure(kept[f"{part}_{end}"], estimate=kept[part], units=units)
        for name in OF_POLICIES
        for part, end in [name.split(".")[1:]]
    }


def _required_figures(
    judge: Judge,
    criterion: Criterion,
    names: Collection[str],
    *,
    data: ReportData,
    epsilon: Epsilon,
    human_score: HumanScore = MEAN,
) -> dict[str, RequiredFigure]:
    """Return each named figure of a judge on a criterion, from the same data as the report."""
    scored = data.scored(human_score)

    def in_view(level: Level, coefficient: Coefficient) -> InView:
        options = ReportOptions(
            level, coefficient, epsilon=epsilon, human_score=human_score, judges=(judge.pk,)
        )
        result = criterion_result(judge.project, criterion, options=options, data=scored)
        return result, result.judges[0] if result.judges else None

    return figures_in(names, in_view)


def _per_document(criterion: Criterion, data: ReportData) -> float:
    """Return the mean number of ratings per rated document."""
    human = data.humans[criterion.pk]
    documents = data.units.documents_with(human.ratings.count > 0).sum()
    return float(len(human.ratings) / documents) if documents else 0.0


def _checked_json(checked: Checked, per_document: float) -> dict[str, Any]:
    more = checked.more_documents
    return {
        "requirement": str(checked.requirement),
        "outcome": checked.outcome.value,
        "value": checked.value,
        "reason": checked.reason,
        "more_documents": more,
        "more_ratings": None if more is None else round(more * per_document) or None,
    }


def in_words(entry: dict[str, Any]) -> str:
    """Describe a checked requirement in a sentence."""
    sentence = f"{entry['requirement']}: {entry['outcome']}"
    if entry["reason"]:
        sentence += f"; {entry['reason']}"
    if entry["more_documents"]:
        sentence += f"; about {entry['more_documents']:,} more rated documents are needed"
        if entry["more_ratings"]:
            sentence += f" ({entry['more_ratings']:,} ratings)"
    return f"{sentence}."
