"""A judge's agreement with people by criterion, for its page."""

from collections.abc import Sequence
from dataclasses import dataclass

from geval.reports.expert_words import expert_caution, found_and_kept, with_brackets
from geval.reports.label_results import LabelJudge, LabelsResult
from geval.reports.report import CriterionResult, JudgeResult, Report
from geval.reports.samples import marked
from geval.reports.verdicts.verdict import Verdict
from geval.reports.words import in_a_sentence
from geval.texts.numbers import in_brackets, shown, whole_percent


@dataclass(frozen=True)
class JudgeStanding:
    """A judge on a criterion: its correlation in the view (kappa by labels of an expert, or without
    an order) with its interval, the share of what one rater reaches, and the verdict that it would
    have if no other judge were better.

    `better` is the best judge on the criterion; None if it is this one. `missing` says why there is
    no verdict; empty if there is one. `seen` says what its search has seen of the data.
    `shares` are what it finds and keeps on pass or fail, weighted kappa by an expert's ratings, or
    what it finds of the label that it finds least, in words; empty where the two checks judge it.
    """

    pk: int
    criterion: str
    outputs: int
    value: str
    interval: str
    reason: str
    share: str
    verdict: Verdict
    better: JudgeResult | LabelJudge | None
    missing: str
    seen: str = ""
    shares: str = ""


def judge_standings(report: Report, judge: int) -> list[JudgeStanding]:
    """Return the standing of a judge for each criterion of a report that it scored, the strongest
    verdict first."""
    standings = [
        _standing(criterion, result)
        for criterion in report.criteria
        for result in criterion.judges
        if result.pk == judge
    ]
    standings += [
        _standing_on_labels(result, own)
        for result in report.labels
        for own in result.judges
        if own.pk == judge
    ]
    return sorted(standings, key=lambda standing: standing.verdict.place)


def verdict_lines(standings: Sequence[JudgeStanding]) -> tuple[str, ...]:
    """Return a sentence per verdict on the criteria that have it, in the order of `standings`."""
    names: dict[Verdict, list[str]] = {}
    for standing in standings:
        name = marked(standing.criterion, is_seen=bool(standing.seen))
        names.setdefault(standing.verdict, []).append(name)
    sentences = [
        f"{', '.join(criteria)}: {verdict.label[:1].lower()}{verdict.label[1:]}."
        for verdict, criteria in names.items()
    ]
    return tuple(sentence[:1].upper() + sentence[1:] for sentence in sentences)


def _standing(criterion: CriterionResult, result: JudgeResult) -> JudgeStanding:
    estimate, evidence = result.shown(criterion.options), criterion.evidence(result)
    by_labels = criterion.by_labels(result)
    interval = by_labels.kappa.interval if by_labels else criterion.interval_of(result)
    best = criterion.best
    return JudgeStanding(
        pk=criterion.pk,
        criterion=criterion.criterion,
        outputs=result.correlations.pairs,
        value=f"kappa {shown(by_labels.kappa.estimate)}" if by_labels else shown(estimate),
        interval=in_brackets(interval),
        reason=estimate.reason or interval.reason,
        # By labels no share of one rater's correlation is compared.
        share="–" if by_labels or evidence.share is None else whole_percent(evidence.share),
        verdict=criterion.verdict_on(result),
        better=best if best is not None and best.pk != result.pk else None,
        missing=_missing(criterion, result),
        seen=str(result.seen or ""),
        shares=found_and_kept(passing)
        if (passing := result.analysis.passing) and by_labels
        else "",
    )


def _standing_on_labels(result: LabelsResult, own: LabelJudge) -> JudgeStanding:
    kappa, weakest, best = own.figures.kappa, own.weakest, result.best
    finds = f", finds {with_brackets(weakest.figure)} of {weakest.kind}" if weakest else ""
    return JudgeStanding(
        pk=result.pk,
        criterion=result.criterion,
        outputs=own.figures.outputs,
        value=f"kappa {shown(kappa.estimate)}",
        interval=in_brackets(kappa.interval),
        reason=kappa.estimate.reason or kappa.interval.reason,
        share="–",
        verdict=own.verdict,
        better=best if best is not None and best.pk != own.pk else None,
        missing="" if own.verdict == Verdict.AGREES else own.reading,
        shares=f"kappa {with_brackets(kappa)}{finds}",
    )


def _missing(criterion: CriterionResult, result: JudgeResult) -> str:
    if criterion.level_to_try:
        return in_a_sentence(criterion)
    if by_labels := criterion.by_labels(result):
        return expert_caution(by_labels)
    if missing := criterion.evidence(result).missing:
        return missing
    if criterion.ranks(result):
        return ""
    return "it scored too few of the rated outputs to be compared with other judges"
