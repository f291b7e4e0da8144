"""How precisely a run's correlations are known, and when they will be known better."""

from collections.abc import Collection, Container
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Min, Q
from django.utils.safestring import SafeString, mark_safe

from evaluations.models import EvaluationRun
from evaluations.models.query_arrays import fetch_numbers
from evaluations.reports.so_far import CriterionSoFar, so_far
from geval.reports.drawings.narrowing import narrowing_band
from geval.reports.drawings.svg import as_page_part
from geval.reports.words import ranked_in_words
from geval.statistics.anytime import RHO, TWO_RHOS, Ends
from geval.statistics.correlation import mean_of_documents
from geval.statistics.narrowing import Step, anytime_mean, narrowing
from geval.statistics.projection import documents_for
from geval.statistics.resampling import Interval
from geval.statistics.same_documents import Ranked
from geval.statistics.thresholds import INTERVAL_DOCUMENTS, PROMISE
from geval.statistics.types import FloatArray
from geval.statistics.weighted import freedom_share
from geval.texts.numbers import in_brackets, in_time, signed, thin, two_decimals

GOALS = (0.1, 0.05, 0.02)


@dataclass(frozen=True)
class Precision:
    """A criterion's band on the page of a run, and a sentence about the next goal."""

    criterion: str
    picture: SafeString
    said: str


@dataclass(frozen=True)
class _Open:
    """The open items of a criterion, and those that come before them."""

    items: int
    before: int


def precisions(run: EvaluationRun, found: list[CriterionSoFar], rate: float) -> list[Precision]:
    """The bands of the criteria that have an interval.

    Args:
        found: what the run has so far.
        rate: items per minute.
    """
    open_items = _open_items(run) if found and run.is_active else {}
    shown = []
    for one in found:
        order = _order(run, one)
        if steps := narrowing(*_in_order(one, order), largest=one.largest):
            left = open_items.get(one.pk) or open_items.get(None)
            sentence = _said(steps[-1], len(order), one, left, rate)
            drawn = as_page_part(narrowing_band(one.named, steps))
            shown.append(Precision(one.named, mark_safe(drawn), sentence))  # noqa: S308 (escaped)
    return shown


def at_any_time(run: EvaluationRun, criteria: Container[int]) -> str:
    """The correlations of a run in progress with intervals that hold however often they are looked
    at; empty before any criterion has ten documents.

    Args:
        criteria: the ids of those that may be named.
    """
    sentences = (
        KnownSoFar.of(one, *_in_order(one, _order(run, one)))
        for one in so_far(run)
        if one.pk in criteria
    )
    return ", ".join(map(str, filter(None, sentences)))


@dataclass(frozen=True)
class KnownSoFar:
    """A criterion's rho in a run, or how far it is above another judge's, with ends that hold
    however often they are looked at; then `ranked` says in how many documents each ranks
    anything."""

    criterion: str
    rho: float
    ends: Ends
    ranked: Ranked | None = None

    @classmethod
    def of(
        cls,
        one: CriterionSoFar,
        by_document: FloatArray,
        weight: FloatArray | None,
        *,
        ranked: Ranked | None = None,
    ) -> "KnownSoFar | None":
        """From documents in the order in which they came, shape (documents,), NaN where one has no
        coefficient, and their weights; None for fewer than ten."""
        counts = ~np.isnan(by_document)
        values, own = by_document[counts], None if weight is None else weight[counts]
        if len(values) < INTERVAL_DOCUMENTS:
            return None
        most = RHO if ranked is None else TWO_RHOS
        (ends,) = anytime_mean(values, [len(values)], own, largest=one.largest, most=most)
        return cls(one.named, mean_of_documents(values, own), ends, ranked)

    def __str__(self) -> str:
        ends = in_brackets(Interval(self.ends.low, self.ends.high))
        if self.ranked is None:
            return f"{self.criterion} {two_decimals(self.rho)} {ends}"
        return f"{self.criterion} {signed(self.rho)} {ends} ({ranked_in_words(self.ranked)})"

    @property
    def is_difference(self) -> bool:
        return self.ranked is not None

    @property
    def half_width(self) -> float:
        return (self.ends.high - self.ends.low) / 2

    @property
    def leaves_out_0(self) -> bool:
        return self.ends.low > 0 or self.ends.high < 0


