"""Groups of documents that their names state, such as topic3-12 or customer_b/7. Pure."""

import re
from collections import Counter
from collections.abc import Sequence

from geval.statistics.thresholds import INTERVAL_GROUPS

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
