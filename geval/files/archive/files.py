"""The files of an archive, in order: records refer only to records of earlier files."""

from geval.files.archive.campaigns import CAMPAIGNS
from geval.files.archive.corpus import CORPUS
from geval.files.archive.judging import JUDGING
from geval.files.archive.searches import SEARCHES
from geval.files.archive.studies import STUDIES

FILES = (*CORPUS, *JUDGING, *STUDIES, *CAMPAIGNS, *SEARCHES)
# The files of the first archives, which every archive has; others may be missing.
IN_EVERY_ARCHIVE = frozenset(
    (
        "criteria", "steps", "systems", "documents", "outputs", "annotators", "ratings",
        "preferences", "spans", "endpoints", "judges", "runs", "prompts", "replies", "items",
        "scores", "pair_scores",
    )
)  # fmt: skip
