"""The page of a judge's policies on a criterion."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count, Q, QuerySet
from django.utils.safestring import mark_safe

from assurance.improving.looking import looks_taken
from assurance.improving.search_data import FITTED_KINDS
from evaluations.corpus.locks.locking import locked_of
from evaluations.models import Criterion, Judge, LockedDocuments, Score
from evaluations.models import Policy as PolicyRow
from evaluations.reports.judge_costs import costs_of
from geval.improving.policy import CurvePoint, Policy
from geval.improving.promises import PromiseKind, possible_promises
from geval.improving.proving import all_looks_used
from geval.reports.drawings.kept_errors import ErrorPoint, KeptErrors, kept_errors
from geval.reports.drawings.rendering import as_page_part
from geval.reports.drawings.shapes import WIDTH, Drawing
from geval.texts.numbers import in_percents, money, percents, thin

NAMES = {"random": "random checks", "length": "length alone", "who wrote it": "who wrote it"}


@dataclass(frozen=True)
class PolicyAnswer:
    """A question and its answer, as the page shows it."""

    policy: PolicyRow
    result: Policy

    @classmethod
    def of(cls, policy: PolicyRow) -> "PolicyAnswer":
        return cls(policy, Policy.from_dict(policy.content))

    @property
    def is_share(self) -> bool:
        return self.result.promise.bound is not None

    @property
    def kept(self) -> tuple[str, str, str, str] | None:
        """Coverage and error of what is kept, each with its interval."""
        return self._figures(self.result.kept) if self.result.kept else None

    @property
    def groups(self) -> dict[str, tuple[str, str, str, str, str]]:
        """The same of each value, with the number of outputs."""
        points = self.result.by_value
        return {
            value: (*self._figures(point), thin(point.outputs)) for value, point in points.items()
        }

    @property
    def left(self) -> list[str]:
        """The errors left in all outputs, with as many checks at random, and without a policy."""
        return [percents(share) for share in self.result.remaining or ()]

    @property
    def to_people(self) -> str:
        """How many of 1,000 outputs go to people."""
        return thin(self.result.per_1000["outputs"] or 0.0)

    @property
    def effort(self) -> Iterator[str]:
        """What else 1,000 outputs take."""
        effort, judges = self.result.per_1000, [self.policy.judge]
        outputs, minutes = effort["outputs"] or 0.0, effort["minutes"]
        checks = (1000 - outputs) * self.policy.check_share
        yield f"and {thin(checks)} random checks of kept ones"
        if minutes is not None:
            yield f"{thin(minutes + checks * minutes / max(1.0, outputs))} minutes of people"
        shares = [1.0]
        if self.policy.second is not None:
            shares.append((effort["second_calls"] or 0.0) / 1000)
            judges.append(self.policy.second)
            yield f"{thin(1000 * shares[1])} go to {self.policy.second.label}"
        costs = [cost.money for cost in costs_of(judges)]
        if None not in costs:
            total = sum(share * float(cost or 0) for share, cost in zip(shares, costs, strict=True))
            yield f"{money(total)} for the judge{'s' * (len(judges) > 1)}"

    @cached_property
    def drawing(self) -> Drawing | None:
        """The error by coverage; None without a curve."""
        lines: dict[str, list[ErrorPoint]] = {}
        for point in sorted(self.result.curve, key=lambda point: point.coverage):
            if drawn := self._drawn(point):
                lines.setdefault(point.confidence, []).append(drawn)
        if not lines.get("policy"):
            return None
        finding = "No share of answers is shown to keep the promise"
        if self.kept:
            finding = f"Keeping {self.kept[0]} of answers is shown to keep the promise"
        return kept_errors(
            KeptErrors("this policy", lines["policy"]),
            [KeptErrors(NAMES[name], lines[name]) for name in NAMES if name in lines],
            promised=self.result.promise.bound or 0.0,
            kept=self.result.kept.coverage if self.result.kept else None,
            is_share=self.is_share,
            title=finding,
            width=WIDTH,
        )

    @property
    def picture(self) -> str:
        drawn = self.drawing
        return mark_safe(as_page_part(drawn)) if drawn else ""  # noqa: S308 - escaped there

    def _drawn(self, point: CurvePoint) -> ErrorPoint | None:
        if point.error is None:
            return None
        by_first = point.by_first if self.result.second else None
        return ErrorPoint(point.coverage, point.error, point.error_low, point.error_high, by_first)

    def _figures(self, point: CurvePoint) -> tuple[str, str, str, str]:
        drawn = self._drawn(point)
        error, interval = drawn.written(is_share=self.is_share) if drawn else ("–", "")
        ends = in_percents(point.coverage_low, point.coverage_high)
        return percents(point.coverage), ends, error, interval


@dataclass(frozen=True)
class PolicyPage:
    """A judge on a criterion: its newest answer, earlier ones, questions that wait for a worker,
    and the policy in use."""

    criterion: Criterion
    shown: PolicyAnswer | None
    answers: Sequence[PolicyAnswer]
    waiting: Sequence[PolicyRow]
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
        "judge", "second", "project", "criterion"
    )
    answers = [PolicyAnswer.of(row) for row in rows.answered()]
    in_use = next((each for each in answers if each.policy.is_in_use), None)
    by_pk = {str(each.policy.pk): each for each in answers}
    return PolicyPage(
        criterion=criterion,
        shown=by_pk.get(chosen) or in_use or next(iter(answers), None),
        answers=answers,
        waiting=list(rows.exclude(pk__in=by_pk)),
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


def second_judges(judge: Judge, criterion: Criterion) -> QuerySet[Judge]:
    """Return the judges that can be asked where a judge is not sure enough on a criterion."""
    own = Score.objects.filter(run__search=None, run__purpose="").filter(
        Q(criterion=criterion) | Q(criterion=None), run__project=judge.project_id
    )
    others = judge.project.judges.filter(retired_at=None).exclude(pk=judge.pk)
    return others.exclude(kind__in=FITTED_KINDS).filter(pk__in=own.values("run__judge"))


def promises_on(criterion: Criterion) -> tuple[PromiseKind, ...]:
    """Return what can be promised on a criterion by its ratings; the usual promise comes last."""
    counts = criterion.ratings.filter(score__isnull=False).values("output").order_by()
    has_two = counts.annotate(raters=Count("pk")).filter(raters__gte=2).exists()
    return possible_promises(criterion.scale, 2 if has_two else 1)
