"""Compute scores from token probabilities or samples by G-Eval's weighting (Liu et al., 2023).
Pure.

score = sum over scale points s of p(s) * s, with p normalised over the points; the mass of the
points before normalising is kept as the coverage.

The message is what is read, the tokens are what is weighted, and the two may differ: servers list
tokens that they took off the message (a code fence around JSON), or write blanks as tokenizers do
("Ġ", "▁", "Ċ").
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from geval.llm.parsing import (
    Failure,
    Rating,
    Reason,
    quote,
    reply_text,
    spelled_number,
)
from geval.llm.replies import ReplyChoice, Token
from geval.llm.reply_text import plain_characters
from geval.llm.structured import ReplyForm, read_rating
from geval.statistics.scales import NO_POINT, NOT_APPLICABLE, Scale, short
from geval.statistics.thresholds import UNRESOLVED

# What may surround a rating within a token: "4.", " 4", "(4)", "**4".
_AROUND = " \t\r\n▁Ġ.,;:!?()[]{}*_#'\"`/-–•>"


# Rounding may carry a sum of probabilities this far.
MOST_PROBABILITY = 1.01
_GOES_ON = re.compile(r"[.,]?\d|[-–~/](?:\d|$)")
_OF_THE_SCALE = re.compile(r"(?P<point>\d+)(?:/(?P<top>\d+))?")


@dataclass(frozen=True)
class Scored:
    """A score: its value, the normalised distribution behind it, and the coverage (1.0 for
    samples).

    Scores of evaluators other than LLMs have no distribution and no coverage. `note` says what a
    reader must know, such as that a text was cut. `not_applicable` is the share of "n/a" among the
    points and it; neither the value nor the distribution has it, and the value is NaN where it is
    more than half.
    """

    value: float
    distribution: Mapping[float, float]
    coverage: float | None = 1.0
    note: str = ""
    not_applicable: float = 0.0

    @classmethod
    def plain(cls, value: float, note: str = "") -> "Scored":
        """Create a score without distribution and coverage."""
        return cls(value, {}, None, note)

    @property
    def is_not_applicable(self) -> bool:
        """Whether "n/a" is the answer: it has more than half of the probability or votes."""
        return self.not_applicable > 0.5

    @property
    def number(self) -> float | None:
        """The value; None where the answer is "n/a"."""
        return None if self.is_not_applicable else self.value

    @property
    def written_distribution(self) -> dict[str, float]:
        """The distribution by points as text, as it is stored, with the share of "n/a"."""
        if not self.not_applicable:
            return {short(point): share for point, share in self.distribution.items()}
        rest = 1 - self.not_applicable
        shares = {short(point): share * rest for point, share in self.distribution.items()}
        return shares | {NOT_APPLICABLE: self.not_applicable}

    def brought(self, scale: Scale, onto: Scale) -> "Scored":
        """Return the score converted linearly to another scale; the order of scores stays."""
        width = (onto.highest - onto.lowest) / (scale.highest - scale.lowest)

        def at(point: float) -> float:
            return round(onto.lowest + (point - scale.lowest) * width, 9)

        shares = {at(point): share for point, share in self.distribution.items()}
        return replace(self, value=at(self.value), distribution=shares)

    def on(self, scale: Scale) -> "Scored":
        """Return the score on a scale: without an order it is the most probable label."""
        if scale.is_ordered or not self.distribution or self.is_not_applicable:
            return self
        shares = self.distribution
        return replace(self, value=max(shares, key=lambda label: (shares[label], -label)))

    def noting(self, note: str) -> "Scored":
        """Return the score with one more note; "" adds none."""
        return replace(self, note=" ".join(filter(None, [self.note, note]))) if note else self

    def in_plain_numbers(self) -> "Scored | Failure":
        """Return the score with Python floats, as third-party packages may compute with NumPy's; a
        failure where a number is not finite."""
        coverage = None if self.coverage is None else float(self.coverage)
        shares = {float(point): float(share) for point, share in self.distribution.items()}
        plain = replace(self, value=float(self.value), coverage=coverage, distribution=shares)
        numbers = (plain.number or 0.0, coverage or 0.0, *shares.values())
        if not all(map(math.isfinite, numbers)):
            return Failure(
                Reason.UNFORESEEN, f"Its score is not a finite number ({plain.value:g})."
            )
        return plain

    @property
    def entropy(self) -> float:
        """Shannon entropy of the distribution, in bits."""
        return -sum(p * math.log2(p) for p in self.distribution.values() if p > 0)


@dataclass(frozen=True)
class Preferred(Scored):
    """Which of two outputs is better.

    `value` is the probability that the first is better, a tie counting half. The distribution is
    over 1 (the first), 0.5 (a tie) and 0 (the second); `left` is the preference for the text shown
    first, over both orders, None if only one order was asked.
    """

    left: float | None = None


def expected_score(distribution: Mapping[float, float]) -> float:
    """Return the mean of a normalised distribution over ratings."""
    return math.fsum(point * probability for point, probability in sorted(distribution.items()))


def score_by_logprobs(
    choice: ReplyChoice,
    *,
    scale: Scale,
    criterion: str,
    others: tuple[str, ...] = (),
    min_coverage: float = 0.0,
    form: ReplyForm = "text",
) -> Scored | Failure:
    """Weight the scale points by the probabilities at the rating's token.

    Never raises: a reply that cannot be scored, or whose points have less than `min_coverage` of
    the probability, gives a Failure with its reason.
    """
    rating = read_rating(choice, scale=scale, criterion=criterion, others=others, form=form)
    if isinstance(rating, Failure):
        return rating
    if not choice.tokens:
        return Failure(Reason.NO_LOGPROBS, Reason.NO_LOGPROBS.explanation)
    if rating.value != NO_POINT and scale.point_at(rating.value) is None:
        detail = (
            f"{rating.text} is between two points of the scale {scale}: {quote(reply_text(choice))}"
        )
        return Failure(Reason.BETWEEN_POINTS, detail)
    place = _place_of(rating, choice, scale, criterion, others, form)
    if isinstance(place, Failure):
        return place
    tokens = choice.tokens[place[0] :]
    masses = _overfull(tokens, scale) or _point_masses(tokens, place[1], scale, rating, form)
    if isinstance(masses, Failure):
        return masses
    scored = normalised(masses)
    if isinstance(scored, Scored):
        scored = replace(scored, note=_note_on_end(tokens, place[1], rating))
    if isinstance(scored, Scored) and (scored.coverage or 0) < min_coverage:
        detail = (
            f"Only {scored.coverage:.2%} of the probability is on the scale {scale}; the judge's "
            f"minimum coverage is {min_coverage:.0%}. The reply: {quote(reply_text(choice))}"
        )
        return Failure(Reason.LOW_COVERAGE, detail)
    return scored


def score_by_samples(values: Sequence[float]) -> Scored:
    """Score by the ratings of several replies: the distribution is their shares. It is "n/a" by a
    majority of NO_POINT, and otherwise the mean of the others.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("no ratings to count")
    points = [value for value in values if value != NO_POINT]
    shares = {value: count / len(points) for value, count in sorted(Counter(points).items())}
    not_applicable = 1 - len(points) / len(values)
    scored = Scored(math.nan, shares, not_applicable=not_applicable)
    if scored.is_not_applicable:
        return scored
    # The mean of the values, not of their shares: a sum of rounded shares would break ties between
    # outputs.
    return replace(scored, value=fmean(points))


