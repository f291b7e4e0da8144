"""Parse a prompt and rate its text: criterion, scale, features of the texts, a distribution."""

import hashlib
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from geval.llm.delimiting import NOTE
from geval.llm.prompts import ITEMS_REQUEST
from geval.llm.reflection import HEADING
from geval.standin import features
from geval.standin.features import unit
from geval.standin.wording import (
    NOISE,
    mean_of,
    named_in,
    noise_of,
    ratings_of_examples,
    shift_by,
    wording_in,
)
from geval.texts.stand_in import HONEST_NAME

_SCALE = re.compile(r"\(\s*(\d+)\s*(?:-|–|to)\s*(\d+)\s*\)")
# Names of criteria can be in any language with any punctuation; without a bullet they are words.
_FORM = re.compile(
    r"Evaluation Form.*?\n\s*(?:-[^\S\n]*(?P<item>[^\n]{1,200}?)|(?P<line>[\w -]{1,200}?))"
    r"\s*:?\s*\Z",
    re.S,
)
# A form for several criteria, one per line.
_JOINT_FORM = re.compile(
    r"Evaluation Form[^\n]*\n+(?P<lines>(?:- [^\n]{1,200}:\n){1,20}- [^\n]{1,200}:)\s*\Z"
)
_NAMED = re.compile(
    r"Evaluation Criteria:\s*\n+\s*([^\n]{1,200}?)\s*(?:\(\d|[^\S\n]-[^\S\n]|$)", re.M
)
# The last of these headings begins the text to judge; the one before it begins its source.
_HEADING = re.compile(
    r"^(?:Source Text|Article|Document|Conversation History|Corresponding"
    r" Fact|Context|Fact|Summary|Response|Output)"
    r"[^\n:]{0,30}:[ \t]*$",
    re.M,
)
_TAG_LINE = re.compile(
    r"^</?(?:source|context|text|text_a|text_b|reference|conversation|turn|calls)>\n", re.M
)
# Of those, the ones that begin the judged text.
_OF_OUTPUT = re.compile(r"(?:Summary|Response|Output)\b")
_COMPARED = re.compile(
    r"^Text A:\s*\n(?P<a>.*?)^Text B:\s*\n(?P<b>.*?)^Evaluation Form (?P<form>\([^\n]*\)):",
    re.S | re.M,
)
LEFT_LEANING = 0.4
# The features of each criterion with their weights; those about the source need (output, source),
# the others the output.
_MIXES: dict[str, tuple[tuple[Callable[..., float], float], ...]] = {
    "coherence": ((features.connected, 0.85), (features.well_formed, 0.15)),
    "consistency": ((features.support, 1.0),),
    "fluency": ((features.well_formed, 1.0),),
    "relevance": ((features.coverage, 0.75), (features.support, 0.25)),
    "naturalness": ((features.well_formed, 0.8), (features.connected, 0.2)),
    "engagingness": ((features.coverage, 0.5), (features.well_formed, 0.5)),
    "groundedness": ((features.support, 1.0),),
    "understandability": ((features.well_formed, 1.0),),
}
_ABOUT_SOURCE = {features.support, features.coverage}


@dataclass(frozen=True)
class StandInReading:
    """The stand-in's interpretation of a judging prompt; `wording` is the text about the criterion,
    `output_first` whether the text to judge comes before its source, `name` the criterion's name in
    the prompt."""

    criterion: str
    lowest: int
    highest: int
    source: str
    output: str
    wording: str = ""
    shift: float = 0.0
    output_first: bool = False
    name: str = ""


def wants_steps(prompt: str) -> bool:
    """Return whether the prompt ends where evaluation steps should follow."""
    return bool(re.search(r"Evaluation Steps\s*:\s*\Z", prompt))


def wants_reflection(prompt: str) -> bool:
    """Return whether the prompt asks for better instructions of a judge."""
    return prompt.startswith(HEADING)


def without_delimiting(prompt: str) -> str:
    """Remove tags on separate lines, and the note about them, from a prompt: the stand-in finds
    texts by their headings."""
    return _TAG_LINE.sub("", prompt.replace(f"{NOTE}\n\n", "")) if NOTE in prompt else prompt


def read_prompt(prompt: str) -> StandInReading | None:
    """Return the criterion, scale and texts of a judging prompt; None for other prompts."""
    prompt = without_delimiting(prompt)
    form = _FORM.search(prompt)
    scale = _SCALE.search(prompt)
    if not form:
        return None
    lowest, highest = (int(scale.group(1)), int(scale.group(2))) if scale else (1, 5)
    if not 0 <= lowest < highest <= 100:
        lowest, highest = 1, 5
    texts = prompt[: form.start()]
    headings = list(_HEADING.finditer(texts))
    output = texts[headings[-1].end() :].strip() if headings else texts.strip()
    source = texts[headings[0].end() : headings[-1].start()].strip() if len(headings) > 1 else ""
    output_first = len(headings) > 1 and _OF_OUTPUT.match(headings[0][0]) is not None
    if output_first and not _OF_OUTPUT.match(headings[-1][0]):
        between = texts[headings[0].end() : headings[-1].start()]
        source, output = output, between.strip()
    wording = wording_in(texts[: headings[0].start()] if headings else "")
    shift = shift_by(ratings_of_examples(texts), lowest, highest)
    name = (form["item"] or form["line"]).strip()
    criterion = name.lower()
    return StandInReading(
        criterion, lowest, highest, source, output, wording, shift, output_first, name
    )


