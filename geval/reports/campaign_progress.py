"""A campaign's figures: progress, speed, quality, and suspicious answers in words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import exp
from typing import Any

from geval.reports.campaign_questions import QuestionAgreement, QuestionSeverity
from geval.reports.downloads.json_values import ends_json
from geval.statistics.careless_signs import RaterWork, Signs, signs_of
from geval.statistics.chance_raters import FEW_ITEMS, AgainstChance


@dataclass(frozen=True)
class Suspicion:
    """Findings about an annotator: agreement compared with chance, annotators with the same
    answers, and their work but for what rows have."""

    chance: AgainstChance
    same_as: tuple[tuple[int, int, int], ...]
    work: RaterWork


NOTHING = Suspicion(AgainstChance(0, None, None, None, False, reason=FEW_ITEMS), (), RaterWork(0))


@dataclass(frozen=True)
class VersionAgreement:
    """People's agreement by question among the answers of one version of the guidelines; None for
    answers without a version."""

    version: int | None
    answers: int
    agreement: tuple[QuestionAgreement, ...]


@dataclass(frozen=True)
class AnswersRead:
    """What a campaign's answers say: of each annotator by id, by question, and by version of the
    guidelines."""

    suspicions: Mapping[int, Suspicion] = field(default_factory=dict)
    agreement: tuple[QuestionAgreement, ...] = ()
    severity: Mapping[int, tuple[QuestionSeverity, ...]] = field(default_factory=dict)
    agreement_by_version: tuple[VersionAgreement, ...] = ()


@dataclass(frozen=True)
class AnnotatorProgress:
    """One annotator in a campaign. `severity` is by question, empty for comparisons; `warnings` are
    in words, `unsaid` why nothing is said of their agreement; `guidelines_versions` are the numbers
    that the answers have."""

    pk: int
    annotator: str
    removed: bool
    is_excluded: bool
    submitted: int
    skipped: int
    flagged: int
    per_hour: float | None
    seconds: float | None
    checks: int
    checks_right: int
    severity: tuple[QuestionSeverity, ...]
    last: datetime | None
    warnings: tuple[str, ...]
    unsaid: str = ""
    guidelines_versions: tuple[int, ...] = ()


@dataclass(frozen=True)
class CampaignProgress:
    """A campaign's figures. `places` counts item x annotator: items times overlap."""

    items: int
    places: int
    submitted: int
    complete: int
    reserved: int
    per_hour: float | None
    annotators: tuple[AnnotatorProgress, ...]
    skipped: int = 0
    agreement: tuple[QuestionAgreement, ...] = ()
    agreement_by_version: tuple[VersionAgreement, ...] = ()

    @property
    def by_doubt(self) -> list[AnnotatorProgress]:
        """The annotators, those with most warnings first."""
        return sorted(self.annotators, key=lambda row: -len(row.warnings))

    @property
    def is_skipped_by_all(self) -> bool:
        """Whether nobody has answered, and everybody skipped all their items."""
        return bool(self.skipped and not self.submitted and not self.reserved)

    @property
    def share(self) -> float:
        return self.submitted / self.places if self.places else 0.0

    @property
    def hours_left(self) -> float | None:
        return (self.places - self.submitted) / self.per_hour if self.per_hour else None


@dataclass(frozen=True)
class OwnProgress:
    """An annotator's own progress."""

    submitted: int
    today: int
    skipped: int
    seconds: float | None
    per_hour: float | None
    campaign_share: float


def annotators_progress(
    rows: Iterable[tuple[Any, ...]], read: AnswersRead
) -> tuple[AnnotatorProgress, ...]:
    """Return the annotators of a campaign.

    Args:
        rows: rows with the values that `_named` names.
    """
    named = [_named(row) for row in rows]
    names = {row["pk"]: row["annotator"] for row in named}
    of = [read.suspicions.get(row["pk"], NOTHING) for row in named]
    work = [
        replace(one.work, items=row["submitted"], checks=row["checks"], right=row["checks_right"])
        for row, one in zip(named, of, strict=True)
    ]
    return tuple(
        _annotator(
            row, read.severity.get(row["pk"], ()), one.chance.reason,
            _warnings(did, signs, one, names),
        )
        for row, one, did, signs in zip(named, of, work, signs_of(work), strict=True)
    )  # fmt: skip


