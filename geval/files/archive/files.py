"""The files of an archive, in their order: records refer to those of files before theirs."""

from geval.files.archive.campaigns import CAMPAIGNS
from geval.files.archive.corpus import CORPUS
from geval.files.archive.judging import JUDGING
from geval.files.archive.searches import SEARCHES
from geval.files.archive.studies import STUDIES

FILES = (*CORPUS, *JUDGING, *STUDIES, *CAMPAIGNS, *SEARCHES)
# Those of the first archives, which all have; others may be missing.
IN_EVERY_ARCHIVE = frozenset(
    (
        "criteria", "steps", "systems", "documents", "outputs", "annotators", "ratings",
        "preferences", "spans", "endpoints", "judges", "runs", "prompts", "replies", "items",
        "scores", "pair_scores",
    )
)  # fmt: skip
