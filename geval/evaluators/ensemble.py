"""A panel of judges: the mean of their z-scores, or a linear blend fitted to people's ratings and
cross-validated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from geval.evaluators.base import Corpus, Item, LocalEvaluator, Outcome, Settings
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.prompts import PromptError, PromptParts
from geval.llm.scoring import Scored
from geval.statistics.thresholds import BLEND_OUTPUTS


class EnsembleSettings(Settings):
    judges: str = Field(description="Names of the judges, divided by commas; at least two.")
    method: Literal["mean", "blend"] = Field(
        "mean",
        description=(
            "The mean of z-scores, which needs no ratings; or a linear blend fitted to people's"
            " ratings, each document scored by a fit on the others."
        ),
    )
    folds: int = Field(
        5, ge=2, le=50, description="For the blend: into how many parts the documents are divided."
    )

    @field_validator("judges")
    @classmethod
    def _several(cls, value: str) -> str:
        if len(set(names_in(value))) < 2:
            raise ValueError("name at least two judges, divided by commas")
        return value


def names_in(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


@dataclass(frozen=True)
class Panel:
    """The members' scores on a criterion, shape (outputs, judges), for outputs that every member
    scored."""

    outputs: tuple[int, ...]
    scores: np.ndarray


class Ensemble(LocalEvaluator):
    kind = "ensemble"
    title = "Ensemble"
    summary = (
        "Several judges together: the mean of their z-scores, or a cross-validated linear blend."
    )
    family = "Other"
    paper = "Breiman (1996), Stacked Regressions"
    per_criterion = True
    many_processes = False
    looks_at = frozenset({"scores"})
    Settings: ClassVar = EnsembleSettings

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        if not parts.scale.is_ordered:
            raise PromptError(
                f"The scores of {parts.criterion} are labels without an order, which have no mean."
                " Choose one of the judges."
            )
        return f"{parts.criterion}: {self.settings.method} of {self.settings.judges}"

    def missing_text(self, texts: Texts) -> Failure | None:
        return None  # it reads scores, not texts

    def look(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.blended: dict[str, dict[int, float] | Failure] = {}

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Outcome:
        if item.criterion not in self.blended:
            self.blended[item.criterion] = self._blend(item.criterion)
        blended = self.blended[item.criterion]
        if isinstance(blended, Failure):
            return blended
        if item.output_id not in blended:
            return Failure(
                Reason.NO_SCORE,
                f"Not every judge of the panel scored this output on {item.criterion}.",
            )
        return Scored.plain(blended[item.output_id])

    def _blend(self, criterion: str) -> dict[int, float] | Failure:
        names = names_in(self.settings.judges)
        members = [self._scores_of(name, criterion) for name in names]
        missing = [name for name, scores in zip(names, members, strict=True) if not scores]
        if missing:
            return Failure(
                Reason.NO_SCORE, f"{missing[0]} has no scores on {criterion}; run it first."
            )
        panel = panel_of(members)
        constant = [
            name for name, column in zip(names, panel.scores.T, strict=True) if np.ptp(column) == 0
        ]
        if constant:
            return Failure(
                Reason.UNDEFINED, f"{constant[0]} gives all outputs the same score on {criterion}."
            )
        if self.settings.method == "mean":
            return dict(
                zip(panel.outputs, z_scores(panel.scores).mean(axis=1).tolist(), strict=True)
            )
        ratings = np.array(
            [self.corpus.ratings.get(criterion, {}).get(pk, np.nan) for pk in panel.outputs]
        )
        documents = np.array([self.corpus.document_of[pk] for pk in panel.outputs])
        if (~np.isnan(ratings)).sum() < BLEND_OUTPUTS:
            return Failure(
                Reason.NO_SCORE,
                f"A blend needs at least {BLEND_OUTPUTS} outputs rated on {criterion}.",
            )
        blended = cross_validated_blend(
            z_scores(panel.scores), ratings, documents, folds=self.settings.folds
        )
        return dict(zip(panel.outputs, blended.tolist(), strict=True))

    def _scores_of(self, name: str, criterion: str) -> Mapping[int, float]:
        scores = self.corpus.scores
        return scores.get((name, criterion)) or scores.get((name, "")) or {}


def panel_of(members: Sequence[Mapping[int, float]]) -> Panel:
    """Return the scores of outputs that every member scored, by ascending id."""
    shared = sorted(set.intersection(*(set(scores) for scores in members)))
    return Panel(tuple(shared), np.array([[scores[pk] for scores in members] for pk in shared]))


def z_scores(scores: np.ndarray) -> np.ndarray:
    """Subtract each column's mean and divide by its standard deviation; shape (outputs, judges)."""
    standardised: np.ndarray = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    return standardised


def cross_validated_blend(
    scores: np.ndarray, ratings: np.ndarray, documents: np.ndarray, *, folds: int
) -> np.ndarray:
    """Return the ratings that a least-squares fit of ratings on scores predicts for each output,
    fitted without the output's document.

    Args:
        scores: shape (outputs, judges); ratings, documents: shape (outputs,), ratings NaN where
            nobody rated.

    Returns:
        Shape (outputs,), on the ratings' scale.
    """
    design = np.column_stack([np.ones(len(scores)), scores])
    rank = np.unique(documents, return_inverse=True)[1]
    # Documents are assigned to folds in turn: deterministic, and no fold consists of neighbours.
    fold = rank % min(folds, rank.max() + 1)
    predicted = np.empty(len(scores))
    for number in range(fold.max() + 1):
        held_out = fold == number
        rated = ~held_out & ~np.isnan(ratings)
        weights, *_ = np.linalg.lstsq(design[rated], ratings[rated], rcond=None)
        predicted[held_out] = design[held_out] @ weights
    return predicted
