"""Results of probes in a report: irrelevant influences on judges' scores."""

from dataclasses import dataclass

from evaluations.models import Study
from geval.statistics.sensitivity import Finding


@dataclass(frozen=True)
class ShownFinding:
    """A finding with its title; `is_share` if its value is a share or a ratio rather than
    points."""

    title: str
    found: Finding
    is_share: bool


@dataclass(frozen=True)
class Sensitivity:
    """A judge's sensitivities on a criterion, from a finished study; `sample` describes the outputs
    that its comparison with people covers, if not all."""

    study: Study
    findings: tuple[ShownFinding, ...]
    outputs: int = 0
    sample: tuple[str, ...] = ()

    @property
    def says_anything(self) -> bool:
        """Whether there was enough data to test."""
        return any(finding.found.p is not None for finding in self.findings)

    @property
    def wrong(self) -> tuple[ShownFinding, ...]:
        """The findings that show a problem."""
        return tuple(finding for finding in self.findings if finding.found.is_found)
