"""The earth mover's distance between two weighted sets of vectors. Exact, and without a model."""

import numpy as np
from scipy import optimize, sparse


def earth_movers_distance(
    left: np.ndarray, left_weights: np.ndarray, right: np.ndarray, right_weights: np.ndarray
) -> float:
    """min over flows f >= 0 of sum f_ij * |left_i - right_j|, rows and columns summing to the
    weights.

    Args:
        left, right: shape (tokens, size); weights: shape (tokens,), each summing to 1.
    """
    squared = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2 * left @ right.T
    distance = np.sqrt(np.clip(squared, 0, None))
    rows, columns = distance.shape
    sums = sparse.vstack(
        [
            sparse.kron(sparse.eye(rows), np.ones((1, columns))),
            sparse.kron(np.ones((1, rows)), sparse.eye(columns)),
        ]
    ).tocsr()
    solved = optimize.linprog(
        distance.ravel(),
        A_eq=sums[:-1],
        b_eq=np.concatenate([left_weights, right_weights])[:-1],
        method="highs",
    )
    return float(solved.fun)
