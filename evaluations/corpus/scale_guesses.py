"""The scale that the ratings of one load seem to be on."""

from django.db import connection

from evaluations.corpus.row_staging import SeenCriterion
from evaluations.scales import ScaleGuess, guess_scale, mixed_guess, usual_scale_for


def guess_of(seen: SeenCriterion) -> ScaleGuess:
    """The guess from the ratings that a load has staged on a criterion, or else from its scores.

    Of ratings with very many different values, such as means, strays are not looked for.
    """
    ratings = seen.ratings
    if not ratings.total:
        return ScaleGuess(usual_scale_for(seen.scores.range))
    if ratings.are_all_counted:
        return guess_scale(ratings.counts)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT score, count(*) FROM stage_rating WHERE criterion = %s GROUP BY score",
            [seen.criterion.pk],
        )
        counts = dict(cursor.fetchall())
    return mixed_guess(counts) or ScaleGuess(usual_scale_for(ratings.range))
