"""Table 3's reproducible rows on XSum: UniEval, and ROUGE with the source as reference."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from geval.evaluators.base import Item
from geval.evaluators.rouge import Rouge
from geval.llm.item_texts import Texts
from geval.llm.scoring import Scored
from geval.reproduction.cells import Cell, pooled
from geval.statistics.correlation import COEFFICIENTS

UNIEVAL = (0.461, 0.488, 0.399)
# Computed by ROUGE-1.5.5, which is not available here; ours stems differently.
ROUGE = {"rouge2": (0.097, 0.083, 0.068), "rougeL": (0.024, -0.011, -0.009)}
STEMMER = "published with ROUGE-1.5.5; rouge-score stems differently"


def cells(folder: Path) -> Iterator[Cell]:
    """Compute the figures over all outputs at once."""
    release = json.loads((folder / "qags_xsum" / "qags_xsum_unieval.json").read_text())
    human = np.array([item["scores"]["consistency"] for item in release])
    predicted = np.array([item["predict_scores"]["consistency"] for item in release])
    for coefficient, figure in zip(COEFFICIENTS, UNIEVAL, strict=True):
        yield Cell("UniEval", f"XSum {coefficient}", figure, pooled(human, predicted, coefficient))
    items = [
        Item(Texts("", item["system_output"], references=(item["source"],))) for item in release
    ]
    for variant, published in ROUGE.items():
        evaluator = Rouge({"variant": variant})
        evaluator.load()
        scores = np.array(
            [o.value if isinstance(o, Scored) else np.nan for o in evaluator.score_readable(items)]
        )
        for coefficient, figure in zip(COEFFICIENTS, published, strict=True):
            value = pooled(human, scores, coefficient)
            yield Cell(
                f"  {variant} by our ROUGE",
                f"XSum {coefficient}",
                figure,
                value,
                STEMMER,
                other=True,
            )
