"""The rule by which documents are locked, that is held out to test changes found on the others.
Pure."""

import hashlib
from collections.abc import Sequence

# The default, smallest and largest share of documents that are locked.
SHARE, LEAST_SHARE, MOST_SHARE = 0.4, 0.1, 0.9
# How many looks at locked documents are allowed.
LOOKS, MOST_LOOKS = 5, 40


def is_locked(doc_id: str, *, seed: str, share: float) -> bool:
    """Return whether a document is locked: by a hash of its id and the seed, so that the same rule
    applies to documents that are added later, from any source."""
    digest = hashlib.sha256(f"{seed}\0{doc_id}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def locked_flags(doc_ids: Sequence[str], *, seed: str, share: float) -> list[bool]:
    """Return for each document whether it is locked."""
    return [is_locked(name, seed=seed, share=share) for name in doc_ids]
