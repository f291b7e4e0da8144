"""What a search may change with the scores there are, and what it measures. Pure, and light: rows
of a site are defined by it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class FreeChange(StrEnum):
    """A change that makes no calls, as it uses the scores there are."""

    CHOICE = "choice"
    PANEL = "panel"
    CALIBRATION = "calibration"


class Measure(StrEnum):
    """What a change should improve: how outputs are ranked, or how near scores are to people's."""

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
    """Whether a change gains on training documents; a map has to beat the best constant as well.

    Args:
        training: `gain`, `candidate`, and of a map `constant`, the distance of the best constant.
    """
    constant = training.get("constant")
    beats_constant = constant is None or training["candidate"] < constant
    return bool(training["gain"] > 0 and beats_constant)