def score_directly(
    choice: ReplyChoice,
    *,
    scale: Scale,
    criterion: str,
    others: tuple[str, ...] = (),
    form: ReplyForm = "text",
) -> Scored | Failure:
    """Return the rating as the reply states it, without weighting (the paper's "- Probs"
    ablation)."""
    rating = read_rating(choice, scale=scale, criterion=criterion, others=others, form=form)
    return rating if isinstance(rating, Failure) else score_by_samples([rating.value])


def why_not_by_logprobs(scale: Scale) -> str:
    """Return why token probabilities cannot rate on this scale, as a sentence; empty if they
    can."""
    if scale.labels or scale.is_integral:
        return ""
    return (
        "Token probabilities need a scale of whole numbers from 0 up (a rating must be one token);"
        f" {scale} in steps of {short(scale.step)} is not. Use samples, or change the scale."
    )


def _place_of(
    rating: Rating,
    choice: ReplyChoice,
    scale: Scale,
    criterion: str,
    others: tuple[str, ...],
    form: ReplyForm,
) -> tuple[int, int] | Failure:
    """Return the index of the rating's token, and where in it the rating begins. Where the message
    is not within the tokens, they must have the same rating."""
    tokens = choice.tokens or ()
    place = place_in_tokens(tokens, reply_text(choice), rating.position)
    if place is None:
        bare = replace(choice, text="")
        again = read_rating(bare, scale=scale, criterion=criterion, others=others, form=form)
        if isinstance(again, Rating) and again.value == rating.value:
            place = place_in_tokens(tokens, reply_text(bare), again.position)
    return place or Failure(
        Reason.TOKENS,
        f"The reply's tokens cannot be matched with its text: {quote(reply_text(choice))}",
    )