def read_joint_prompt(prompt: str) -> list[StandInReading]:
    """Return what a prompt says about each criterion of its form, where it has several. Paragraphs
    that begin with a criterion's name are about it."""
    form = _JOINT_FORM.search(prompt)
    whole = read_prompt(prompt) if form else None
    if form is None or whole is None:
        return []
    lines = form["lines"].splitlines()
    return [_about(whole, line.removeprefix("- ").removesuffix(":").strip()) for line in lines]


def _about(whole: StandInReading, name: str) -> StandInReading:
    own = "\n\n".join(
        re.findall(rf"^{re.escape(name)}(?!\w)[^\n]*(?:\n[^\n]+)*", whole.wording, re.M)
    )
    scale = _SCALE.search(own)
    lowest, highest = map(int, scale.groups()) if scale else (whole.lowest, whole.highest)
    return replace(
        whole, criterion=name.lower(), lowest=lowest, highest=highest, wording=own, name=name
    )


@dataclass(frozen=True)
class ComparedTexts:
    """The stand-in's interpretation of a comparing prompt; `tie` if ties are allowed."""

    source: str
    first: str
    second: str
    criterion: str
    tie: bool


def read_comparison(prompt: str) -> ComparedTexts | None:
    """Return the criterion and texts of a comparing prompt; None for other prompts."""
    prompt = without_delimiting(prompt)
    match = _COMPARED.search(prompt)
    if not match:
        return None
    source = (
        _HEADING.split(prompt[: match.start()])[-1].strip()
        if _HEADING.search(prompt[: match.start()])
        else ""
    )
    name = _NAMED.search(prompt)
    return ComparedTexts(
        source,
        match["a"].strip(),
        match["b"].strip(),
        name[1].strip().lower() if name else "",
        "C if" in match["form"],
    )


def preference(comparison: ComparedTexts) -> dict[str, float]:
    """Return the probability of A, B and C (a tie): by quality, with a small bias to the first
    text, like LLMs."""
    first, second = (
        quality(StandInReading(comparison.criterion, 1, 5, comparison.source, text))
        for text in (comparison.first, comparison.second)
    )
    tie = 0.1 if comparison.tie else 0.0
    left = (1 - tie) / (1 + math.exp(-(8 * (first - second) + LEFT_LEANING)))
    points = {"A": left, "B": 1 - tie - left} | ({"C": tie} if comparison.tie else {})
    return {name: 0.98 * share for name, share in points.items()}


def quality(reading: StandInReading) -> float:
    """Return the quality from 0 to 1, by the criterion's features, with a little noise that depends
    on the texts.

    Criteria with unknown names are weighed by the features that their words name (wording.py).
    """
    has_own_mix = reading.criterion in _MIXES
    chance = seeded(reading.criterion, reading.output, reading.source).gauss(
        0, NOISE if has_own_mix else noise_of(reading.wording)
    )
    named = [] if has_own_mix else named_in(reading.wording)
    if named:
        return unit(mean_of(named, reading.output, reading.source) + chance)
    mix = _MIXES.get(reading.criterion, ((features.well_formed, 0.5), (features.support, 0.5)))
    score = weights = 0.0
    for feature, weight in mix:
        if feature not in _ABOUT_SOURCE or reading.source:
            texts = (reading.output, reading.source)[: 1 + (feature in _ABOUT_SOURCE)]
            score += weight * feature(*texts)
            weights += weight
    return unit((score / weights if weights else 0.5) + chance)


def distribution(
    reading: StandInReading, change: Callable[[float], float] = float
) -> dict[int, float]:
    """Return a probability for each point of the scale, centred on the quality. Sums to 0.98: some
    mass goes elsewhere.

    Args:
        change: changes the quality, from 0 to 1.
    """
    share = change(unit(quality(reading) + reading.shift))
    centre = reading.lowest + share * (reading.highest - reading.lowest)
    width = max(0.35, 0.14 * (reading.highest - reading.lowest))
    weights = {
        point: math.exp(-((point - centre) ** 2) / (2 * width * width))
        for point in range(reading.lowest, reading.highest + 1)
    }
    total = sum(weights.values())
    return {point: 0.98 * weight / total for point, weight in weights.items()}


def items_for(prompt: str) -> str:
    """Return plain items for the criterion of a prompt for a rubric's items, or nothing for another
    prompt."""
    if not prompt.rstrip().endswith(ITEMS_REQUEST):
        return ""
    match = _NAMED.search(prompt)
    criterion = match.group(1).strip().lower() if match else "the criterion"
    return (
        f"2 | Meets {criterion} | Does the whole text meet the definition of {criterion}?\n"
        "1 | Without an exception | Does every sentence meet it?"
    )


def steps_for(prompt: str) -> str:
    """Return plain evaluation steps for the criterion of a prompt for steps."""
    match = _NAMED.search(prompt)
    name = match.group(1).strip().lower() if match else "the criterion"
    scale = _SCALE.search(prompt)
    low, high = (scale.group(1), scale.group(2)) if scale else ("1", "5")
    return (
        "1. Read the whole text that is to be judged, and what it was written from if that is"
        " given.\n2. Go through it sentence by sentence and note everything that speaks for or"
        f" against its {name}.\n3. Weigh how serious the errors are and how much of the text they"
        f" touch.\n4. Give {name} a rating from {low} (worst) to {high} (best).\n(Steps by the"
        f" {HONEST_NAME}.)"
    )


def seeded(*parts: object) -> random.Random:
    """Return a random generator that depends only on the parts."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311