def people_records(progress: CampaignProgress) -> Iterator[dict[str, Any]]:
    """Return what is said of each annotator, for the API and CSV: a record for each question, or
    one without a question."""
    for row in progress.annotators:
        person = {
            "annotator": row.annotator,
            "answers": row.submitted,
            "skipped": row.skipped,
            "flagged": row.flagged,
            "seconds_per_item": row.seconds,
            "checks_passed": row.checks_right,
            "checks": row.checks,
            "warnings": list(row.warnings),
            "unsaid": row.unsaid,
            "guidelines_versions": list(row.guidelines_versions),
        }
        for of in row.severity or (None,):
            low, high = (of and ends_json(of.interval)) or (None, None)
            yield person | {
                "question": of and of.question,
                "shared_items": of and of.items,
                "severity": of and of.points.value,
                "severity_low": low,
                "severity_high": high,
            }


def _warnings(
    work: RaterWork, signs: Signs, suspicion: Suspicion, names: dict[int, str]
) -> tuple[str, ...]:
    """Return what is suspicious about an annotator, in words."""
    warnings = []
    if signs.are_enough:
        warnings.append("signs together: " + ", ".join(_signs(work, signs)))
    chance = suspicion.chance
    if chance.is_chance and chance.usual is not None:
        warnings.append(
            f"no better than chance: agrees with others at {chance.agreement or 0:.2f} on"
            f" {chance.items} items, where others reach {chance.usual:.2f}"
        )
    for other, same, items in suspicion.same_as:
        name = names.get(other, "somebody")
        warnings.append(f"copies: {same} of {items} answers are those of {name}")
    return tuple(warnings)


def _signs(work: RaterWork, signs: Signs) -> Iterator[str]:
    """Return the signs that speak against an annotator, in words."""
    if signs.checks > 1:
        yield f"{work.right} of {work.checks} checks passed"
    if signs.time > 1 and work.times:
        pace, usual = exp(work.times.pace), exp(signs.usual_pace)
        yield f"takes {pace:.0%} of the time of reading, others {usual:.0%}"
    if signs.same > 1:
        share = work.same / work.answers
        yield f"{share:.0%} of the answers are the same, where others give {work.expected:.0%}"
    if signs.agreement > 1:
        yield "agrees with others less than they do with each other"


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    names = (
        "pk", "annotator", "removed", "is_excluded",
        "submitted", "skipped", "flagged", "lately",
        "hours", "seconds",
        "checks", "checks_right", "last", "guidelines_versions",
    )  # fmt: skip
    return dict(zip(names, row, strict=True))


def _annotator(
    row: dict[str, Any],
    severity: tuple[QuestionSeverity, ...],
    unsaid: str,
    warnings: tuple[str, ...],
) -> AnnotatorProgress:
    hours = row["hours"] and float(row["hours"])
    return AnnotatorProgress(
        pk=row["pk"],
        annotator=row["annotator"],
        removed=row["removed"],
        is_excluded=row["is_excluded"],
        submitted=row["submitted"],
        skipped=row["skipped"],
        flagged=row["flagged"],
        per_hour=row["lately"] / hours if row["lately"] and hours and hours > 1 / 60 else None,
        seconds=row["seconds"],
        checks=row["checks"],
        checks_right=row["checks_right"],
        severity=severity,
        last=row["last"],
        warnings=warnings,
        unsaid=unsaid,
        guidelines_versions=tuple(row["guidelines_versions"] or ()),
    )
