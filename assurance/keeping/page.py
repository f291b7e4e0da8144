"""The page of a judge's policies on a criterion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count
from django.utils.safestring import mark_safe

from assurance.improving.looking import looks_taken
from evaluations.corpus.locks.locking import locked_of
from evaluations.models import Criterion, Judge, LockedDocuments, Policy, Score
from evaluations.reports.judge_costs import costs_of
from geval.improving.policy import (
    CurvePoint,
    KeptFails,
    ends_of_share,
    locked_word,
    more_to_rate,
    percents,
)
from geval.improving.promises import Promise, PromiseKind, parse_promise, possible_promises
from geval.improving.proving import all_looks_used
from geval.reports.drawings.kept_errors import ErrorPoint, KeptErrors, kept_errors
from geval.reports.drawings.rendering import as_page_part
from geval.reports.drawings.shapes import WIDTH, Drawing
from geval.texts.numbers import money, thin, with_decimals

NAMES = {"random": "random checks", "length": "length alone", "who wrote it": "who wrote it"}


@dataclass(frozen=True)
class GroupRow:
    """What is kept of a value's documents, in words."""

    value: str
    coverage: str
    coverage_ends: str
    error: str
    error_ends: str
    outputs: int


@dataclass(frozen=True)
class PolicyAnswer:
    """An answer as the page shows it."""

    policy: Policy
    promise: Promise
    kept: CurvePoint | None
    curve: tuple[CurvePoint, ...]

    @classmethod
    def of(cls, policy: Policy) -> "PolicyAnswer":
        content = policy.content
        kept = content["kept"] and CurvePoint(**content["kept"])
        curve = tuple(CurvePoint(**row) for row in content["curve"])
        return cls(policy, parse_promise(policy.promise), kept, curve)

    @property
    def sentence(self) -> str:
        """What is promised of kept answers."""
        return self.promise.sentence

    @property
    def more(self) -> str:
        """How many more documents have to be rated, in words; empty where that is not known."""
        more = self.policy.content["more_documents"]
        return "" if more is None else more_to_rate(more)

    @property
    def fails(self) -> str:
        """What is known of kept fails; empty where the promise is about them, too."""
        fails = self.policy.content.get("fails")  # answers of earlier versions have none
        return KeptFails(**fails).sentence if fails else ""

    @property
    def locked_word(self) -> str:
        return locked_word(self.policy.content.get("is_locked", True))

    @property
    def coverage(self) -> str:
        return percents(self.kept.coverage) if self.kept else ""

    @property
    def coverage_ends(self) -> str:
        kept = self.kept
        return ends_of_share(kept.coverage_low, kept.coverage_high) if kept else ""

    @property
    def error(self) -> str:
        return self._error(self.kept) if self.kept else ""

    @property
    def error_ends(self) -> str:
        return self._error_ends(self.kept) if self.kept else ""

    @property
    def is_share(self) -> bool:
        return self.promise.bound is not None

    @property
    def with_random(self) -> tuple[str, str] | None:
        """The errors left in all outputs, and with as many checks at random."""
        if self.kept is None or self.kept.remaining is None:
            return None
        whole = next(point for point in reversed(self.curve) if point.confidence == "policy")
        random = (whole.remaining or 0.0) * self.kept.coverage
        return percents(self.kept.remaining), percents(random)

    @property
    def to_people(self) -> str:
        """How many of 1,000 outputs go to people."""
        return thin(self._per_1000["outputs"])

    @property
    def effort(self) -> Iterator[str]:
        """What else 1,000 outputs take."""
        effort = self._per_1000
        checks = (1000 - effort["outputs"]) * self.policy.check_share
        yield f"and {thin(checks)} random checks of kept ones"
        if effort["minutes"] is not None:
            each = effort["minutes"] / max(1.0, effort["outputs"])
            yield f"{thin(effort['minutes'] + checks * each)} minutes of people"
        (cost,) = costs_of([self.policy.judge])
        if cost.money is not None:
            yield f"{money(cost.money)} for the judge"

    @property
    def _per_1000(self) -> Mapping[str, Any]:
        return self.policy.content["per_1000"]  # type: ignore[no-any-return]

    @property
    def groups(self) -> list[GroupRow]:
        points = {
            value: CurvePoint(**row) for value, row in self.policy.content["by_value"].items()
        }
        return [
            GroupRow(
                value,
                percents(point.coverage),
                ends_of_share(point.coverage_low, point.coverage_high),
                self._error(point),
                self._error_ends(point),
                point.outputs,
            )
            for value, point in points.items()
        ]

    @cached_property
    def drawing(self) -> Drawing | None:
        """The error by coverage; None without a curve."""
        lines: dict[str, list[ErrorPoint]] = {}
        for point in sorted(self.curve, key=lambda point: point.coverage):
            if point.error is not None:
                ends = point.error_low, point.error_high
                lines.setdefault(point.confidence, []).append(
                    ErrorPoint(point.coverage, point.error, *ends)
                )
        if not lines.get("policy"):
            return None
        return kept_errors(
            KeptErrors("this policy", lines["policy"]),
            [KeptErrors(NAMES[name], lines[name]) for name in NAMES if name in lines],
            promised=self.promise.bound or 0.0,
            kept=self.kept.coverage if self.kept else None,
            is_share=self.is_share,
            title=self._finding,
            width=WIDTH,
        )

    @property
    def picture(self) -> str:
        drawn = self.drawing
        return mark_safe(as_page_part(drawn)) if drawn else ""  # noqa: S308 - escaped there

    @property
    def _finding(self) -> str:
        if self.kept is None:
            return "No share of its answers is shown to keep the promise"
        return f"Keeping {self.coverage} of its answers is shown to keep the promise"

    def _error(self, point: CurvePoint) -> str:
        if point.error is None:
            return "–"
        return percents(point.error) if self.is_share else with_decimals(point.error)

    def _error_ends(self, point: CurvePoint) -> str:
        if point.error_low is None or point.error_high is None:
            return ""
        if self.is_share:
            return ends_of_share(point.error_low, point.error_high)
        return f"[{with_decimals(point.error_low)}, {with_decimals(point.error_high)}]"


