"""Candidates that rank less, and seem better where each judge is taken over the documents that it
ranks: how often they are proven. `make bench-improve` prints it.

1. Simulated: today's judge ranks the outputs of hard documents by chance, and the candidate ties
   them; on the others both are equally good. Nothing is gained, and nothing lost.
2. SummEval's recorded judges with their scores cut off from above, which ties outputs in a share of
   documents and loses agreement over all 100 documents; draws of 40 of these.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from geval.statistics.arrays import Outputs
from geval.statistics.correlation import coefficients_by_document
from geval.statistics.held_out_test import ProofOutcome, gain_in_rank
from geval.statistics.jackknife import LeftOut
from geval.statistics.panel import Arms
from geval.statistics.same_documents import on_same_documents
from geval.statistics.types import FloatArray

# Of the documents those that are hard: shares as of an easy project and of a difficult one.
HARD = (0.2, 0.5)
LOCKED = 40
# Scores above this share of all are cut off.
CUTS = (0.3, 0.5, 0.7)
CONFIDENCE = 0.95
MOST_PROVEN = 0.06


def tied_project(
    rng: np.random.Generator, *, hard: float, documents: int = LOCKED, systems: int = 8
) -> tuple[Outputs, FloatArray, FloatArray, FloatArray]:
    """Ratings (the mean of three people's), a candidate that ties the outputs of hard documents,
    and today's judge, which ranks these by chance."""
    shape = (documents, systems)
    quality = rng.normal(size=shape)
    ratings = np.clip(np.round(3 + quality + rng.normal(0, 0.7, (3, *shape))), 1, 5)
    is_hard = (np.arange(documents) < hard * documents)[:, None]
    seen, also_seen = quality + rng.normal(0, 0.9, (2, *shape))
    today = np.where(is_hard, rng.normal(size=shape), seen)
    candidate = np.where(is_hard, 0.0, also_seen)
    return Outputs.full(*shape), ratings.mean(axis=0).ravel(), candidate.ravel(), today.ravel()


def share_of_tied_proven(projects: int, *, hard: float) -> float:
    """In which share of projects the candidate is proven to be better."""
    proofs = (
        gain_in_rank(*tied_project(np.random.default_rng(seed), hard=hard), confidence=CONFIDENCE)
        for seed in range(projects)
    )
    return sum(proof.outcome == ProofOutcome.PROVEN for proof in proofs) / projects


def bare_share_of_tied_proven(projects: int, *, hard: float) -> float:
    """The same, if each judge were taken over the documents in which it ranks anything."""
    proven = 0
    for seed in range(projects):
        outputs, human, candidate, today = tied_project(np.random.default_rng(seed), hard=hard)
        sides = [
            coefficients_by_document(outputs, human, side, "spearman")
            for side in (candidate, today)
        ]
        documents = LeftOut.each(outputs.documents)
        without = documents.means(sides[0]) - documents.means(sides[1])
        gain = float(np.nanmean(sides[0]) - np.nanmean(sides[1]))
        interval = documents.interval(gain, without, counting=outputs.documents)
        proven += interval.is_above_zero
    return proven / projects


def cut_off(criteria: Mapping[str, Arms]) -> Iterator[tuple[Arms, FloatArray, FloatArray]]:
    """Judges on their own criteria with their scores cut off, where that loses agreement: the
    criterion, the scores that are left, and those before.

    Args:
        criteria: with an arm for each judge and criterion, in the order of both.
    """
    for at, arms in enumerate(criteria.values()):
        for scores in arms.scores[at :: len(criteria)]:
            for share in CUTS:
                left = np.minimum(scores, np.quantile(scores, share))
                after, before = on_same_documents(arms.outputs, arms.human, left, scores).means
                if after < before:
                    yield arms, left, scores


def most_cut_off_proven(criteria: Mapping[str, Arms], draws: int) -> int:
    """In how many draws of documents the judge with most of them is proven to be better when it is
    cut off."""
    most = 0
    for arms, left, scores in cut_off(criteria):
        proven = 0
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            drawn = rng.choice(arms.outputs.documents, LOCKED, replace=False)
            mine = np.isin(arms.outputs.document, drawn)
            proof = gain_in_rank(
                arms.outputs.part(mine), arms.human[mine], left[mine], scores[mine],
                confidence=CONFIDENCE,
            )  # fmt: skip
            proven += proof.outcome == ProofOutcome.PROVEN
        most = max(most, proven)
    return most
