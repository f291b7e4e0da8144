"""Plan how much more people have to rate until a judge's correlation is known precisely enough."""

import math
from decimal import Decimal

import numpy as np

from geval.measuring.inputs import InputError
from geval.measuring.measurement import Measurement
from geval.measuring.plans import DocumentValues, Plan, PlanGoal, UnitCosts, plan_of
from geval.statistics.anytime import RHO
from geval.statistics.correlation import coefficients_by_document
from geval.statistics.types import FloatArray

# The half-width of an interval that is narrow enough for a verdict.
USUAL_WIDTH = 0.05


def plan(
    measured: Measurement,
    *,
    criterion: str = "",
    judge: str = "",
    width: float = USUAL_WIDTH,
    price: float | None = None,
) -> Plan:
    """Return how much rating is needed to know a judge's mean rho within documents to plus or minus
    `width`, with the present ratings and scores as the pilot. Plan again at 60 documents.

    Args:
        criterion: by default the one with the strongest verdict.
        judge: by default the best one.
        width: half of the 95 % interval.
        price: of one rating.

    Raises:
        InputError: there is no such criterion or judge, or no such width or price.

    >>> import geval
    >>> table = [{"doc": d, "system": s, "ann": (s + d) % 4, "bob": s, "gpt": (s * d) % 4}
    ...          for d in range(20) for s in range(4)]
    >>> result = geval.measure(table, human=["ann", "bob"], judge="gpt", document="doc",
    ...                        system="system")
    >>> plan = geval.plan(result, width=0.2)
    >>> plan.documents, [row.raters for row in plan.rows]
    (20, [1, 2])
    >>> print(plan.rows[0])
    1 rater per output: 87 documents, or 348 ratings
    """
    if not 0 < width < 1:
        raise InputError(f"A width of an interval of rho is between 0 and 1, not {width}.")
    if price is not None and not 0 <= price < math.inf:
        raise InputError(f"The price of a rating is 0 or more, not {price}.")
    chosen = measured.criteria_named(criterion)[0]
    parts = measured.gathered
    about = next(each for each in parts.criteria if each.name == chosen.criterion)
    named = measured.judge_named(judge or chosen.judge or parts.judges[0].name)
    units = parts.data.units.unweighted
    nothing: FloatArray = np.full(len(units), np.nan)
    scores = parts.data.judges.get((about.pk, named.pk), nothing)

    def tell(mean: FloatArray) -> DocumentValues:
        shared = np.where(np.isnan(scores), np.nan, mean)
        return DocumentValues(coefficients_by_document(units, shared, scores, "spearman"), RHO)

    costs = UnitCosts(price=None if price is None else Decimal(str(price)))
    return plan_of(PlanGoal(width), parts.data.humans.get(about.pk), units, tell, costs)
