"""Simulated projects whose judge has one planted defect, or none, and what is found of it."""

from dataclasses import dataclass

import numpy as np

from geval.evaluators.perturbing import PROBES
from geval.statistics.arrays import Outputs
from geval.statistics.sensitivity import NOISE, SEVERITY, SPREAD, sensitivity
from geval.statistics.types import FloatArray

DOCUMENTS, SYSTEMS = 40, 5
# What finds each defect: a probe or a check.
FINDS = {
    "position": "swapped",
    "length": "padded",
    "family": "named",
    "severity": SEVERITY,
    "squeezed scale": SPREAD,
    "noise": NOISE,
}
# In points of a scale from 1 to 5.
_EFFECT, _STRICT, _SQUEEZE, _STEADY, _NOISY = 0.3, 0.4, 0.4, 0.4, 1.8


@dataclass(frozen=True)
class SimulatedJudge:
    """A judge of outputs whose quality is known."""

    rng: np.random.Generator
    quality: FloatArray
    defect: str = ""

    def scores(self, probe: str = "") -> FloatArray:
        """One asking about every output; shape (outputs,)."""
        seen = self.quality
        if self.defect == "squeezed scale":
            seen = 3 + _SQUEEZE * (seen - 3)
        if self.defect == "severity":
            seen = seen - _STRICT
        if probe and FINDS.get(self.defect) == probe:
            # Not every output is moved alike.
            seen = seen + self.rng.normal(_EFFECT, _EFFECT, len(seen))
        noise = _NOISY if self.defect == "noise" else _STEADY
        return np.clip(seen + self.rng.normal(0, noise, len(seen)), 1, 5)


def found_in(defect: str, seed: int) -> set[str]:
    """What is found in a project whose judge has a defect; an empty one is none."""
    rng = np.random.default_rng(seed)
    outputs = Outputs.full(DOCUMENTS, SYSTEMS)
    easy = rng.normal(0, 0.5, (DOCUMENTS, 1))
    quality = (3 + easy + rng.normal(0, 0.7, (DOCUMENTS, SYSTEMS))).ravel()
    people = np.round(np.clip(quality + rng.normal(0, 0.4, (3, len(quality))), 1, 5)).mean(axis=0)
    judge = SimulatedJudge(rng, quality, defect)
    unchanged = np.column_stack([judge.scores(), judge.scores()])
    changed = {probe.name: judge.scores(probe.name) for probe in PROBES}
    return {one.name for one in sensitivity(outputs, unchanged, changed, people) if one.is_found}