def known_of_complete(run: EvaluationRun, one: CriterionSoFar) -> KnownSoFar | None:
    """What is known of a run's goal from the documents that it has judged completely on a
    criterion."""
    open_ = (
        run.items.open()
        .filter(Q(criterion=one.pk) | Q(criterion=None))
        .order_by()
        .values_list("output__document", flat=True)
    )
    order = _order(run, one, without=set(open_))
    if one.ahead is None:
        return KnownSoFar.of(one, *_in_order(one, order))
    same = one.ahead.at([at for at in order if at < len(one.ahead.counting)])
    return KnownSoFar.of(one, same.difference, same.weight, ranked=same.ranked)


def _in_order(one: CriterionSoFar, order: list[int]) -> tuple[FloatArray, FloatArray | None]:
    """The coefficients of documents in the order in which these were scored, and their weights."""
    at = [at for at in order if at < len(one.by_document)]
    return one.by_document[at], None if one.weight is None else one.weight[at]


def _said(last: Step, documents: int, one: CriterionSoFar, left: _Open | None, rate: float) -> str:
    """When the next goal is reached: by this run, or with how many documents."""
    half = (last.high - last.low) / 2
    goal = next((goal for goal in GOALS if goal < 0.98 * half), None)
    now = (
        f"±{half:.2f} with {thin(last.documents)} documents; valid at any time:"
        f" {two_decimals(last.anytime.low)} to {two_decimals(last.anytime.high)}"
        f" (±{(last.anytime.high - last.anytime.low) / 2:.2f})"
    )
    if goal is None or half <= 0:
        return f"{now}."
    needed = documents_for(half, documents=last.documents, goal=goal)
    if needed is None:
        return f"{now}."
    per_document = one.scored / max(1, documents)
    # Documents in which all ratings or scores are the same are judged and do not count.
    more = (needed - last.documents) * documents / last.documents * per_document
    if left is not None and rate > 0 and more <= left.items:
        return f"{now}. ±{goal:g} in about {in_time(60 * (left.before + more) / rate)}."
    promised = documents_for(
        half,
        documents=last.documents,
        goal=goal,
        assurance=PROMISE,
        freedom=freedom_share(one.weight),
    )
    most = "" if promised is None else f", at most {thin(promised)} in nine of ten cases"
    return f"{now}. ±{goal:g} takes about {thin(needed)} rated documents{most}."


def _order(
    run: EvaluationRun, one: CriterionSoFar, *, without: Collection[int] = frozenset()
) -> list[int]:
    """The places of documents in the order in which their first score came; `without` are ids of
    those that are left out. Of a session's documents the first counts, and all are left out."""
    rows = fetch_numbers(
        ["o.document_id", "min(s.id)"],
        f"""FROM evaluations_score s JOIN evaluations_candidateoutput o ON o.id = s.output_id
            WHERE s.run_id = {int(run.pk)}
                AND (s.criterion_id = {int(one.pk)} OR s.criterion_id IS NULL)
            GROUP BY o.document_id""",
    )
    left_out = {one.places[pk] for pk in without if pk in one.places}
    ordered = rows[rows[:, 1].argsort(kind="stable"), 0].astype(int).tolist()
    places = dict.fromkeys(one.places[pk] for pk in ordered if pk in one.places)
    return [place for place in places if place not in left_out]


def _open_items(run: EvaluationRun) -> dict[int | None, _Open]:
    rows = run.items.open().order_by().values("criterion")
    counted = rows.annotate(items=Count("pk"), first=Min("pk")).order_by("first")
    counts: dict[int | None, _Open] = {}
    before = 0
    for row in counted:
        counts[row["criterion"]] = _Open(row["items"], before)
        before += row["items"]
    return counts
