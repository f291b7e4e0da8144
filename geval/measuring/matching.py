"""Which ratings and scores do not meet, as names differ from file to file. Pure."""

from collections.abc import Iterator

import numpy as np

from geval.measuring.gathering import Gathered
from geval.texts.numbers import counted
from geval.texts.sentences import listed

ALIKE = "name them alike in all files."


def unmatched(gathered: Gathered) -> Iterator[str]:
    """Say which judges scored nothing that was rated, how many rated outputs no judge scored, and
    which criteria only people or only judges have.

    Scored outputs that nobody rated are usual, and only mentioned if a judge scored no others.
    """
    only_rated, only_scored = [], []
    for criterion in gathered.criteria:
        rated = ~np.isnan(gathered.data.humans[criterion.pk].mean)
        scored = {
            judge.name: ~np.isnan(gathered.data.judges[criterion.pk, judge.pk])
            for judge in gathered.judges
            if (criterion.pk, judge.pk) in gathered.data.judges
        }
        scored = {name: outputs for name, outputs in scored.items() if outputs.any()}
        if rated.any() and scored:
            yield from _unmatched_on(gathered, criterion.name, rated, scored)
        elif rated.any():
            only_rated.append(criterion.name)
        elif scored:
            only_scored.append(criterion.name)
    if only_rated and only_scored:
        yield (
            f"People rated {listed(only_rated)}, which no judge scored; judges scored"
            f" {listed(only_scored)}, which nobody rated. If these are the same criteria, {ALIKE}"
        )


def _unmatched_on(
    gathered: Gathered, criterion: str, rated: np.ndarray, scored: dict[str, np.ndarray]
) -> Iterator[str]:
    """Notes about one criterion; the arrays have shape (outputs,)."""
    apart = [name for name, outputs in scored.items() if not (outputs & rated).any()]
    for name in apart:
        yield (
            f"{name} scored {counted(int(scored[name].sum()), 'output')} on {criterion}, such as"
            f" {_name(gathered, scored[name])}, but none that was rated, such as"
            f" {_name(gathered, rated)}. If these are the same outputs, {ALIKE}"
        )
    unscored = rated & ~np.logical_or.reduce(list(scored.values()))
    if unscored.any() and len(apart) < len(scored):
        yield (
            f"No judge scored {unscored.sum()} of {counted(int(rated.sum()), 'rated output')} on"
            f" {criterion}, such as {_name(gathered, unscored)}."
        )


def _name(gathered: Gathered, chosen: np.ndarray) -> str:
    """The first of some outputs: its document, and its system where there are several."""
    document, system = gathered.data.name_of(int(np.argmax(chosen)))
    return document if len(gathered.data.system_names) == 1 else f"{system} on {document}"
