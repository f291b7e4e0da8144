"""A panel: judges' scores weighted so that they rank outputs as people do, or the best single
judge, whichever cross-validation over documents prefers.

Weights are those of ridge regression (Hoerl and Kennard, 1970) within documents: of people's ranks,
which have the same spread in every document, on scores less their document's mean. The amount of
shrinkage, and whether a panel beats its best member at all, are chosen by cross-validation; the
choice is evaluated by a second, outer one (Stone, 1974; Varma and Simon, 2006), because the best of
several looks too good on the documents on which it was chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from geval.statistics.arrays import Outputs, mean_of
from geval.statistics.coefficients import pearson
from geval.statistics.correlation import ranks_by_document
from geval.statistics.jackknife import mean_of_rows
from geval.statistics.same_documents import ranked_by_document
from geval.statistics.types import FloatArray, IntArray

# As in `selection.py`.
FOLDS = 5
# Ridge penalties as shares of a score's variance; None selects the best single arm.
RIDGES: tuple[float | None, ...] = (None, 0.3, 1.0, 3.0)
# A smaller spread is rounding errors of equal values.
_TINY = 1e-12


@dataclass(frozen=True)
class PanelFormula:
    """A weight for each arm, shape (arms,)."""

    weights: FloatArray

    @property
    def members(self) -> list[int]:
        """The arms with a weight other than 0."""
        return [int(arm) for arm in np.flatnonzero(self.weights)]

    def of(self, scores: FloatArray) -> FloatArray:
        """Return the panel's score of each output; shape (outputs,) for (arms, outputs)."""
        value: FloatArray = self.weights @ scores
        return value


@dataclass(frozen=True)
class Chosen:
    """A formula and its honest evaluation: Spearman's rho in each document by formulas chosen
    without that document, shape (documents,), NaN where undefined."""

    formula: PanelFormula
    by_document: FloatArray


@dataclass(frozen=True, eq=False)
class Arms:
    """The candidates for a panel: `scores` of shape (arms, outputs) and people's mean ratings
    `human` of shape (outputs,), all complete."""

    outputs: Outputs
    human: FloatArray
    scores: FloatArray

    @cached_property
    def centred(self) -> FloatArray:
        """Return scores minus their document's mean; shape (arms, outputs)."""
        return np.stack([_centred(self.outputs, score) for score in self.scores])

    @cached_property
    def rho(self) -> FloatArray:
        """Spearman's rho of each arm in each document that people rank, 0 where it ties all
        outputs; shape (arms, documents)."""
        return np.stack(
            [ranked_by_document(self.outputs, self.human, score) for score in self.scores]
        )

    @cached_property
    def _products(self) -> tuple[FloatArray, FloatArray]:
        """Sums over each document's outputs: scores times scores, shape (documents, arms, arms),
        and scores times people's ranks, shape (documents, arms)."""
        ranks = _centred(self.outputs, ranks_by_document(self.outputs, self.human))
        spread = np.sqrt(mean_of(self.outputs.by_document(ranks**2), self.outputs.by_document()))
        of_output = np.nan_to_num(spread)[self.outputs.document]
        people = np.where(of_output > _TINY, ranks / np.maximum(of_output, _TINY), 0.0)
        arms, documents = len(self.scores), self.outputs.documents
        scores, target = np.zeros((documents, arms, arms)), np.zeros((documents, arms))
        for block in self.outputs.blocks:
            centred = self.centred[:, block.members]  # (arms, groups, size)
            scores[block.groups] = np.einsum("ags,bgs->gab", centred, centred)
            target[block.groups] = np.einsum("ags,gs->ga", centred, people[block.members])
        return scores, target

    def best(self, documents: IntArray) -> PanelFormula:
        """Return the arm with the highest mean rho over some documents."""
        means = mean_of_rows(self.rho[:, documents])
        weights = np.zeros(len(self.scores))
        weights[int(np.argmax(np.nan_to_num(means, nan=-2.0)))] = 1.0
        return PanelFormula(weights)

    def fitted(self, documents: IntArray, ridge: float | None) -> PanelFormula:
        """Fit a formula to some documents."""
        if ridge is None:
            return self.best(documents)
        products, target = (side[documents].sum(axis=0) for side in self._products)
        spread = np.sqrt(np.diag(products))
        scale = np.where(spread > _TINY, spread, np.inf)
        correlations = products / np.outer(scale, scale) + ridge * np.eye(len(scale))
        return PanelFormula(np.linalg.solve(correlations, target / scale) / scale)

    def rho_of(self, formula: PanelFormula, documents: IntArray) -> FloatArray:
        """Spearman's rho of a formula in some documents; shape (documents given,)."""
        chosen = np.isin(self.outputs.document, documents)
        part = self.outputs.part(chosen)
        values = formula.of(self.centred[:, chosen])
        return ranked_by_document(part, self.human[chosen], values)[documents]


