"""Whether what becomes of a run's first items is watched (geval.llm.stopping.py)."""

from evaluations.models import EvaluationRun, ItemState
from geval.llm.request_settings import RequestSettings
from geval.llm.stopping import FirstItems
from geval.statistics.thresholds import FIRST_ITEMS


def first_items_of(run: EvaluationRun, settings: RequestSettings) -> FirstItems | None:
    """What watches the first items of a run.

    None for a run that has no others, for one whose first items are judged, so that it goes on when
    somebody resumes it, and for those of searches and studies, which report failures themselves.
    """
    if not run.counts or run.items.all()[: FIRST_ITEMS + 1].count() <= FIRST_ITEMS:
        return None
    finished = run.items.filter(state__in=(ItemState.DONE, ItemState.FAILED))
    return None if finished[:FIRST_ITEMS].count() >= FIRST_ITEMS else FirstItems(settings)
