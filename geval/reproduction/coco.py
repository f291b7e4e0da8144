"""ROUGE-L and BLEU-4 as defined by COCO's caption evaluation, used in Table 2 of the G-Eval paper.

Tokens are separated by spaces. Chen et al. (2015), "Microsoft COCO Captions: Data Collection and
Evaluation Server"; counts come from rouge-score and sacrebleu.
"""

import math
from functools import cache
from typing import Any

# Recall counts more than precision; the value is that of COCO's code.
BETA = 1.2
# COCO's guards against division by zero; they decide the order of outputs that share no 4-gram.
TINY, SMALL = 1e-15, 1e-9


def rouge_l(output: str, reference: str) -> float:
    """(1 + b^2) P R / (R + b^2 P) over the longest common subsequence, with b = 1.2."""
    overlap = _rouge().score(reference, output)["rougeL"]
    if not overlap.precision or not overlap.recall:
        return 0.0
    return float(
        (1 + BETA**2)
        * overlap.precision
        * overlap.recall
        / (overlap.recall + BETA**2 * overlap.precision)
    )


def bleu_4(output: str, reference: str) -> float:
    """Return the geometric mean of (matches + tiny) / (n-grams + small) for n = 1 to 4, times the
    brevity penalty."""
    score = _bleu().sentence_score(output, [reference])
    product = math.prod(
        (right + TINY) / (all_ + SMALL)
        for right, all_ in zip(score.counts, score.totals, strict=True)
    )
    ratio = (score.sys_len + TINY) / (score.ref_len + SMALL)
    return float(product**0.25 * (math.exp(1 - 1 / ratio) if ratio < 1 else 1.0))


class _Blanks:
    def tokenize(self, text: str) -> list[str]:
        return text.split()


@cache
def _rouge() -> Any:
    from rouge_score import rouge_scorer

    return rouge_scorer.RougeScorer(["rougeL"], tokenizer=_Blanks())


@cache
def _bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    # Only its counts are used; effective order merely avoids a warning about single sentences.
    return BLEU(tokenize="none", effective_order=True)
