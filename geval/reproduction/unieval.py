"""UniEval's own figures (Zhong et al., 2022), from the README of its folder `reproduce`: six
digits, over all outputs at once."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from geval.reproduction.cells import Cell, pooled
from geval.statistics.correlation import COEFFICIENTS

# Our file -> criterion -> Pearson's r, Spearman's rho, Kendall's tau-b.
PUBLISHED: dict[str, dict[str, tuple[float, float, float]]] = {
    "topical_chat": {
        "naturalness": (0.443666, 0.513986, 0.373973),
        "coherence": (0.595143, 0.612942, 0.465915),
        "engagingness": (0.55651, 0.604739, 0.455941),
        "groundedness": (0.536209, 0.574954, 0.451533),
        "understandability": (0.380038, 0.467807, 0.360741),
        "overall": (0.632796, 0.662583, 0.487272),
    },
    "sfres": {
        "naturalness": (0.367252, 0.333399, 0.247094),
        "informativeness": (0.282079, 0.224918, 0.169297),
        "overall": (0.370815, 0.291593, 0.214708),
    },
    "sfhot": {
        "naturalness": (0.397428, 0.319813, 0.237635),
        "informativeness": (0.357353, 0.249329, 0.191217),
        "overall": (0.406425, 0.320721, 0.236024),
    },
    "qags_xsum": {"consistency": (0.461376, 0.48792, 0.399218)},
    "qags_cnndm": {"consistency": (0.681681, 0.662255, 0.531636)},
}
DIGITS = 6


def cells(folder: Path) -> Iterator[Cell]:
    """Compute the cells; without our value where a file is missing."""
    for name, criteria in PUBLISHED.items():
        path = folder / name / f"{name}_unieval.json"
        release = json.loads(path.read_text()) if path.exists() else None
        note = "" if release is not None else f"{path.name} is not there"
        for criterion, figures in criteria.items():
            sides = None
            if release is not None:
                sides = [
                    np.array([item[side][criterion] for item in release], dtype=float)
                    for side in ("scores", "predict_scores")
                ]
            for coefficient, figure in zip(COEFFICIENTS, figures, strict=True):
                value = pooled(sides[0], sides[1], coefficient) if sides else None
                column = f"{criterion} {coefficient}"
                yield Cell(f"UniEval on {name}", column, figure, value, note, digits=DIGITS)
