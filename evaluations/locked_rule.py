"""The rule by which documents are locked: set aside, so that a change that was found on the others
can be proven. Pure."""

import hashlib
from collections.abc import Sequence

import numpy as np


def is_locked(doc_id: str, *, seed: str, share: float) -> bool:
    """Whether a document is locked: by a hash of its id and the seed, so that later documents fall
    by the same rule, wherever they come from."""
    digest = hashlib.sha256(f"{seed}\0{doc_id}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def locked_mask(doc_ids: Sequence[str], *, seed: str, share: float) -> np.ndarray:
    """Which of some documents are locked; shape (documents,)."""
    found = (is_locked(name, seed=seed, share=share) for name in doc_ids)
    return np.fromiter(found, dtype=bool, count=len(doc_ids))
