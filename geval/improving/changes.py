"""The changes that a search can make with existing scores, and what it measures. Pure and cheap to
import, as a site's models use it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class FreeChange(StrEnum):
    """A change that makes no calls, as it uses existing scores."""

    CHOICE = "choice"
    PANEL = "panel"
    CALIBRATION = "calibration"


class Measure(StrEnum):
    """What a change should improve: the ranking of outputs, or the distance of scores from
    people's."""

    RANK = "rank"
    DISTANCE = "distance"


CHANGE_LABELS: dict[str, str] = {
    FreeChange.CHOICE: "Another judge",
    FreeChange.PANEL: "Panel",
    FreeChange.CALIBRATION: "Calibration map",
}
MEASURE_LABELS: dict[str, str] = {Measure.RANK: "rho", Measure.DISTANCE: "distance"}
# Why a search that tried a change proposes none.
NOTHING_BETTER: dict[str, str] = {
    FreeChange.CHOICE: "tried; no other judge ranks better",
    FreeChange.PANEL: "tried; it takes two judges that together rank better than each alone",
    FreeChange.CALIBRATION: "tried; the scores do not vary, or too few documents have ratings",
}

# Why there is nothing to choose from.
NO_OTHER_JUDGE = "there is no other judge with scores of every output that counts"
ONE_OUTPUT_EACH = (
    "documents have one output each, so nothing can be ranked within them; pass document=…, the"
    " column whose names several outputs share"
)
NO_RANKS = "in no training document do people rate two outputs differently"


def is_better(training: Mapping[str, Any]) -> bool:
    """Return whether a change gains on training documents; a map must beat the best constant as
    well.

    Args:
        training: `gain`, `candidate`, and for a map `constant`, the distance of the best constant.
    """
    constant = training.get("constant")
    beats_constant = constant is None or training["candidate"] < constant
    return bool(training["gain"] > 0 and beats_constant)
