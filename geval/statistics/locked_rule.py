"""The rule by which documents are locked, that is held out to test changes found on the others;
groups of documents that their names state. Pure."""

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Sequence

from geval.statistics.thresholds import INTERVAL_GROUPS, LOCKED_DOCUMENTS, TRAINING_DOCUMENTS

# The default, smallest and largest share of documents that are locked.
SHARE, LEAST_SHARE, MOST_SHARE = 0.4, 0.1, 0.9
# How many looks at locked documents are allowed.
LOOKS, MOST_LOOKS = 5, 40
# How many draws of few documents are tried.
SEEDS = 500


def is_locked(name: str, *, seed: str, share: float) -> bool:
    """Return whether a document is locked: by a hash of its name and the seed, so that the same
    rule applies to documents that are added later, from any source."""
    digest = hashlib.sha256(f"{seed}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def locked_flags(
    units: Sequence[str],
    groups: Sequence[str] = (),
    *,
    seed: str,
    share: float,
    by_group: bool = False,
) -> list[bool]:
    """Return for each document or session whether it is locked.

    Args:
        groups: for a draw by group, the group of each unit, empty where its name states it: texts
            of a group are alike, so a judge tuned on some of them has seen the others.
    """
    stated = zip(units, groups or [""] * len(units), strict=True)
    keys = (
        f"group\0{group}" if by_group and (group := of or group_of_name(name)) else name
        for name, of in stated
    )
    return [is_locked(key, seed=seed, share=share) for key in keys]


def new_seed(
    units: Sequence[str], groups: Sequence[str] = (), *, share: float, by_group: bool = False
) -> str:
    """Return a random seed; where documents are few, one that leaves enough of them on both sides,
    if any of many does. It looks at numbers of documents alone, so that a proof stays valid.

    Args:
        units, groups, by_group: as for `locked_flags`.
    """
    for _ in range(SEEDS):
        seed = secrets.token_hex(8)
        locked = locked_flags(units, groups, seed=seed, share=share, by_group=by_group)
        if LOCKED_DOCUMENTS <= sum(locked) <= len(units) - TRAINING_DOCUMENTS:
            break
    return seed


def can_lock_groups(units: Sequence[str], groups: Sequence[str]) -> bool:
    """Return whether documents have groups, given or by their names, each session in only one."""
    if not have_groups(units, groups):
        return False
    return not any(groups) or len(set(zip(units, groups, strict=True))) == len(set(units))


# The part of a document's metadata that names its group.
GROUP = "group"
# A date states none.
_GROUP_AND_NUMBER = re.compile(
    r"(?!.*(?:19|20)\d\d[-_/. ]\d\d?[-_/. ]\d\d?$)(?P<group>.*[^\W_])[-_/:. ]\d+"
)
LEAST_IN_GROUP = 3


def group_of_name(name: str) -> str:
    """Return the group that a name begins with, before its number; empty for another name."""
    stated = _GROUP_AND_NUMBER.fullmatch(name)
    return stated["group"] if stated else ""


def have_groups(names: Sequence[str], groups: Sequence[str]) -> bool:
    """Return whether documents have groups, given or by their names (those of sessions, where
    documents are turns; a name may occur several times)."""
    return any(groups) or bool(groups_of_names(list(dict.fromkeys(names))))


def groups_of_names(names: Sequence[str]) -> list[str]:
    """Return the groups of documents by their names; empty unless each name is a group's and a
    number, and groups are several and have several documents each."""
    groups = [group_of_name(name) for name in names]
    sizes = Counter(groups)
    if all(groups) and len(sizes) >= INTERVAL_GROUPS and min(sizes.values()) >= LEAST_IN_GROUP:
        return groups
    return []