def _overfull(tokens: Sequence[Token], scale: Scale) -> Failure | None:
    """Return a failure where the texts at a position have more than the whole probability."""
    for token in tokens[: len(short(scale.highest))]:
        total = math.fsum(token.probabilities.values())
        if total > MOST_PROBABILITY:
            return Failure(
                Reason.NO_LOGPROBS,
                f"The texts at the rating's token have {total:.2f} of the probability together, so"
                " they are no probabilities; use another scoring mode.",
            )
    return None


def _note_on_end(tokens: Sequence[Token], offset: int, rating: Rating) -> str:
    """Return a note where much of the probability after a rating in digits makes it part of a
    longer expression, such as 1.3 or 1-5."""
    chosen = tokens[0].text[offset:]
    if len(tokens) < 2 or chosen.strip(_AROUND) != rating.text or not chosen[-1:].isdecimal():
        return ""
    texts = tokens[1].probabilities
    share = math.fsum(p for text, p in texts.items() if _GOES_ON.match(plain_characters(text)))
    if share <= UNRESOLVED:
        return ""
    return f"{share:.0%} of the probability after the rating makes it part of a longer expression."


def _bare(text: str) -> str:
    """Return a token's text without what may surround a rating; a dash before a digit is its
    sign."""
    plain = plain_characters(text)
    bare = plain.strip(_AROUND)
    before = plain[: plain.find(bare)] if bare[:1].isdecimal() else ""
    return f"-{bare}" if before.endswith(("-", "−")) else bare


def _point_masses(
    tokens: Sequence[Token], offset: int, scale: Scale, rating: Rating, form: ReplyForm
) -> dict[float, float] | Failure:
    """Return the probability of each scale point at the rating's token, the first, summed over all
    spellings of a point; that of "n/a" at NO_POINT."""
    whole = {text: p for text, p in _by_bare_text(tokens[0], offset).items() if p > 0}
    labelled: dict[float, float] = {}
    if scale.allows_not_applicable and (
        mass := _take_not_applicable(whole, tokens[0], offset, scale, rating, form)
    ):
        labelled[NO_POINT] = mass
    if not scale.is_ordered:
        return _label_masses(whole, scale, labelled)
    spelled = {short(point): point for point in scale.points if point == int(point)}
    labels = {label.casefold(): point for label, point in scale.words.items()}
    digits: dict[str, float] = {}
    for text, probability in whole.items():
        if text.casefold() in labels:
            point = labels[text.casefold()]
            labelled[point] = labelled.get(point, 0.0) + probability
        elif (number := _OF_THE_SCALE.fullmatch(text)) and number["top"] in (
            None,
            short(scale.highest),
        ):
            digits[number["point"]] = digits.get(number["point"], 0.0) + probability
    numbers = _resolve_digits(tokens, digits, spelled)
    if isinstance(numbers, Failure):
        return numbers
    for point, probability in labelled.items():
        numbers[point] = numbers.get(point, 0.0) + probability
    if not numbers:
        # The rating's word spans several tokens, so no single position holds its probability.
        return Failure(Reason.SPLIT_NUMBER, Reason.SPLIT_NUMBER.explanation)
    return numbers


