"""Table 2's reproducible rows, and G-Eval from real 20-sample replies (Chiang and Lee, 2023)."""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geval.llm.parsing import parse_first_digit
from geval.llm.released_replies import Read, score_replies
from geval.llm.scoring import Scored
from geval.reproduction.cells import Cell, mean_of, of_tables, places, pooled
from geval.reproduction.coco import bleu_4, rouge_l
from geval.statistics.correlation import Coefficient
from geval.statistics.scales import Scale

CRITERIA = ("naturalness", "coherence", "engagingness", "groundedness")
SCALES = {name: Scale(0.0, 1.0) if name == "groundedness" else Scale(1.0, 3.0) for name in CRITERIA}
GROUND_TRUTH = "Original Ground Truth"
# Table 2. Its header says r and rho; for UniEval the numbers are rho and tau.
UNIEVAL = (0.455, 0.330, 0.602, 0.455, 0.573, 0.430, 0.577, 0.453, 0.552, 0.417)
ROUGE_L = (0.176, 0.146, 0.193, 0.203, 0.295, 0.300, 0.310, 0.327, 0.243, 0.244)
BLEU_4 = (0.180, 0.175, 0.131, 0.235, 0.232, 0.316, 0.213, 0.310, 0.189, 0.259)
# Chiang and Lee, gpt-3.5-turbo with 20 samples: r pooled and tau by turn for each criterion.
SAMPLED = {
    "with auto chain-of-thought": (
        "gpt35_geval_responses.json.gz",
        (0.393, 0.358, 0.468, 0.391, 0.549, 0.513, 0.311, 0.566),
    ),
    "without": (
        "gpt35_geval_no_auto_cot_responses.json.gz",
        (0.408, 0.331, 0.443, 0.404, 0.557, 0.535, 0.358, 0.582),
    ),
}
OUR_READING = "reads 2.5 as 2.5, and “1. Coherence: 3” as 3"


def cells(folder: Path) -> Iterator[Cell]:
    release = json.loads((folder / "topical_chat" / "topical_chat_unieval.json").read_text())
    yield from _table_2(release)
    for label, (name, published) in SAMPLED.items():
        with gzip.open(folder / "topical_chat" / name) as file:
            items = json.load(file)
        yield from sampled(f"G-Eval gpt-3.5, {label}", items, published, read=parse_first_digit)
        yield from sampled(f"  as we read replies, {label}", items, published)


def _table_2(release: Sequence[Any]) -> Iterator[Cell]:
    """Compute the figures over all generated responses at once, without the ground truth."""
    truth = {
        item["source"]: item["system_output"].strip()
        for item in release
        if item["system_id"] == GROUND_TRUTH
    }
    generated = [item for item in release if item["system_id"] != GROUND_TRUTH]
    pairs = [(item["system_output"].strip(), truth[item["source"]]) for item in generated]
    r_and_rho: tuple[Coefficient, ...] = ("pearson", "spearman")
    yield from _pooled_row(
        "ROUGE-L", generated, [rouge_l(*pair) for pair in pairs], r_and_rho, ROUGE_L
    )
    yield from _pooled_row(
        "BLEU-4", generated, [bleu_4(*pair) for pair in pairs], r_and_rho, BLEU_4
    )
    yield from _pooled_row("UniEval", generated, None, ("spearman", "kendall"), UNIEVAL)


def _pooled_row(
    row: str,
    items: Sequence[Any],
    scores: Sequence[float] | None,
    coefficients: Sequence[Coefficient],
    published: Sequence[float],
) -> Iterator[Cell]:
    values: list[float | None] = []
    for name in CRITERIA:
        human = np.array([item["scores"][name] for item in items])
        judge = np.array(
            scores if scores is not None else [item["predict_scores"][name] for item in items]
        )
        values += [pooled(human, judge, c) for c in coefficients]
    values += [mean_of(values[0::2]), mean_of(values[1::2])]
    short = {"pearson": "r", "spearman": "rho", "kendall": "tau"}
    columns = [f"{name} {short[c]}" for name in (*CRITERIA, "AVG") for c in coefficients]
    note = "a mean of rounded cells, or rounded differently"
    for column, figure, value in zip(columns, published, values, strict=True):
        yield Cell(row, column, figure, value, note)


def sampled(
    row: str, items: Sequence[Any], published: Sequence[float], *, read: Read | None = None
) -> Iterator[Cell]:
    """Use the mean rating of each item's readable replies: r over all, tau by turn.

    Args:
        read: a rule to use instead of our parser.
    """
    documents, systems = (places(items, column) for column in ("doc_id", "system_id"))
    figures = iter(published)
    for name in CRITERIA:
        human, judge = (np.full((len(documents), len(systems)), np.nan) for _ in range(2))
        for item in (item for item in items if item["criterion"] == name):
            outcome = score_replies(
                item["all_responses"], scale=SCALES[name], criterion=name, read=read
            ).outcome
            if isinstance(outcome, Scored):
                index = documents[item["doc_id"]], systems[item["system_id"]]
                human[index], judge[index] = item["scores"][name], outcome.value
        estimates = of_tables(human, judge).estimates
        note = "" if read else OUR_READING
        for column, value in (
            ("r", estimates["pearson"]["dataset"].value),
            ("tau", estimates["kendall"]["summary"].value),
        ):
            yield Cell(row, f"{name} {column}", next(figures), value, note, other=read is None)
