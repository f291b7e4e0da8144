"""The rule by which documents are locked: set aside, so that a change that was found on the others
can be proven. Pure."""

import hashlib
from collections.abc import Sequence

# Of the documents, how many are locked unless somebody says it, and how few and many may be.
SHARE, LEAST_SHARE, MOST_SHARE = 0.4, 0.1, 0.9
# How often they may be looked at.
LOOKS, MOST_LOOKS = 5, 40


def is_locked(doc_id: str, *, seed: str, share: float) -> bool:
    """Whether a document is locked: by a hash of its id and the seed, so that later documents fall
    by the same rule, wherever they come from."""
    digest = hashlib.sha256(f"{seed}\0{doc_id}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def which_are_locked(doc_ids: Sequence[str], *, seed: str, share: float) -> list[bool]:
    """Of each of some documents whether it is locked."""
    return [is_locked(name, seed=seed, share=share) for name in doc_ids]