def _take_not_applicable(
    whole: dict[str, float],
    token: Token,
    offset: int,
    scale: Scale,
    rating: Rating,
    form: ReplyForm,
) -> float:
    """Remove the texts that answer "n/a" from those at the rating's token, and return their
    probability. A text that also begins a label answers it only where the reply did."""
    if form != "text" and scale.is_ordered:
        # In JSON points are numbers, so a quotation mark begins this answer.
        mark = token.text[:offset].rstrip()
        texts = token.probabilities.items()
        return math.fsum(p for text, p in texts if re.match(rf'{re.escape(mark)}\s{{0,9}}"', text))
    written = _bare(token.text[offset:]) if rating.value == NO_POINT else None
    words = [word.casefold() for word, point in scale.reply_words.items() if point == NO_POINT]
    labels = [word.casefold() for word in scale.words]
    mass = 0.0
    for text in list(whole):
        begins = text.casefold()
        is_other = any(label.startswith(begins) for label in labels)
        is_this = bool(begins) and any(word.startswith(begins) for word in words)
        if text == written or (is_this and not is_other):
            mass += whole.pop(text)
        elif is_this and begins not in labels:
            del whole[text]  # it may begin either
    return mass


def _label_masses(
    whole: Mapping[str, float], scale: Scale, masses: dict[float, float]
) -> dict[float, float] | Failure:
    """Add the probability of each label at the reply's token, which may be the beginning of one
    alone: what begins several tells none."""
    for text, probability in whole.items():
        begun = [
            point
            for label, point in scale.labels.items()
            if text and probability > 0 and label.casefold().startswith(text.casefold())
        ]
        exact = scale.point_named(text)
        if exact is not None or len(begun) == 1:
            point = begun[0] if exact is None else exact
            masses[point] = masses.get(point, 0.0) + probability
    if not masses:
        return Failure(Reason.SPLIT_NUMBER, Reason.SPLIT_NUMBER.explanation)
    return masses


def _by_bare_text(token: Token, offset: int) -> dict[str, float]:
    """Return the alternatives by their text without spaces and punctuation.

    Where the chosen token begins with other text ("Score:4"), the same beginning is removed from
    the alternatives.
    """
    beginning = token.text[:offset].rstrip(_AROUND)
    # Where the reply uses digits, "one" among the alternatives begins a sentence.
    spells = not any(map(str.isdecimal, token.text[offset:]))
    by_bare_text: dict[str, float] = {}
    for text, probability in token.probabilities.items():
        if beginning and not text.startswith(beginning):
            continue
        bare = _bare(text[len(beginning) :])
        if spells:
            bare = spelled_number(bare)
        by_bare_text[bare] = by_bare_text.get(bare, 0.0) + probability
    return by_bare_text


