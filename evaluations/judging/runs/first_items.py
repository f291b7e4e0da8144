"""Watch the results of a run's first items (geval.llm.stopping.py)."""

from evaluations.models import EvaluationRun, ItemState
from geval.llm.request_settings import RequestSettings
from geval.llm.stopping import FirstItems
from geval.statistics.thresholds import FIRST_ITEMS


def first_items_of(run: EvaluationRun, settings: RequestSettings) -> FirstItems | None:
    """Return the watch over a run's first items.

    None if the run has only a few items; if its first items are judged, so that a resumed run
    continues; and for runs of searches and studies, which report failures themselves.
    """
    if not run.counts or run.items.all()[: FIRST_ITEMS + 1].count() <= FIRST_ITEMS:
        return None
    finished = run.items.filter(state__in=(ItemState.DONE, ItemState.FAILED))
    return None if finished[:FIRST_ITEMS].count() >= FIRST_ITEMS else FirstItems(settings)