def choose(
    arms: Arms, documents: IntArray, *, seed: int, ridges: Sequence[float | None] = RIDGES
) -> Chosen:
    """Choose the formula that ranks outputs most like people, and evaluate the choice honestly.

    Args:
        documents: positions of the documents to learn from, at least two.
    """
    rng = np.random.default_rng(seed)
    by_document = np.full(len(documents), np.nan)
    for held_out in folds(arms.outputs, documents, rng):
        rest = np.delete(documents, held_out)
        by_document[held_out] = arms.rho_of(_selected(arms, rest, rng, ridges), documents[held_out])
    return Chosen(_selected(arms, documents, rng, ridges), by_document)


def _selected(
    arms: Arms, documents: IntArray, rng: np.random.Generator, ridges: Sequence[float | None]
) -> PanelFormula:
    """Return the formula of the procedure that does best on held-out documents."""
    if len(ridges) == 1:
        return arms.fitted(documents, ridges[0])
    values = np.full((len(ridges), len(documents)), np.nan)
    for held_out in folds(arms.outputs, documents, rng):
        rest = np.delete(documents, held_out)
        for row, ridge in zip(values, ridges, strict=True):
            row[held_out] = arms.rho_of(arms.fitted(rest, ridge), documents[held_out])
    best = int(np.argmax(np.nan_to_num(mean_of_rows(values), nan=-2.0)))
    return arms.fitted(documents, ridges[best])


def effective_votes(arms: Arms, members: Sequence[int]) -> float | None:
    """Return the effective number of independent judges: k / (1 + (k - 1) r), r being the mean
    correlation of their errors (Kish's design effect). None where errors do not vary."""
    k = len(members)
    if k < 2:
        return float(k)
    people = _standardised(_centred(arms.outputs, arms.human))
    errors = np.stack([_standardised(arms.centred[arm]) - people for arm in members])
    if (errors.std(axis=1) < _TINY).any():
        return None
    mean = float(np.mean([pearson(x, y) for x, y in combinations(errors, 2)]))
    return float(min(k, max(1.0, k / max(_TINY, 1 + (k - 1) * mean))))


def folds(outputs: Outputs, documents: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """Return the places in `documents` that are held out together; documents of one group are in
    one fold, as who learns from some knows the others."""
    unit = documents if outputs.group is None else outputs.group[documents]
    units, place = np.unique(unit, return_inverse=True)
    parts = np.array_split(rng.permutation(len(units)), min(FOLDS, len(units)))
    return [np.flatnonzero(np.isin(place, part)) for part in parts]


def _centred(outputs: Outputs, values: FloatArray) -> FloatArray:
    mean = mean_of(outputs.by_document(values), outputs.by_document())
    centred: FloatArray = values - mean[outputs.document]
    return centred


def _standardised(values: FloatArray) -> FloatArray:
    spread = values.std()
    return values / spread if spread > _TINY else values