def _resolve_digits(
    tokens: Sequence[Token], digits: Mapping[str, float], spelled: Mapping[str, float]
) -> dict[float, float] | Failure:
    """Return the masses of the points that digits spell, also on scales beyond one digit.

    The mass of the reply's own "1" is divided between 1 and 10 by what may follow it; where nothing
    does, its end is unknown. For a "1"
    among the alternatives the division is unknown, unless the model writes "10" as one token.
    """
    chosen = _bare(tokens[0].text)
    # A text such as "01" spells no point; equal spellings do ("５" has become "5").
    writes_whole_numbers = any(len(text) > 1 and text in spelled for text in digits)
    is_one_digit = all(len(text) == 1 for text in spelled)
    masses: dict[float, float] = {}
    unresolved = 0.0
    for text, probability in digits.items():
        could_go_on = not is_one_digit and any(
            other != text and other.startswith(text) for other in spelled
        )
        if could_go_on and text == chosen:
            shares = _continued(tokens[1:], text, spelled)
            if shares is None and not writes_whole_numbers:
                return Failure(
                    Reason.SPLIT_NUMBER,
                    f"The reply's tokens end after “{text}”, which may begin a longer rating; use"
                    " samples.",
                )
            shares = shares or {spelled[text]: 1.0}
        elif not could_go_on or writes_whole_numbers:
            shares = {spelled[text]: 1.0} if text in spelled else {}
        else:
            unresolved += probability
            continue
        for point, share in shares.items():
            masses[point] = masses.get(point, 0.0) + probability * share
    if unresolved > UNRESOLVED:
        return Failure(
            Reason.SPLIT_NUMBER,
            f"{unresolved:.0%} of the probability is on digits that may begin a longer rating, and "
            "their continuation was not asked; use samples.",
        )
    return masses


def _continued(
    tokens: Sequence[Token], prefix: str, spelled: Mapping[str, float]
) -> dict[float, float] | None:
    """Return how the mass of a prefix divides between the points that it may spell, along the
    reply's tokens; None where they end before the number does."""
    if not tokens:
        return None
    shares: dict[float, float] = {}
    for text, probability in tokens[0].probabilities.items():
        following = unicodedata.normalize("NFKC", text)
        joined = prefix + following.rstrip(_AROUND)
        if following[:1].isdecimal():
            if text == tokens[0].text and any(
                o != joined and o.startswith(joined) for o in spelled
            ):
                divided = _continued(tokens[1:], joined, spelled)
                if divided is None:
                    return None
                for point, share in divided.items():
                    shares[point] = shares.get(point, 0.0) + probability * share
            elif joined in spelled:
                shares[spelled[joined]] = shares.get(spelled[joined], 0.0) + probability
        elif prefix in spelled:
            shares[spelled[prefix]] = shares.get(spelled[prefix], 0.0) + probability
    return shares


def normalised(masses: Mapping[float, float]) -> Scored | Failure:
    """Return the score of points by their probabilities, whose sum is the coverage; NO_POINT has
    that of "n/a"."""
    coverage = math.fsum(masses.values())
    points = {point: mass for point, mass in sorted(masses.items()) if point != NO_POINT}
    on_scale = math.fsum(points.values())
    if coverage <= 0:
        return Failure(
            Reason.NO_RATING, "No point of the scale has any probability at the rating's token."
        )
    distribution = {point: mass / on_scale for point, mass in points.items()} if on_scale else {}
    scored = Scored(
        math.nan,
        distribution,
        min(coverage, 1.0),
        not_applicable=masses.get(NO_POINT, 0.0) / coverage,
    )
    if scored.is_not_applicable:
        return scored
    value = expected_score(distribution)
    # Rounding may carry a certain rating slightly beyond the end of the scale.
    return replace(scored, value=min(max(value, min(distribution)), max(distribution)))


_SOLID = re.compile(r"[^\s▁ĠĊ]")


def place_in_tokens(tokens: Sequence[Token], text: str, position: int) -> tuple[int, int] | None:
    """Return the index of the token that holds a character of the message, and the character's
    offset in it; None where the message is not within the tokens, or more than once."""
    joined = "".join(token.text for token in tokens)
    if joined != text:
        places = [match.start() for match in _SOLID.finditer(joined)]
        listed, message = _solid(joined), _solid(text)
        start = listed.find(message)
        if start < 0 or listed.find(message, start + 1) >= 0:
            return None
        position = places[start + len(_solid(text[:position]))]
    return _token_at(tokens, position)


def _solid(text: str) -> str:
    return "".join(_SOLID.findall(text))


def _token_at(tokens: Sequence[Token], position: int) -> tuple[int, int] | None:
    begins = 0
    for index, token in enumerate(tokens):
        if begins <= position < begins + len(token.text):
            return index, position - begins
        begins += len(token.text)
    return None
