"""What a criterion requires of a judge by one expert's labels."""

from dataclasses import dataclass, fields
from typing import Any

from geval.statistics.thresholds import EXPERT_KAPPA, EXPERT_SHARE


@dataclass(frozen=True)
class ExpertBar:
    """The least lower ends: of the share that the judge finds (`sensitivity`) and of what it keeps
    (`specificity`) on pass or fail; of weighted kappa on other scales; and of kappa and each
    label's recall, where labels have no order."""

    sensitivity: float = EXPERT_SHARE
    specificity: float = EXPERT_SHARE
    kappa: float = EXPERT_KAPPA


def bar_of(criterion: Any) -> ExpertBar:
    """Return what a criterion's settings require, and the usual where they say nothing."""
    own = {each.name: getattr(criterion, f"required_{each.name}") for each in fields(ExpertBar)}
    return ExpertBar(**{name: least for name, least in own.items() if least is not None})


USUAL_BAR = ExpertBar()
