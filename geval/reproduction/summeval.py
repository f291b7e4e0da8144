"""Table 1's ROUGE rows: from imported scores of ROUGE-1.5.5, and from our own ROUGE."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geval.evaluators.base import Item
from geval.evaluators.rouge import Rouge
from geval.llm.item_texts import Texts
from geval.llm.scoring import Scored
from geval.reproduction.cells import (
    Cell,
    csv_rows,
    human_means,
    level_of,
    mean_of,
    places,
    table_of,
)
from geval.statistics.types import FloatArray

CRITERIA = ("coherence", "consistency", "fluency", "relevance")
# By ROUGE variant: rho and tau for each criterion, then their averages; and our evaluator's
# variant.
PUBLISHED = {
    "rouge1_f": (0.167, 0.126, 0.160, 0.130, 0.115, 0.094, 0.326, 0.252, 0.192, 0.150),
    "rouge2_f": (0.184, 0.139, 0.187, 0.155, 0.159, 0.128, 0.290, 0.219, 0.205, 0.161),
    "rougel_f": (0.128, 0.099, 0.115, 0.092, 0.105, 0.084, 0.311, 0.237, 0.165, 0.128),
}
VARIANTS = {"rouge1_f": "rouge1", "rouge2_f": "rouge2", "rougel_f": "rougeLsum"}
CUT_OFF = "published truncated, not rounded: the value is 0.1286"
STEMMER = "rouge-score stems differently from ROUGE-1.5.5"


def cells(folder: Path) -> Iterator[Cell]:
    """Compute the figures at summary level; documents with constant ratings or scores are left
    out."""
    ratings = csv_rows(folder / "summeval" / "human_ratings.csv.gz")
    metrics = csv_rows(folder / "summeval" / "metric_scores.csv.gz")
    documents, systems, raters = (
        places(ratings, column) for column in ("doc_id", "system_id", "annotator")
    )
    humans = {name: human_means(ratings, name, documents, systems, raters) for name in CRITERIA}
    with gzip.open(folder / "summeval" / "outputs.jsonl.gz") as file:
        outputs = [json.loads(line) for line in file]
    for judge, published in PUBLISHED.items():
        imported = table_of([row for row in metrics if row["judge"] == judge], documents, systems)
        rouge = table_of(list(_own_rouge(VARIANTS[judge], outputs)), documents, systems)
        for row, scores in ((judge, imported), (f"  {VARIANTS[judge]} by our ROUGE", rouge)):
            yield from _row(row, humans, scores, published)


def _row(
    row: str, humans: dict[str, FloatArray], scores: FloatArray, published: tuple[float, ...]
) -> Iterator[Cell]:
    is_ours = row.startswith(" ")
    values: list[float | None] = []
    for name in CRITERIA:
        values += [level_of(humans[name], scores, c, "summary") for c in ("spearman", "kendall")]
    values += [mean_of(values[0::2]), mean_of(values[1::2])]
    columns = [f"{name} {c}" for name in (*CRITERIA, "AVG") for c in ("rho", "tau")]
    for column, figure, value in zip(columns, published, values, strict=True):
        odd = row == "rougel_f" and column == "coherence rho"
        yield Cell(
            row,
            column,
            figure,
            value,
            STEMMER if is_ours else CUT_OFF if odd else "",
            other=is_ours,
        )


def _own_rouge(variant: str, outputs: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Return the mean F over the references, as in the imported scores."""
    evaluator = Rouge({"variant": variant, "references": "mean"})
    evaluator.load()
    items = [
        Item(Texts(row["source"], row["output"], "", tuple(row["references"]))) for row in outputs
    ]
    for row, outcome in zip(outputs, evaluator.score_readable(items), strict=True):
        if isinstance(outcome, Scored):
            yield {
                "doc_id": row["doc_id"],
                "system_id": row["system_id"],
                "score": repr(outcome.value),
            }
