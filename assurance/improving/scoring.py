"""Changes of how a judge scores: its mode, its number of replies, and the scale that it is asked
for."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from evaluations.judging.judges.clients import known_findings
from evaluations.models import Criterion, Judge, Proposal, ScoringMode
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.wording import MOST_BESIDE, Wording, wordings_in
from geval.llm.prompts import DEFAULT_INPUTS, fields_used
from geval.statistics.scales import Scale

# Numbers of replies per item to try, and scales.
SAMPLES = (5, 10, 20, 40)
SCALES = ("1-5", "1-10", "0-100")
NAMES = {
    ScoringMode.LOGPROBS: "probabilities",
    ScoringMode.SAMPLES: "{} sampled replies",
    ScoringMode.DIRECT: "one reply as it is",
}


@dataclass(frozen=True)
class Scoring:
    """The judge's own settings that decide how replies become a score.

    `samples` counts only in the mode samples; `temperature` is None for a model that accepts none.
    """

    mode: str
    samples: int
    temperature: float | None

    @classmethod
    def of(cls, judge: Judge) -> Self:
        """Return a judge's own scoring."""
        sent = judge.temperature if judge.sends_temperature else None
        return cls(judge.mode, judge.samples, sent)

    def merged(self, stored: Mapping[str, Any]) -> Self:
        """Return the scoring with a proposal's overrides."""
        return type(self)(**asdict(self) | dict(stored))

    @property
    def replies_each(self) -> int:
        """How many replies a question gets."""
        return self.samples if self.mode == ScoringMode.SAMPLES else 1

    def __str__(self) -> str:
        return NAMES[ScoringMode(self.mode)].format(self.samples)


@dataclass(frozen=True)
class ScoringChange:
    """A setting that differs from today's: the changed part, under a reproducible name. A scale,
    and further criteria in the same prompt, are parts of the wording (`wording`) rather than of the
    scoring."""

    part: str
    name: str
    scoring: Mapping[str, Any]
    wording: Mapping[str, str] = field(default_factory=dict)


def scoring_changes(
    judge: Judge, evaluator: LlmEvaluator, criterion: Scale, asked_scale: Scale
) -> Iterator[ScoringChange]:
    """Yield settings that each differ from today's in one respect, and with which the judge can
    run.

    Args:
        criterion: the criterion's scale.
        asked_scale: the scale that the judge is asked for today.
    """
    today = Scoring.of(judge)
    for mode in ScoringMode.values:
        if mode != today.mode and _can_use(judge, evaluator, asked_scale, mode):
            yield _mode(judge, mode)
    if today.mode == ScoringMode.SAMPLES:
        for count in SAMPLES:
            if count != today.samples:
                yield ScoringChange("samples", f"samples-{count}", {"samples": count})
    for written in () if criterion.labels else SCALES:
        scale = criterion.like(written)
        if scale != asked_scale and not evaluator.why_not_on(scale, today.mode):
            yield ScoringChange("scale", f"scale-{written}", {}, {"scale": written})


def rated_together(judge: Judge, criterion: Criterion, wording: Wording) -> ScoringChange | None:
    """Return a change that puts all criteria of the project into one prompt, whose reply rates
    each. None if there are no others, or if one cannot be rated this way because it has a whole
    prompt of its own or named scale points.

    Args:
        wording: the judge's current wording of the criterion.
    """
    criteria = list(criterion.project.criteria.without_rubrics())
    cannot = any(other.prompt_file.strip() or other.scale_labels for other in criteria)
    if len(criteria) < 2 or len(criteria) > MOST_BESIDE or cannot or wording.beside:
        return None
    if wording.prompt or wording.examples:
        return None
    beside = [None if other.pk == criterion.pk else _beside(judge, other) for other in criteria]
    # The criterion's own introduction mentions a single metric, so it is left out. The prompt shows
    # all texts that any of the criteria needs.
    every = (other.inputs or DEFAULT_INPUTS for other in criteria)
    inputs = max(every, key=lambda inputs: len(fields_used(inputs)))
    written = {
        "beside": json.dumps(beside, ensure_ascii=False),
        "introduction": "",
        "inputs": inputs,
    }
    return ScoringChange("beside", "together", {}, written)


def _beside(judge: Judge, criterion: Criterion) -> dict[str, str]:
    """Return another criterion as the judge words it."""
    wording = wordings_in(judge.settings.get("wording", "")).get(criterion.name, Wording())
    steps = criterion.newest_steps if judge.use_steps else None
    return {
        "criterion": criterion.name,
        "scale": wording.scale or criterion.scale.written,
        "definition": wording.definition or criterion.definition,
        "steps": wording.steps or (steps.text if steps else ""),
    }


def _mode(judge: Judge, mode: str) -> ScoringChange:
    temperature = 1.0 if mode == ScoringMode.SAMPLES else 0.0
    sent = temperature if judge.sends_temperature else None
    return ScoringChange("mode", f"mode-{mode}", {"mode": mode, "temperature": sent})


def _can_use(judge: Judge, evaluator: LlmEvaluator, scale: Scale, mode: str) -> bool:
    """Whether the judge's endpoint and the scale allow a mode; an unprobed mode is not tried."""
    findings = known_findings(judge.endpoint, judge.model, judge.request_options)
    if mode == ScoringMode.LOGPROBS and findings is None:
        return False
    if mode == ScoringMode.SAMPLES and not judge.sends_temperature:
        return False
    return not (findings and findings.why_not(mode)) and not evaluator.why_not_on(scale, mode)


def scoring_of(proposal: Proposal) -> Scoring:
    """Return how a proposal scores."""
    return Scoring.of(proposal.search.judge).merged(proposal.scoring)


def scoring_in_words(proposal: Proposal) -> str:
    """Describe what a proposal changes in the scoring, such as "Scored by 20 sampled replies"."""
    if proposal.part == "scale":
        return f"Asked for {proposal.texts['scale']}"
    if proposal.part == "beside":
        return "Rated together with the other criteria, in one prompt"
    return f"Scored by {scoring_of(proposal)}"
