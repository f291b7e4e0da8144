"""How the stand-in reacts to the wording of a criterion with an unknown name.

It weighs the features that the definition, the steps or the introduction name, with equal weights;
uninformative words make it noisy. Asked to improve instructions, it names what correlates with
people's ratings in the examples. The rules are in docs/method.md.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from geval.llm.prompt_examples import EXAMPLES_HEADING
from geval.standin import features

NOISE, NOISE_OF_VAGUE = 0.06, 0.3
# Correlations with people's ratings from which a feature is named, and below which it is dropped.
NAMED_FROM, DROPPED_BELOW = 0.35, 0.0
_VAGUE = re.compile(r"\b(good|nice|overall|appropriate|decent|satisfying)\b", re.I)
_BEFORE_TEXTS = re.compile(r"Evaluation Criteria:", re.I)
_EXAMPLE = re.compile(r"</text>\nRating: ([\d.]+)\n</example>")


@dataclass(frozen=True)
class NamedFeature:
    """A feature that words can name: the pattern of such words, and the stand-in's phrase for
    it."""

    of: Callable[[str, str], float]
    words: re.Pattern[str]
    said: str


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b({words})", re.I)


NAMED: Mapping[str, NamedFeature] = {
    "supported": NamedFeature(
        features.support, _pattern("supported|facts|invent"), "Its facts are supported."
    ),
    "covering": NamedFeature(
        features.coverage, _pattern("main points|important"), "It has the main points."
    ),
    "grammatical": NamedFeature(
        lambda output, _source: features.well_formed(output),
        _pattern("gramma|spelling|punctuation"),
        "Its grammar is right.",
    ),
    "connected": NamedFeature(
        lambda output, _source: features.connected(output),
        _pattern("connected|linked|flows"),
        "Its sentences are connected.",
    ),
    "brief": NamedFeature(
        lambda output, _source: features.brevity(output),
        _pattern("brief|concise|short"),
        "It is brief.",
    ),
}


def named_in(wording: str) -> list[str]:
    """Return the features that words name."""
    return [name for name, feature in NAMED.items() if feature.words.search(wording)]


def noise_of(wording: str) -> float:
    """Return the amount of noise in a rating with these words, as a share of the scale."""
    return NOISE_OF_VAGUE if _VAGUE.search(wording) else NOISE


def wording_in(prompt: str) -> str:
    """Return the part of a judging prompt after the task introduction, up to the texts."""
    match = _BEFORE_TEXTS.search(prompt)
    text = prompt[match.end() :] if match else prompt
    return text.split(EXAMPLES_HEADING)[0]


def shift_by(examples: list[float], lowest: float, highest: float) -> float:
    """Return how far examples shift ratings, as a share of the scale: a quarter of the way to their
    mean from its middle."""
    if not examples:
        return 0.0
    mean = sum(examples) / len(examples)
    return 0.25 * ((mean - lowest) / (highest - lowest) - 0.5)


def ratings_of_examples(prompt: str) -> list[float]:
    """Return the ratings of a prompt's examples."""
    shown = prompt.rsplit(EXAMPLES_HEADING, maxsplit=1)[-1] if EXAMPLES_HEADING in prompt else ""
    return [float(rating) for rating in _EXAMPLE.findall(shown)]


def mean_of(names: list[str], output: str, source: str) -> float:
    """Return the mean of features, from 0 to 1."""
    return sum(NAMED[name].of(output, source) for name in names) / len(names)


# Reflecting

_SOURCE = re.compile(r"<source>\n(?P<source>.*?)\n</source>(?P<texts>.*?)(?=<source>|\Z)", re.S)
_TEXT = re.compile(
    r'<text people="(?P<people>[\d.]+)" judge="[^"]*">\n(?P<output>.*?)\n</text>', re.S
)
_INSTRUCTION = re.compile(r'<instruction name="(\w+)">\n(.*?)\n</instruction>', re.S)
_PART = re.compile(r"^Rewrite one part: (\w+)", re.M)


def reflect(prompt: str) -> str:
    """Return a new wording of the requested part."""
    part = _PART.search(prompt)
    texts = dict(_INSTRUCTION.findall(prompt))
    cases = [
        (html.unescape(shown["source"]), html.unescape(text["output"]), float(text["people"]))
        for shown in _SOURCE.finditer(prompt)
        for text in _TEXT.finditer(shown["texts"])
    ]
    others = " ".join(text for name, text in texts.items() if part and name != part[1])
    names = _correlations(cases)
    now = named_in(texts.get(part[1], "") if part else "")
    wanted = [
        name
        for name in NAMED
        if name not in named_in(others)
        and (names[name] >= NAMED_FROM or (name in now and names[name] >= DROPPED_BELOW))
    ]
    definition = " ".join(NAMED[name].said for name in wanted) or "How it reads."
    numbered = "\n".join(
        f"{number}. {line}"
        for number, line in enumerate(
            ["Read the text.", *(NAMED[name].said for name in wanted), "Give a rating."], 1
        )
    )
    return f"<part>{numbered if part and part[1] == 'steps' else definition}</part>"


def _correlations(cases: list[tuple[str, str, float]]) -> dict[str, float]:
    """Return each feature's correlation with the ratings in cases of (source, text, people's
    rating); 0 where either is constant."""
    people = np.array([rating for _, _, rating in cases])
    correlations = {}
    for name, feature in NAMED.items():
        values = np.array([feature.of(output, source) for source, output, _ in cases])
        varies = len(cases) > 2 and np.ptp(values) > 0 and np.ptp(people) > 0
        correlations[name] = float(np.corrcoef(values, people)[0, 1]) if varies else 0.0
    return correlations
