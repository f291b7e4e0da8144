"""A campaign's figures: progress, speed, quality, and suspicious answers in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
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
class AnnotatorProgress:
    """One annotator in a campaign; the first fields are those that the database counts.

    `lately` is the number of answers in the last `hours`, at most one; `asked`, `waiting` and
    `returned` are how many answers have a question of the annotator, wait for a review, and were
    returned. `questions` has agreement and severity by question; `warnings` are in words, `unsaid`
    why there is nothing about care; `guidelines_versions` are the numbers that the answers have.
    `share` is how many ordinary items they may get; None for all that are left.
    """

    pk: int
    annotator: str
    removed: bool
    is_excluded: bool
    submitted: int
    skipped: int
    flagged: int
    lately: int
    hours: Decimal | None
    seconds: float | None
    checks: int
    checks_right: int
    last: datetime | None
    guidelines_versions: Sequence[int]
    asked: int
    waiting: int
    returned: int
    share: int | None
    questions: tuple[QuestionPerson, ...] = ()
    warnings: tuple[str, ...] = ()
    unsaid: str = ""

    @property
    def per_hour(self) -> float | None:
        """Answers per hour; None over less than a minute, where a rate means nothing."""
        hours = float(self.hours or 0)
        return self.lately / hours if self.lately and hours > 1 / 60 else None

    @property
    def doubts(self) -> tuple[int, int, int]:
        """Why somebody should look at the answers: warnings first, then questions and reviews."""
        return len(self.warnings), self.asked, self.waiting


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
        rows: the values that the database counts, in the order of `AnnotatorProgress`.
    """
    counted = [AnnotatorProgress(*row) for row in rows]
    names = {row.pk: row.annotator for row in counted}
    of = [read.suspicions.get(row.pk, NOTHING) for row in counted]
    work = [
        replace(each.work, items=row.submitted, checks=row.checks, right=row.checks_right)
        for row, each in zip(counted, of, strict=True)
    ]
    return tuple(
        replace(
            row,
            questions=read.people.get(row.pk, ()),
            warnings=_warnings(did, signs, each, names),
            unsaid=each.chance.reason,
        )
        for row, each, did, signs in zip(counted, of, work, signs_of(work), strict=True)
    )


def people_records(progress: CampaignProgress) -> Iterator[dict[str, Any]]:
    """Return what is said of each annotator, for the API and CSV: a record for each question, or
    one without a question."""
    for row in progress.annotators:
        person = {
            "annotator": row.annotator,
            "answers": row.submitted,
            "share": row.share,
            "skipped": row.skipped,
            "flagged": row.flagged,
            "seconds_per_item": row.seconds,
            "checks_passed": row.checks_right,
            "checks": row.checks,
            "warnings": list(row.warnings),
            "unsaid": row.unsaid,
            "guidelines_versions": list(row.guidelines_versions),
            "questions_asked": row.asked,
            "to_review": row.waiting,
            "returned": row.returned,
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
