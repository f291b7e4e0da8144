"""What a report shows of probes: what moves judges' scores that should not. An optional app makes
them (`registry.py`); without it there are none."""

from dataclasses import dataclass

from evaluations.models import Study
from geval.statistics.sensitivity import Finding


@dataclass(frozen=True)
class ShownFinding:
    """A finding with its title; `is_share` if its value is a share or a ratio and not points."""

    title: str
    found: Finding
    is_share: bool


@dataclass(frozen=True)
class Sensitivity:
    """What a judge is sensitive to on a criterion, by a study that has ended; `sample` says of what
    its comparison with people speaks, where this is not all outputs."""

    study: Study
    findings: tuple[ShownFinding, ...]
    outputs: int = 0
    sample: tuple[str, ...] = ()

    @property
    def says_anything(self) -> bool:
        """Whether there was enough to test."""
        return any(finding.found.p is not None for finding in self.findings)

    @property
    def wrong(self) -> tuple[ShownFinding, ...]:
        """Those that say that something is wrong."""
        return tuple(finding for finding in self.findings if finding.found.is_found)
