"""Ratings as arrays: the only place where reports read people's ratings."""

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from annotations.models import Annotator
from evaluations.models.query_arrays import fetch_groups, id_list, ids_of_key, positions, two_ids
from geval.statistics.consensus import Consensus
from geval.statistics.layout import Ratings
from geval.statistics.types import FloatArray, IntArray, rounded


@dataclass(frozen=True)
class HumanScores:
    """People's ratings on one criterion.

    `ratings` are those of individual people; `mean` has shape (outputs,) and is the human score of
    each output: the mean rating, and the mean that a release states where no individual rated,
    unless another score was chosen (`scored`). `reason` says why no output has the chosen one, and
    `unscored` counts rated outputs without it. `in_sight` counts ratings made while LLM scores were
    visible. `annotator_ids` are parallel to `annotators`, the raters of `ratings`. `weight` has
    shape (outputs,): for how many outputs each rated one stands, None where all stand for as many;
    `top` says which outputs were chosen by campaigns without a design alone.
    """

    annotators: tuple[str, ...]
    ratings: Ratings
    mean: FloatArray
    in_sight: int
    annotator_ids: tuple[int, ...] = ()
    weight: FloatArray | None = None
    top: np.ndarray | None = None
    reason: str = ""
    unscored: int = 0

    @property
    def is_weighted(self) -> bool:
        """Whether rated outputs stand for different numbers of others."""
        return self.weight is not None and bool(self.weight.any())

    @property
    def counts_picked(self) -> bool:
        """Whether outputs that campaigns chose without a design have a mean, as no others do."""
        return self.top is not None and bool((self.top & ~np.isnan(self.mean)).any())

    def among(self, outputs: np.ndarray, annotators: frozenset[int]) -> "HumanScores":
        """The ratings of some outputs, by some annotators (by all, where none are named); means are
        of these annotators.

        Args:
            outputs: a mask of shape (outputs,).
        """
        wanted = [not annotators or pk in annotators for pk in self.annotator_ids]
        ratings = self.ratings.among(outputs, np.array(wanted, dtype=bool))
        kept = [index for index, is_wanted in enumerate(wanted) if is_wanted]
        mean = self.mean[outputs]
        if annotators:
            mean = np.where(np.isnan(mean) & self._is_left_out(outputs), np.nan, ratings.means())
        part = _of_active(
            ratings,
            [(self.annotator_ids[index], self.annotators[index]) for index in kept],
            mean,
            self.in_sight,
        )
        return replace(
            part,
            weight=None if self.weight is None else self.weight[outputs],
            top=None if self.top is None else self.top[outputs],
        )

    def scored(self, found: Consensus) -> "HumanScores":
        """With another human score of each output. Outputs without a mean, which campaigns took
        from the top of a list, stay without a score."""
        rated = ~np.isnan(self.mean)
        mean = np.where(rated, found.values, np.nan)
        unscored = int(np.count_nonzero(rated & np.isnan(mean)))
        return replace(self, mean=mean, reason=found.reason, unscored=unscored)

    def _is_left_out(self, outputs: np.ndarray) -> np.ndarray:
        """Which of some outputs have ratings that tell nothing of others, and so no mean."""
        return np.zeros(int(outputs.sum()), dtype=bool) if self.top is None else self.top[outputs]


def human_scores(
    project_id: int, criterion_ids: list[int], *, outputs: IntArray
) -> dict[int, HumanScores]:
    """The ratings of a project by criterion id.

    Args:
        outputs: shape (outputs,), the ids of all outputs of the project.
    """
    everybody = list(
        Annotator.objects.filter(project_id=project_id)
        .order_by("pk")
        .values_list("pk", "name", "kind")
    )
    annotators = [(pk, name) for pk, name, _kind in everybody]
    known = np.array([pk for pk, _name in annotators], dtype=np.int64)
    people, means = (
        np.array([of == kind for _pk, _name, of in everybody], dtype=bool)
        for kind in (Annotator.Kind.PERSON, Annotator.Kind.MEAN)
    )
    # By criterion, and by whether LLM scores were in sight.
    rows = fetch_groups(
        two_ids("r.criterion_id", "r.scores_in_sight::int"),
        ["r.output_id", "r.annotator_id", "r.score"],
        f"""FROM annotations_rating r WHERE r.annotator_id IN ({id_list(known.tolist())})
                AND r.criterion_id IN ({id_list(criterion_ids)})""",
    )
    by_criterion = defaultdict(list)
    for key, columns in rows.items():
        by_criterion[ids_of_key(key)[0]].append((ids_of_key(key)[1], columns))
    everything = np.ones(len(outputs), dtype=bool)
    human_scores = {}
    for criterion_id in criterion_ids:
        parts = by_criterion[criterion_id]
        output, annotator, score = (
            np.concatenate([columns[index] for _in_sight, columns in parts] or [np.empty(0)])
            for index in range(3)
        )
        at_output, at_annotator = positions(output, outputs), positions(annotator, known)
        place = at_output * np.int64(len(annotators)) + at_annotator
        order = np.argsort(place)
        order = order[at_output[order] >= 0]
        ratings = Ratings(
            at_output[order],
            at_annotator[order],
            rounded(score[order]),
            len(outputs),
            len(annotators),
        )
        in_sight = sum(
            int((positions(columns[0], outputs) >= 0).sum())
            for was_in_sight, columns in parts
            if was_in_sight
        )
        by_person = ratings.among(everything, people)
        mean = by_person.means()
        if means.any():
            stated = ratings.among(everything, means).means()
            mean = np.where(np.isnan(mean), stated, mean)
        persons = [one for one, is_person in zip(annotators, people, strict=True) if is_person]
        human_scores[criterion_id] = _of_active(by_person, persons, mean, in_sight)
    return human_scores


def _of_active(
    ratings: Ratings, annotators: list[tuple[int, str]], mean: FloatArray, in_sight: int
) -> HumanScores:
    """Only the annotators, by id and name, who rated."""
    active = ratings.active
    kept = [one for one, is_active in zip(annotators, active, strict=True) if is_active]
    return HumanScores(
        annotators=tuple(name for _pk, name in kept),
        ratings=ratings.among(np.ones(ratings.outputs, dtype=bool), active),
        mean=mean,
        in_sight=in_sight,
        annotator_ids=tuple(pk for pk, _name in kept),
    )