@dataclass(frozen=True)
class PolicyPage:
    """A judge on a criterion: its newest answer, earlier ones, and the policy in use."""

    criterion: Criterion
    shown: PolicyAnswer | None
    answers: Sequence[PolicyAnswer]
    in_use: PolicyAnswer | None
    locked: LockedDocuments | None

    @property
    def looks(self) -> tuple[int, int] | None:
        """How many looks are used, and allowed; None without locked documents."""
        if self.locked is None:
            return None
        return looks_taken(self.locked), self.locked.looks_allowed

    @property
    def all_looks_used(self) -> str:
        """What to do where all looks are used; empty as long as some are left."""
        if self.looks is None or self.looks[0] < self.looks[1]:
            return ""
        return all_looks_used(self.looks[1])


def policy_page(judge: Judge, criterion: Criterion, chosen: str = "") -> PolicyPage:
    """Return the page.

    Args:
        chosen: the id of the answer that is shown; by default the one in use, or the newest.
    """
    rows = judge.policies.filter(criterion=criterion).select_related(
        "judge", "project", "criterion"
    )
    answers = [PolicyAnswer.of(row) for row in rows]
    in_use = next((each for each in answers if each.policy.is_in_use), None)
    by_pk = {str(each.policy.pk): each for each in answers}
    return PolicyPage(
        criterion=criterion,
        shown=by_pk.get(chosen) or in_use or next(iter(answers), None),
        answers=answers,
        in_use=in_use,
        locked=locked_of(judge.project),
    )


def criteria_of(judge: Judge) -> list[Criterion]:
    """Return the criteria on which something can be promised of a judge: those that have an order,
    and its scores."""
    own = Score.objects.filter(run__judge=judge, run__search=None, run__purpose="")
    scored = set(own.order_by().values_list("criterion", flat=True).distinct())
    return [
        each
        for each in judge.project.criteria.without_rubrics()
        if each.is_ordered and scored & {each.pk, None}
    ]


def promises_on(criterion: Criterion) -> tuple[PromiseKind, ...]:
    """Return what can be promised on a criterion by its ratings; the usual promise comes last."""
    counts = criterion.ratings.filter(score__isnull=False).values("output").order_by()
    has_two = counts.annotate(raters=Count("pk")).filter(raters__gte=2).exists()
    return possible_promises(criterion.scale, 2 if has_two else 1)
