"""One item of a run as its page shows it: prompt, reply, token probabilities, score, and people's ratings."""

import math
from dataclasses import dataclass
from statistics import fmean

from annotations.models import Rating
from evaluations.judging.prompts import PromptError, Texts, render
from evaluations.judging.replies import Choice, Token, choices_from_json
from evaluations.models import RunCriterion, RunItem, Score

SHOWN_ALTERNATIVES = 10
SHOWN_TOKENS = 60


@dataclass(frozen=True)
class Share:
    """A bar: its label and a probability from 0 to 1."""

    label: str
    share: float

    @property
    def percent(self) -> float:
        return round(100 * self.share, 1)


@dataclass(frozen=True)
class TokenView:
    """A token of the reply with its likeliest alternatives."""

    text: str
    alternatives: tuple[Share, ...]


@dataclass(frozen=True)
class ItemView:
    """Everything about one item. `score` is None while there is none; `problem` says why there is no prompt."""

    prompt: str
    problem: str
    replies: tuple[Choice, ...]
    tokens: tuple[TokenView, ...]
    score: Score | None
    distribution: tuple[Share, ...]
    ratings: tuple[tuple[str, float], ...]
    human_mean: float | None


def item_view(item: RunItem) -> ItemView:
    """Gather what an item's page shows."""
    prompt, problem = _prompt(item)
    replies = choices_from_json(item.reply.choices) if item.reply else ()
    score = Score.objects.filter(run=item.run, output=item.output, criterion=item.criterion).first()
    rated = Rating.objects.filter(output=item.output, criterion=item.criterion).select_related("annotator")
    ratings = tuple((rating.annotator.name, rating.score) for rating in rated)
    tokens = (replies[0].tokens or ()) if replies else ()
    return ItemView(
        prompt=prompt,
        problem=problem,
        replies=replies,
        tokens=tuple(_token_view(token) for token in tokens[:SHOWN_TOKENS]),
        score=score,
        distribution=tuple(Share(point, share) for point, share in (score.distribution or {}).items()) if score else (),
        ratings=ratings,
        human_mean=fmean(value for _name, value in ratings) if ratings else None,
    )


def _prompt(item: RunItem) -> tuple[str, str]:
    document = item.output.document
    template = RunCriterion.objects.get(run=item.run, criterion=item.criterion).template
    reference = document.references[0] if document.references else ""
    try:
        return render(template, Texts(document.source, item.output.text, document.context, reference)), ""
    except PromptError as error:
        return template, str(error)


def _token_view(token: Token) -> TokenView:
    ranked = sorted(token.alternatives or ((token.text, token.logprob),), key=lambda pair: -pair[1])
    shares = (Share(_visible(text), math.exp(min(0.0, value))) for text, value in ranked[:SHOWN_ALTERNATIVES])
    return TokenView(_visible(token.text), tuple(shares))


def _visible(text: str) -> str:
    """A token with its blanks and line ends made visible."""
    return text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥") or "(empty)"
