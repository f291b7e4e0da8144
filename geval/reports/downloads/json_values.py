"""Values of a report in JSON: a number, or null with its reason next to it."""

from typing import Any

from geval.statistics.ppi import PpiMean
from geval.statistics.resampling import Interval
from geval.statistics.same_documents import Ranked
from geval.statistics.types import Estimate


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    if estimate.value is None:
        return {"value": None, "reason": estimate.reason}
    return {"value": estimate.value}


def ends_json(interval: Interval | PpiMean) -> list[float] | None:
    """Return both ends, or null without an interval."""
    if interval.low is None or interval.high is None:
        return None
    return [interval.low, interval.high]


def ranked_json(ranked: Ranked) -> dict[str, Any]:
    """Return the numbers of documents that people rank, and that each judge ranks."""
    return {
        "documents_ranked": ranked.documents,
        "documents_ranked_by_each": [ranked.first, ranked.second],
    }


def with_interval(estimate: Estimate, interval: Interval) -> dict[str, Any]:
    reason = (
        {"ci_reason": interval.reason} if interval.reason and estimate.value is not None else {}
    )
    return estimate_json(estimate) | {"ci": ends_json(interval)} | reason
