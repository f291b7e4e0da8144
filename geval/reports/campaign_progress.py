"""A campaign's figures: progress, speed, quality, and suspicious answers in words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import exp
from typing import Any

from geval.reports.campaign_questions import QuestionAgreement, QuestionPerson
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
    people: Mapping[int, tuple[QuestionPerson, ...]] = field(default_factory=dict)
    agreement_by_version: tuple[VersionAgreement, ...] = ()


@dataclass(frozen=True)
class ReviewCounts:
    """How many of a person's answers have a question of theirs, wait for a review, and were
    returned to them."""

    asked: int = 0
    waiting: int = 0
    returned: int = 0


@dataclass(frozen=True)
class AnnotatorProgress:
    """One annotator in a campaign. `questions` has agreement and severity by question; `warnings`
    are in words, `unsaid` why there is nothing about care; `guidelines_versions` are the numbers
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
    questions: tuple[QuestionPerson, ...]
    last: datetime | None
    warnings: tuple[str, ...]
    unsaid: str = ""
    guidelines_versions: tuple[int, ...] = ()
    reviews: ReviewCounts = ReviewCounts()

    @property
    def doubts(self) -> tuple[int, int, int]:
        """Why somebody should look at the answers: warnings first, then questions and reviews."""
        return len(self.warnings), self.reviews.asked, self.reviews.waiting


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
            row, read.people.get(row["pk"], ()), one.chance.reason,
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
            "questions_asked": row.reviews.asked,
            "to_review": row.reviews.waiting,
            "returned": row.reviews.returned,
        }
        for of in row.questions or (None,):
            yield person | dict(zip(OF_A_QUESTION, _on_question(of), strict=True))


OF_A_QUESTION = (
    "question", "shared_items", "shared_documents", "rho", "rho_low", "rho_high",
    "severity", "severity_low", "severity_high", "severity_over_time",
)  # fmt: skip


def _on_question(of: QuestionPerson | None) -> Iterator[Any]:
    """Yield the values of `OF_A_QUESTION`."""
    if of is None:
        yield from (*[None] * (len(OF_A_QUESTION) - 1), [])
        return
    yield from (of.question, of.items, of.documents)
    sides = (of.rho, of.rho_interval), (of.severity.points, of.severity.interval)
    for estimate, interval in sides:
        yield from (estimate.value, *(ends_json(interval) or (None, None)))
    yield [part.points.value for part in of.over_time]


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
        "asked", "waiting", "returned",
    )  # fmt: skip
    return dict(zip(names, row, strict=True))


def _annotator(
    row: dict[str, Any],
    questions: tuple[QuestionPerson, ...],
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
        questions=questions,
        last=row["last"],
        warnings=warnings,
        unsaid=unsaid,
        guidelines_versions=tuple(row["guidelines_versions"] or ()),
        reviews=ReviewCounts(row["asked"], row["waiting"], row["returned"]),
    )
