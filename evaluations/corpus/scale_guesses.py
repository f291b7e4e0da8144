"""Guess the scale of a load's ratings, and detect judges whose scores are on two scales."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from evaluations.corpus.row_staging import MixedScores, RowStager, SeenCriterion
from geval.files.value_summary import guess_of_values
from geval.llm.presets import ready_scales
from geval.llm.released_replies import scale_of_replies
from geval.statistics.scales import (
    FEW,
    ROUNDING,
    Scale,
    ScaleGuess,
    narrower_scale,
    parted_guess,
    usual_scale_for,
)
from geval_site.sql import fetch_rows


def guess_of(seen: SeenCriterion, among: Collection[str], replies: Sequence[str]) -> ScaleGuess:
    """Guess a criterion's scale from its staged ratings, or else from its scores.

    Args:
        among: the names of all criteria of the load.
        replies: raw replies about it, which count where there are few ratings.
    """
    ratings = seen.ratings
    every = None if ratings.are_all_counted else _counts("stage_rating WHERE criterion = %s", seen)
    ready = ready_scales(seen.criterion.name, among=among)
    shown = None
    if replies and ratings.total < FEW:
        holds = ratings.range if ratings.total else (1.0, 1.0)
        shown = scale_of_replies(replies, criterion=seen.criterion.name, holds=holds)
    return guess_of_values(ratings, seen.scores, every, ready=ready, shown=shown)


def other_scale(seen: SeenCriterion) -> Scale | None:
    """Return the narrower scale that a load's ratings seem to be on while an existing criterion's
    ratings are on its own scale; None if all seem to be on one scale. Call this before the ratings
    are merged."""
    scale = seen.criterion.scale
    if (
        not scale.is_ordered
        or not seen.ratings.total
        or scale.highest <= 1
        or seen.ratings.lowest >= scale.highest / 10
    ):
        return None  # no rating can be on a narrower scale
    before = _counts("annotations_rating WHERE criterion_id = %s", seen)
    if not before or narrower_scale(before):
        return None
    return narrower_scale(Counter(before) + _counts("stage_rating WHERE criterion = %s", seen))


def mixed_scores(load: RowStager) -> Iterator[MixedScores]:
    """Yield judges whose scores on a criterion seem to be on two scales, such as 0-1 and 0-100,
    have a code for missing ones, or a few off the criterion's scale, though the project's existing
    scores did not. Call this before the scores are merged."""
    runs = {run: name for name, run in load.import_runs.items()}
    criteria = {seen.criterion.pk: seen.criterion.name for seen in load.seen.values()}
    scales = {seen.criterion.pk: _likely_scale(load, seen) for seen in load.seen.values()}
    for (run, criterion), (before, after) in _scores_by_judge(list(runs)).items():
        scale = scales.get(criterion or 0)
        if scale and not scale.is_ordered:
            continue
        if before and parted_guess(before, scale):
            continue
        if parted := parted_guess(after, scale):
            named = MixedScores(
                runs[run],
                run,
                criterion,
                criteria.get(criterion, "") if criterion else "",
                parted.scale,
                usual_scale_for(after),
                sum(after.values()),
            )
            if not load.confirms_scale(named):
                yield named


def _likely_scale(load: RowStager, seen: SeenCriterion) -> Scale | None:
    """Return a criterion's scale; of a new one what is confirmed, or its ratings show."""
    confirmed = load.scales.get(seen.criterion.name.lower())
    if confirmed or not seen.is_new:
        return confirmed or seen.criterion.scale
    return guess_of(seen, (), ()).scale if seen.ratings.total else None


def _scores_by_judge(
    runs: list[int],
) -> dict[tuple[int, int | None], tuple[Counter[float], Counter[float]]]:
    """Count values by run and criterion (None: every criterion): those of the project, and those
    with the staged scores added. All values between two whole numbers count as their midpoint,
    which is as precise as `narrower_scale` needs."""
    counts: dict[tuple[int, int | None], tuple[Counter[float], Counter[float]]] = defaultdict(
        lambda: (Counter(), Counter())
    )
    rows = fetch_rows(
        f"""SELECT run, criterion, CASE WHEN abs(score - round(score)) <= {ROUNDING:g}
                THEN round(score) ELSE floor(score) + 0.5 END AS value,
                count(*), count(*) FILTER (WHERE is_staged)
            FROM (SELECT rater AS run, criterion, score, true AS is_staged FROM stage_score
                  UNION ALL SELECT run_id, criterion_id, value, false FROM evaluations_score
                  WHERE run_id = ANY(%s)) AS s
            WHERE score IS NOT NULL GROUP BY 1, 2, 3""",
        [runs],
    )
    for run, criterion, value, count, staged in rows:
        before, after = counts[run, criterion]
        after[value] += count
        if count > staged:
            before[value] += count - staged
    return counts


def _counts(ratings: str, seen: SeenCriterion) -> Counter[float]:
    """Count how often each value occurs among some ratings of a criterion."""
    rows = fetch_rows(
        f"SELECT score, count(*) FROM {ratings} AND score IS NOT NULL GROUP BY score",
        [seen.criterion.pk],
    )
    return Counter(dict(rows))
