"""Published meta-evaluation figures beside what public data give, computed by our parser and our statistics.

Figures: Liu et al. (2023), "G-Eval", Tables 1-3; Chiang and Lee (2023), "A Closer Look into Automatic Evaluation Using
LLMs". What each needs to come out is told in docs/reproduction.md.
"""

import csv
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluations.judging.parsing import Failure, parse_rating
from evaluations.judging.replies import Choice
from evaluations.scales import Scale
from evaluations.statistics.correlation import Coefficient, Level, correlations
from evaluations.statistics.pairing import FloatArray, mean_over_raters, rater_tables, table

SUMMEVAL_CRITERIA = ("coherence", "consistency", "fluency", "relevance")
TOPICAL_CRITERIA = ("naturalness", "coherence", "engagingness", "groundedness")
TOPICAL_SCALES = {name: Scale(0.0, 1.0) if name == "groundedness" else Scale(1.0, 3.0) for name in TOPICAL_CRITERIA}
# Table 1, by ROUGE: rho and tau for each criterion, then their averages.
ROUGE = {
    "rouge1_f": (0.167, 0.126, 0.160, 0.130, 0.115, 0.094, 0.326, 0.252, 0.192, 0.150),
    "rouge2_f": (0.184, 0.139, 0.187, 0.155, 0.159, 0.128, 0.290, 0.219, 0.205, 0.161),
    "rougel_f": (0.128, 0.099, 0.115, 0.092, 0.105, 0.084, 0.311, 0.237, 0.165, 0.128),
}
# Table 2: its header says r and rho, its numbers are rho and tau.
UNIEVAL_TOPICAL = (0.455, 0.330, 0.602, 0.455, 0.573, 0.430, 0.577, 0.453, 0.552, 0.417)
UNIEVAL_QAGS = (0.461, 0.488, 0.399)
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
FIRST_DIGIT = re.compile(r"\d")
MISSING_ROWS = {
    "summeval": (
        "BERTScore, MoverScore, BARTScore, UniEval, GPTScore, G-Eval: no public scores of single summaries at hand; "
        "the averages that the paper prints for G-EVAL-4 and G-EVAL-3.5 are not the means of their own cells"
    ),
    "topical_chat": "METEOR, BERTScore, USR, G-Eval of Table 2: no public scores of single responses are at hand",
    "qags": "BERTScore, MoverScore, FactCC, QAGS, BARTScore, CTC, G-Eval of Table 3: no public scores are at hand",
}


@dataclass(frozen=True)
class Cell:
    """One published figure and ours; `ours` is None where it cannot be had. `note` tells what is to be known of it."""

    row: str
    column: str
    published: float
    ours: float | None
    note: str = ""

    @property
    def agrees(self) -> bool:
        """To three digits, as published."""
        return self.ours is not None and abs(round(self.ours, 3) - self.published) < 1e-9


def summeval(folder: Path) -> Iterator[Cell]:
    """Table 1's ROUGE rows from imported scores (ROUGE-1.5.5 against eleven references), summary level."""
    ratings = _csv(folder / "summeval" / "human_ratings.csv.gz")
    metrics = _csv(folder / "summeval" / "metric_scores.csv.gz")
    documents, systems, raters = (_places(ratings, column) for column in ("doc_id", "system_id", "annotator"))
    humans = {name: _human(ratings, name, documents, systems, raters) for name in SUMMEVAL_CRITERIA}
    for judge, published in ROUGE.items():
        mine = [row for row in metrics if row["judge"] == judge]
        scores = _table(mine, documents, systems)
        values: list[float | None] = []
        for name in SUMMEVAL_CRITERIA:
            values += [_level(humans[name], scores, c, "summary") for c in ("spearman", "kendall")]
        values += [_mean(values[0::2]), _mean(values[1::2])]
        columns = [f"{name} {c}" for name in (*SUMMEVAL_CRITERIA, "AVG") for c in ("rho", "tau")]
        for column, figure, value in zip(columns, published, values, strict=True):
            odd = judge == "rougel_f" and column == "coherence rho"
            yield Cell(
                judge, column, figure, value, "published cut off, not rounded: it comes out as 0.1286" if odd else ""
            )


