"""Sentences about which outputs numbers describe where people rated only some, and about numbers
over documents that a judge's search has seen, which look better than they are; for all pages,
downloads and commands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from geval.reports.human_scores import HumanScores
from geval.texts.numbers import thin
from geval.texts.sentences import WEIGHTED

OF_ALL = (
    "Human means, correlations with people and their differences, tests of judges, errors, accuracy"
    " on pairs, calibration, biases, pass rates and prediction-powered means describe all outputs"
    " that could have been drawn."
)
OF_RATED = (
    "Agreement between annotators, one rater, the alternative annotator test, counts of outputs,"
    " probes of a judge and its steadiness describe only the outputs that were rated. A verdict"
    " compares numbers of both kinds."
)
PROVEN = (
    "Searches for a better judge learn from the training documents as they were rated. What locked"
    " documents prove holds for all documents that could have been drawn and locked."
)
PLANNED = (
    "Outputs of the pilot were drawn with known probabilities that differ. The plan counts"
    " all rated ones alike, and describes only these."
)
ASKED = (
    "Outputs were drawn with known probabilities that differ. Probes and repeated askings"
    " count all outputs that they asked about alike, and describe only these."
)
WEIGHTS = f"{WEIGHTED} {OF_ALL} {OF_RATED}"
# The mark after the name of a judge with numbers over documents that its search has seen.
SEEN = "seen by its search"


def taken_from_the_top(outputs: int, *, are_left_out: bool) -> str:
    """Return the sentence about rated outputs that campaigns took from the top of a list.

    Args:
        are_left_out: whether numbers leave them out, as others are rated.
    """
    were = "rated output was" if outputs == 1 else "rated outputs were"
    picked = (
        f"{thin(outputs)} {were} picked by campaigns because judges disagree most there, not drawn"
        " as a sample."
    )
    if are_left_out:
        left_out = "It is" if outputs == 1 else "They are"
        return f"{picked} {left_out} left out of means, correlations and pass rates."
    return (
        f"{picked} The numbers describe the outputs that were rated, not all outputs. Rate a random"
        " sample to learn about all."
    )


def about_sample(human: HumanScores) -> tuple[str, ...]:
    """Return which outputs the numbers of a criterion describe, in sentences; empty where all rated
    outputs count equally and none was picked."""
    return (WEIGHTS, *_about_picked(human)) if human.is_weighted else _about_picked(human)


def about_proof(human: HumanScores) -> tuple[str, ...]:
    """Do the same for searches for a better judge and looks at locked documents."""
    weighted = (f"{WEIGHTED} {PROVEN}",) if human.is_weighted else ()
    return (*weighted, *_about_picked(human))


def about_plan(human: HumanScores) -> tuple[str, ...]:
    """Do the same for a plan from the present ratings."""
    return (*((PLANNED,) if human.is_weighted else ()), *_about_picked(human))


def about_asking(human: HumanScores) -> tuple[str, ...]:
    """Do the same for a judge's repeatability compared with people's ratings."""
    return (ASKED,) if human.is_weighted else ()


def _about_picked(human: HumanScores) -> tuple[str, ...]:
    picked = 0 if human.top is None else int(human.top.sum())
    if not picked:
        return ()
    return (taken_from_the_top(picked, are_left_out=not human.counts_picked),)


def marked(name: str, *, is_seen: bool) -> str:
    """Return a judge's or criterion's name, marked if a search has seen documents behind its
    numbers."""
    return f"{name} ({SEEN})" if is_seen else name


def marked_on(name: str, seen: Sequence[str], *, of: int) -> str:
    """Return a judge's name over several criteria.

    Args:
        seen: the criteria on which its search has seen documents behind its numbers.
        of: on how many criteria it has numbers.
    """
    if not seen:
        return name
    where = "" if len(seen) == of else f" on {', '.join(seen)}"
    return f"{name} ({SEEN}{where})"


@dataclass(frozen=True)
class Seen:
    """How many of the `documents` behind a judge's numbers its search has seen; `look` is the
    result of its look at locked documents, empty if there was none."""

    documents: int
    of: int
    look: str = ""

    def __str__(self) -> str:
        return f"{SEEN}: {self.documents:,} of {self.of:,} documents{self._and_look}"

    @property
    def sentence(self) -> str:
        """The information as a sentence."""
        counts = f"{self.documents:,} of these {self.of:,} documents"
        return f"Its search has seen {counts}{self._and_look}."

    @property
    def _and_look(self) -> str:
        return f"; {self.look}" if self.look else ""
