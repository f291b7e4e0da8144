"""The changes that a search can make with existing scores, and what it measures. Pure and cheap to
import, as a site's models use it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from geval.statistics.scales import Scale


class FreeChange(StrEnum):
    """A change that makes no calls, as it uses existing scores."""

    CHOICE = "choice"
    PANEL = "panel"
    CALIBRATION = "calibration"


class Measure(StrEnum):
    """What a change should improve: the ranking of outputs, the verdicts of pass or fail, labels
    without an order, or the distance of scores from people's."""

    RANK = "rank"
    BALANCE = "balance"
    KAPPA = "kappa"
    DISTANCE = "distance"


CHANGE_LABELS: dict[str, str] = {
    FreeChange.CHOICE: "Another judge",
    FreeChange.PANEL: "Panel",
    FreeChange.CALIBRATION: "Calibration map",
}
MEASURE_LABELS: dict[str, str] = {
    Measure.RANK: "rho",
    Measure.BALANCE: "balanced accuracy",
    Measure.KAPPA: "kappa",
    Measure.DISTANCE: "distance",
}


def measure_on(scale: Scale) -> Measure:
    """Return what is to be improved on a scale: balanced accuracy on pass or fail, kappa of labels
    without an order, else rho."""
    if not scale.is_ordered:
        return Measure.KAPPA
    return Measure.BALANCE if scale.is_pass_fail else Measure.RANK


# Why a search that tried a change proposes none.
NOTHING_BETTER: dict[str, str] = {
    FreeChange.CHOICE: "tried; no other judge ranks better",
    FreeChange.PANEL: "tried; it takes two judges that together rank better than each alone",
    FreeChange.CALIBRATION: "tried; the scores do not vary, or too few documents have ratings",
}

# Why a change is not tried on labels without an order.
NO_ORDER: dict[str, str] = {
    FreeChange.PANEL: "labels have no order, so they cannot be added; choose another judge",
    FreeChange.CALIBRATION: "labels have no order, so no map brings them nearer to people’s",
}
# Why there is nothing to choose from.
ONE_LABEL = "people gave all training documents the same label"
NO_OTHER_JUDGE = "there is no other judge with scores of every output that counts"
ONE_OUTPUT_EACH = (
    "documents have one output each, so nothing can be ranked within them; pass document=…, the"
    " column whose names several outputs share"
)
TOO_FEW_VOTES = "it takes three judges that give verdicts of all outputs that count"
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