def topical_chat(folder: Path) -> Iterator[Cell]:
    """UniEval's row of Table 2, and G-Eval itself from real 20-sample replies."""
    release = json.loads((folder / "topical_chat" / "topical_chat_unieval.json").read_text())
    generated = [item for item in release if item["system_id"] != "Original Ground Truth"]
    values: list[float | None] = []
    for name in TOPICAL_CRITERIA:
        pairs = np.array([(item["scores"][name], item["predict_scores"][name]) for item in generated])
        values += [_pooled(pairs[:, 0], pairs[:, 1], c) for c in ("spearman", "kendall")]
    values += [_mean(values[0::2]), _mean(values[1::2])]
    columns = [f"{name} {c}" for name in (*TOPICAL_CRITERIA, "AVG") for c in ("rho", "tau")]
    for column, figure, value in zip(columns, UNIEVAL_TOPICAL, values, strict=True):
        yield Cell("UniEval", column, figure, value)
    for label, (name, published) in SAMPLED.items():
        with gzip.open(folder / "topical_chat" / name) as file:
            items = json.load(file)
        yield from _sampled(f"G-Eval gpt-3.5-turbo, {label}", items, published, first_digit)
        for cell in _sampled(f"  by our parser, {label}", items, published, our_rating):
            yield Cell(cell.row, cell.column, cell.published, cell.ours, "reads 2.5 as 2.5, and “1. Coherence: 3” as 3")


def qags(folder: Path) -> Iterator[Cell]:
    """UniEval's row of Table 3 on XSum."""
    release = json.loads((folder / "qags_xsum" / "qags_xsum_unieval.json").read_text())
    pairs = np.array([(item["scores"]["consistency"], item["predict_scores"]["consistency"]) for item in release])
    for name, figure in zip(("pearson", "spearman", "kendall"), UNIEVAL_QAGS, strict=True):
        yield Cell("UniEval", f"XSum {name}", figure, _pooled(pairs[:, 0], pairs[:, 1], name))  # type: ignore[arg-type]


DATASETS: dict[str, Callable[[Path], Iterator[Cell]]] = {
    "summeval": summeval,
    "topical_chat": topical_chat,
    "qags": qags,
}


def first_digit(reply: str, _criterion: str) -> float | None:
    """The rule of Chiang and Lee's release: the first digit of a reply, whatever stands around it."""
    found = FIRST_DIGIT.search(reply)
    return float(found[0]) if found else None


def our_rating(reply: str, criterion: str) -> float | None:
    """What our parser reads; None where it finds no rating."""
    rating = parse_rating(Choice(reply), scale=TOPICAL_SCALES[criterion], criterion=criterion)
    return None if isinstance(rating, Failure) else rating.value


def _sampled(
    row: str, items: Sequence[Any], published: Sequence[float], read: Callable[[str, str], float | None]
) -> Iterator[Cell]:
    """Mean rating of the readable replies of each item; r over all, tau turn by turn."""
    documents, systems = (_places(items, column) for column in ("doc_id", "system_id"))
    figures = iter(published)
    for name in TOPICAL_CRITERIA:
        human, judge = (np.full((len(documents), len(systems)), np.nan) for _ in range(2))
        for item in items:
            ratings = [read(reply, name) for reply in item["all_responses"]] if item["criterion"] == name else []
            known = [rating for rating in ratings if rating is not None]
            if known:
                at = documents[item["doc_id"]], systems[item["system_id"]]
                human[at], judge[at] = item["scores"][name], round(float(np.mean(known)), 10)
        found = correlations(human, judge).estimates
        yield Cell(row, f"{name} r", next(figures), found["pearson"]["dataset"].value)
        yield Cell(row, f"{name} tau", next(figures), found["kendall"]["summary"].value)


def _csv(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def _places(rows: Sequence[Any], column: str) -> dict[str, int]:
    return {name: place for place, name in enumerate(sorted({row[column] for row in rows}))}


def _human(
    rows: list[dict[str, str]],
    criterion: str,
    documents: dict[str, int],
    systems: dict[str, int],
    raters: dict[str, int],
) -> FloatArray:
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        if row["criterion"] == criterion:
            columns["document"].append(documents[row["doc_id"]])
            columns["system"].append(systems[row["system_id"]])
            columns["rater"].append(raters[row["annotator"]])
            columns["score"].append(float(row["score"]))
    at_document, at_system, at_rater = (
        np.array(columns[name], dtype=np.int64) for name in ("document", "system", "rater")
    )
    shape = (len(raters), len(documents), len(systems))
    return mean_over_raters(rater_tables(at_document, at_system, at_rater, np.array(columns["score"]), shape=shape))


def _table(rows: list[dict[str, str]], documents: dict[str, int], systems: dict[str, int]) -> FloatArray:
    return table(
        np.array([documents[row["doc_id"]] for row in rows]),
        np.array([systems[row["system_id"]] for row in rows]),
        np.array([float(row["score"]) for row in rows]),
        shape=(len(documents), len(systems)),
    )


def _level(human: FloatArray, judge: FloatArray, coefficient: Coefficient, level: Level) -> float | None:
    return correlations(human, judge).estimates[coefficient][level].value


def _pooled(human: FloatArray, judge: FloatArray, coefficient: Coefficient) -> float | None:
    return _level(human[None, :], judge[None, :], coefficient, "dataset")


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
