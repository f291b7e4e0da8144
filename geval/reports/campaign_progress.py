"""A campaign's figures: progress, speed, quality, and suspicious answers in words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from geval.statistics.chance_raters import AgainstChance
from geval.statistics.thresholds import (
    SUSPECT_CHECKS,
    SUSPECT_FAST,
    SUSPECT_FLAT,
    SUSPECT_ITEMS,
    SUSPECT_RIGHT,
)


@dataclass(frozen=True)
class Suspicion:
    """Findings about an annotator: agreement compared with chance, and annotators with the same
    answers."""

    chance: AgainstChance
    same_as: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class AnnotatorProgress:
    """One annotator in a campaign. `distance` is the mean distance of their answers from the mean
    of the others' on the same items, None if nobody else has answered them; `severity` is how much
    lower than that mean they rate; `warnings` are in words."""

    pk: int
    annotator: str
    removed: bool
    is_excluded: bool
    submitted: int
    skipped: int
    flagged: int
    holding: int
    per_hour: float | None
    seconds: float | None
    checks: int
    checks_right: int
    distance: float | None
    compared: int
    severity: float | None
    last: datetime | None
    warnings: tuple[str, ...]

    @property
    def accuracy(self) -> float | None:
        return self.checks_right / self.checks if self.checks else None


@dataclass(frozen=True)
class QuestionAgreement:
    """People's agreement on a question: Krippendorff's alpha over the items that two or more have
    answered, None where it is undefined."""

    question: str
    items: int
    alpha: float | None


@dataclass(frozen=True)
class CampaignProgress:
    """A campaign's figures. `places` counts item x annotator: items times overlap; `withheld`
    documents, whose ratings count in no distance."""

    items: int
    places: int
    submitted: int
    complete: int
    reserved: int
    per_hour: float | None
    annotators: tuple[AnnotatorProgress, ...]
    withheld: int = 0
    skipped: int = 0
    agreement: tuple[QuestionAgreement, ...] = ()

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
    rows: Iterable[tuple[Any, ...]],
    distances: Mapping[int, tuple[float, int, float]],
    suspected: Mapping[int, Suspicion],
    *,
    is_rating: bool,
) -> tuple[AnnotatorProgress, ...]:
    """Return the annotators of a campaign.

    Args:
        rows: rows with the values that `_named` names.
        distances: by annotator, the mean distance from the others, the number of answers, and the
            mean difference.
        suspected: findings, by annotator.
        is_rating: whether they rate; otherwise they compare.
    """
    named = [_named(row) for row in rows]
    usual = [
        row["seconds"] for row in named if row["seconds"] and row["submitted"] >= SUSPECT_ITEMS
    ]
    median = float(np.median(usual)) if len(usual) > 1 else None
    names = {row["pk"]: row["annotator"] for row in named}
    progresses = (_annotator(row, distances, median, is_rating=is_rating) for row in named)
    return tuple(
        replace(
            progress,
            warnings=(
                *progress.warnings,
                *_against_others(suspected.get(progress.pk), names),
            ),
        )
        for progress in progresses
    )


def _against_others(suspicion: Suspicion | None, names: dict[int, str]) -> list[str]:
    """Return the findings from comparison with others' answers, in words."""
    if suspicion is None:
        return []
    warnings, chance = [], suspicion.chance
    if chance.is_chance and chance.usual is not None:
        warnings.append(
            f"no better than chance: agrees with others at {chance.agreement or 0:.2f} on"
            f" {chance.items} items, where others reach {chance.usual:.2f}"
        )
    for other, same, items in suspicion.same_as:
        name = names.get(other, "somebody")
        warnings.append(f"copies: {same} of {items} answers are those of {name}")
    return warnings


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    names = (
        "pk", "annotator", "removed", "is_excluded",
        "submitted", "skipped", "flagged", "holding", "lately",
        "hours", "seconds",
        "checks", "checks_right", "last", "most_same", "answers",
    )  # fmt: skip
    return dict(zip(names, row, strict=True))


def _annotator(
    row: dict[str, Any],
    distances: Mapping[int, tuple[float, int, float]],
    median: float | None,
    *,
    is_rating: bool,
) -> AnnotatorProgress:
    distance, compared, above = distances.get(row["pk"], (None, 0, None))
    hours = row["hours"] and float(row["hours"])
    return AnnotatorProgress(
        pk=row["pk"],
        annotator=row["annotator"],
        removed=row["removed"],
        is_excluded=row["is_excluded"],
        submitted=row["submitted"],
        skipped=row["skipped"],
        flagged=row["flagged"],
        holding=row["holding"],
        per_hour=row["lately"] / hours if row["lately"] and hours and hours > 1 / 60 else None,
        seconds=row["seconds"],
        checks=row["checks"],
        checks_right=row["checks_right"],
        distance=distance,
        compared=compared,
        severity=None if above is None or not is_rating else -above,
        last=row["last"],
        warnings=tuple(_warnings(row, median)),
    )


def _warnings(row: dict[str, Any], median: float | None) -> list[str]:
    warnings: list[str] = []
    if row["submitted"] < SUSPECT_ITEMS:
        return warnings
    if median and row["seconds"] is not None and row["seconds"] < SUSPECT_FAST * median:
        warnings.append(f"fast: {row['seconds']:.0f} s per item, while others need {median:.0f} s")
    if row["answers"] and row["most_same"] / row["answers"] >= SUSPECT_FLAT:
        warnings.append(
            f"flat: {row['most_same'] / row['answers']:.0%} of the answers are the same"
        )
    if row["checks"] >= SUSPECT_CHECKS and row["checks_right"] / row["checks"] < SUSPECT_RIGHT:
        warnings.append(f"checks: {row['checks_right']} of {row['checks']} right")
    return warnings
