"""Choose the best of several candidates by cross-validation, and evaluate the choice. Pure."""

from dataclasses import dataclass

import numpy as np

from geval.statistics.types import FloatArray

# Five or ten are usual (Hastie, Tibshirani and Friedman, 2009, 7.10), and five take half the time.
FOLDS = 5


@dataclass(frozen=True)
class Selected:
    """The best candidate's position, and for each document the value of the candidate that the
    other documents would choose, which avoids an optimistic evaluation (Stone, 1974)."""

    best: int
    by_document: FloatArray


def select(values: FloatArray, *, seed: int) -> Selected:
    """Choose by the mean over documents.

    Args:
        values: shape (candidates, documents), larger is better, none missing.
        seed: the seed for dividing the documents into folds.
    """
    documents = values.shape[1]
    order = np.random.default_rng(seed).permutation(documents)
    held_out = np.empty(documents)
    for fold in np.array_split(order, min(FOLDS, documents)):
        others = np.setdiff1d(order, fold)
        held_out[fold] = values[_best(values[:, others]), fold]
    return Selected(_best(values), held_out)


def _best(values: FloatArray) -> int:
    """Return the first of the best: today's is first, and stays unless another is better."""
    return int(values.mean(axis=1).argmax()) if values.shape[1] else 0
