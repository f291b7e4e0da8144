"""The attributes of criteria and judges that reports need: a site's rows have them, and plain
values can."""

from typing import Protocol

from geval.statistics.expert_bar import ExpertBar
from geval.statistics.scales import Scale


class CriterionLike(Protocol):
    """A criterion: its id, name and scale, and what it requires of a judge."""

    @property
    def pk(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def scale(self) -> Scale: ...

    @property
    def bar(self) -> ExpertBar: ...


class JudgeLike(Protocol):
    """A judge: its id, its label on pages, and what determines the family of its texts."""

    @property
    def pk(self) -> int: ...

    @property
    def label(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def is_stand_in(self) -> bool: ...

    @property
    def compares_pairs(self) -> bool: ...
