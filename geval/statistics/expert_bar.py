"""What a criterion requires of a judge by one expert's labels."""

from dataclasses import dataclass

from geval.statistics.thresholds import EXPERT_KAPPA, EXPERT_SHARE


@dataclass(frozen=True)
class ExpertBar:
    """The least lower ends: of the share that the judge finds (`sensitivity`) and of what it keeps
    (`specificity`) on pass or fail; of weighted kappa on other scales; and of kappa and each
    label's recall, where labels have no order."""

    sensitivity: float = EXPERT_SHARE
    specificity: float = EXPERT_SHARE
    kappa: float = EXPERT_KAPPA


USUAL_BAR = ExpertBar()
