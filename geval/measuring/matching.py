"""Which ratings and scores do not meet, as names differ from file to file. Pure."""

from collections.abc import Iterator, Sequence

import numpy as np

from geval.measuring.gathering import Gathered
from geval.texts.numbers import counted
from geval.texts.sentences import listed

ALIKE = "name them alike in all files."


def unmatched(gathered: Gathered) -> Iterator[str]:
    """What to say of criteria, and of rated outputs, that no judge has scored.

    Scored outputs that nobody rated are usual, and only said where they may be the same ones.
    """
    nobody = np.zeros(len(gathered.texts), dtype=bool)
    rated_criteria, scored_criteria = [], []
    for criterion in gathered.criteria:
        rated = ~np.isnan(gathered.data.humans[criterion.pk].mean)
        scores = [of for (pk, _judge), of in gathered.data.judges.items() if pk == criterion.pk]
        scored = np.logical_or.reduce([~np.isnan(values) for values in scores] or [nobody])
        if rated.any() and scored.any():
            yield from _unscored(gathered, criterion.name, rated, scored)
        elif rated.any():
            rated_criteria.append(criterion.name)
        elif scored.any():
            scored_criteria.append(criterion.name)
    if rated_criteria and scored_criteria:
        yield (
            f"People rated {listed(rated_criteria)}, which no judge scored; judges scored"
            f" {listed(scored_criteria)}, which nobody rated. If these are the same criteria,"
            f" {ALIKE}"
        )


def _unscored(
    gathered: Gathered, criterion: str, rated: np.ndarray, scored: np.ndarray
) -> Iterator[str]:
    """Rated outputs without a score; both arrays have shape (outputs,)."""
    unscored, unrated = np.flatnonzero(rated & ~scored), np.flatnonzero(scored & ~rated)
    if not unscored.size:
        return
    note = (
        f"{unscored.size} of {counted(int(rated.sum()), 'rated output')} on {criterion} have no"
        f" score, such as {_name(gathered, unscored)}"
    )
    if not unrated.size:
        yield f"{note}."
        return
    yield (
        f"{note}; {unrated.size} scored ones have no rating, such as {_name(gathered, unrated)}."
        f" If these are the same outputs, {ALIKE}"
    )


def _name(gathered: Gathered, outputs: Sequence[int] | np.ndarray) -> str:
    document, system = gathered.data.name_of(int(outputs[0]))
    return f"{system} on {document}"
