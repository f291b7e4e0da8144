"""A formula fitted to ratings: weighted scores of judges, then a map; the result of improving a
judge."""

import itertools
import json
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from geval.evaluators.base import Corpus, Item, LocalEvaluator, Outcome, Settings
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.prompts import PromptError, PromptParts
from geval.llm.scoring import Scored


class Member(BaseModel):
    """A judge and a criterion whose scores enter the formula, with their weight."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judge: str
    criterion: str = Field(description="Empty for scores that count for every criterion.")
    weight: float = Field(allow_inf_nan=False)


class CriterionFormula(BaseModel):
    """Intercept + the sum of weight times score, then a monotonic map through `points`, linear
    between them and constant beyond the ends (without points: no map)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    members: tuple[Member, ...] = Field(min_length=1)
    intercept: float = Field(0.0, allow_inf_nan=False)
    points: tuple[tuple[float, float], ...] = ()

    @model_validator(mode="after")
    def _rises(self) -> Self:
        xs = [x for x, _ in self.points]
        if any(b <= a for a, b in itertools.pairwise(xs)):
            raise ValueError("the scores of a map must rise")
        return self

    @property
    def copies_one(self) -> bool:
        """Whether its values are the scores of one judge as they are."""
        weights = [member.weight for member in self.members]
        return weights == [1.0] and not self.intercept and not self.points

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Return the values, shape (outputs,), for scores of shape (members, outputs)."""
        weights = np.array([member.weight for member in self.members])
        # Rounded, so that outputs with equal members' scores are tied.
        value = np.round(self.intercept + weights @ scores, 10)
        if not self.points:
            return np.asarray(value)
        x, y = np.array(self.points).T
        return np.asarray(np.interp(value, x, y))


class FormulaSettings(Settings):
    formula: str = Field(
        description=(
            'By criterion, as JSON: {"coherence": {"members": [{"judge": "J", "criterion":'
            ' "coherence", "weight": 1}], "intercept": 0, "points": [[1, 1.4], [5, 4.8]]}}.'
        )
    )

    @field_validator("formula")
    @classmethod
    def _readable(cls, value: str) -> str:
        formulas_in(value)
        return value


def formulas_in(text: str) -> dict[str, CriterionFormula]:
    """Parse the formulas in a setting, by criterion.

    Raises:
        ValueError: the JSON does not have this form; the message says where.
    """
    try:
        content: Any = json.loads(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(content, dict) or not content:
        raise ValueError("give an object with a formula for each criterion")
    try:
        return {name: CriterionFormula.model_validate(formula) for name, formula in content.items()}
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


class Formula(LocalEvaluator):
    kind = "formula"
    title = "Formula"
    summary = "Judges' scores, weighed and mapped as fitted to people's ratings; see Improve."
    family = "Other"
    paper = "Hoerl and Kennard (1970), Ridge Regression"
    per_criterion = True
    many_processes = False
    looks_at = frozenset({"scores"})
    Settings: ClassVar = FormulaSettings

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        formula = formulas_in(self.settings.formula).get(parts.criterion)
        if formula is None:
            raise PromptError(f"This judge has no formula for {parts.criterion}.")
        if not parts.scale.is_ordered and not formula.copies_one:
            raise PromptError(
                f"The scores of {parts.criterion} are labels without an order, which cannot be"
                " weighed or mapped. Choose one of the judges, with a weight of 1."
            )
        terms = (
            f"{member.weight:+.4g} × {member.judge}"
            + (f" on {member.criterion}" if member.criterion else "")
            for member in formula.members
        )
        mapped = ", then mapped" if formula.points else ""
        return f"{parts.criterion}: {formula.intercept:.4g} {' '.join(terms)}{mapped}"

    def missing_text(self, texts: Texts) -> Failure | None:
        return None  # it reads scores, not texts

    def look(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.formulas = formulas_in(self.settings.formula)

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Outcome:
        formula = self.formulas.get(item.criterion)
        if formula is None:
            return Failure(Reason.NO_SCORE, f"This judge has no formula for {item.criterion}.")
        scores = []
        for member in formula.members:
            scored = self.corpus.scores
            own = scored.get((member.judge, member.criterion)) or scored.get((member.judge, ""))
            score = (own or {}).get(item.output_id)
            if score is None:
                about = f" on {member.criterion}" if member.criterion else ""
                return Failure(
                    Reason.NO_SCORE,
                    f"{member.judge} has not scored this output{about}; run it first.",
                )
            scores.append(score)
        return Scored.plain(float(formula.of(np.array(scores)[:, None])[0]))
