"""Reproduce published meta-evaluation figures from public data, with our parser and statistics.

Figures: Liu et al. (2023), "G-Eval", Tables 1-3; Chiang and Lee (2023), "A Closer Look into
Automatic Evaluation Using LLMs"; Zhong et al. (2022), UniEval's release. docs/reproduction.md says
how each is reproduced, `sources` has the origins of the data.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from geval.reproduction import qags, summeval, topical_chat, unieval
from geval.reproduction.cells import Cell

DATASETS: dict[str, Callable[[Path], Iterator[Cell]]] = {
    "summeval": summeval.cells,
    "topical_chat": topical_chat.cells,
    "qags": qags.cells,
    "unieval": unieval.cells,
}
MISSING_ROWS = {
    "summeval": (
        "BERTScore, MoverScore, BARTScore, UniEval, GPTScore, G-Eval: scores of individual "
        "summaries are not public; the averages that the paper prints for G-EVAL-4 and G-EVAL-3.5 "
        "are not"
        " the means of their own cells"
    ),
    "topical_chat": (
        "METEOR, BERTScore, USR, G-Eval of Table 2: scores of individual responses are not public"
    ),
    "qags": (
        "BERTScore, MoverScore, FactCC, QAGS, BARTScore, CTC, G-Eval of Table 3: scores are not "
        "public; its half on CNN/DailyMail, of which `unieval` has UniEval's figures"
    ),
    "unieval": (
        "SummEval's 45 figures of UniEval's release: its predictions for SummEval are not among the"
        " files"
    ),
}

__all__ = ["DATASETS", "MISSING_ROWS", "Cell"]
