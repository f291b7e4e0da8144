"""The scale that the ratings of one load seem to be on."""

from collections import Counter

from django.db import connection

from evaluations.corpus.row_staging import SeenCriterion
from evaluations.scales import (
    Scale,
    ScaleGuess,
    guess_scale,
    mixed_guess,
    narrower_scale,
    usual_scale_for,
)


def guess_of(seen: SeenCriterion) -> ScaleGuess:
    """The guess from the ratings that a load has staged on a criterion, or else from its scores.

    Of ratings with very many different values, such as means, strays are not looked for.
    """
    ratings = seen.ratings
    if not ratings.total:
        return ScaleGuess(usual_scale_for(seen.scores.range))
    if ratings.are_all_counted:
        return guess_scale(ratings.counts)
    counts = _counts("stage_rating WHERE criterion = %s", seen)
    return mixed_guess(counts) or ScaleGuess(usual_scale_for(ratings.range))


def other_scale(seen: SeenCriterion) -> Scale | None:
    """The narrower scale that a load's ratings seem to be on, where those that an existing
    criterion has are on its own; None where all seem to be on one. To be asked before these
    ratings are merged."""
    scale = seen.criterion.scale
    if not seen.ratings.total or scale.highest <= 1 or seen.ratings.lowest >= scale.highest / 10:
        return None  # none can be on a narrower scale
    before = _counts("annotations_rating WHERE criterion_id = %s", seen)
    if not before or narrower_scale(before):
        return None
    return narrower_scale(Counter(before) + _counts("stage_rating WHERE criterion = %s", seen))


def _counts(ratings: str, seen: SeenCriterion) -> Counter[float]:
    """How often each value occurs among some ratings of a criterion."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT score, count(*) FROM {ratings} GROUP BY score",
            [seen.criterion.pk],
        )
        return Counter(dict(cursor.fetchall()))
