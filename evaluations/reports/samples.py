"""Of what numbers speak where people rated only some of the outputs: the words of every page,
download and command."""

from annotations.results.human_scores import HumanScores

WEIGHTED = (
    "Outputs were drawn with known probabilities that differ, and count by their weights, which are"
    " one by these."
)
OF_ALL = (
    "Human means, correlations with people and their differences, tests of judges, errors, accuracy"
    " on pairs, calibration, biases, pass rates and prediction-powered means speak of all outputs"
    " that could be drawn."
)
OF_RATED = (
    "Agreement between annotators, the human ceiling, the alternative annotator test, patterns of"
    " large gaps, counts of outputs, probes of a judge and its steadiness speak of the outputs that"
    " were rated; a verdict compares numbers of both kinds."
)
PROVEN = (
    "Of changes to a judge, searches learn from the training documents as they were rated; what"
    " locked documents prove speaks of all that could be drawn and locked."
)
PLANNED = (
    "Outputs of the pilot were drawn with known probabilities that differ. The plan takes those"
    " that were rated all alike, and speaks of them."
)
ASKED = (
    "Outputs were drawn with known probabilities that differ. Probes and repeated askings take"
    " those that they asked about all alike, and speak of them."
)
WEIGHTS = f"{WEIGHTED} {OF_ALL} {OF_RATED}"


def taken_from_the_top(outputs: int, *, are_left_out: bool) -> str:
    """What follows where campaigns chose some outputs without a design.

    Args:
        are_left_out: whether numbers leave them out, as others are rated.
    """
    were = "rated output was" if outputs == 1 else "rated outputs were"
    taken = (
        f"{outputs:,} {were} taken by campaigns because judges disagree most there, not drawn as a"
        " sample."
    )
    if are_left_out:
        return (
            f"{taken} They count in no mean, correlation or pass rate, which speak of the others."
        )
    return (
        f"{taken} The numbers speak of the outputs that were rated, not of all outputs. Rate a"
        " random sample to learn about all."
    )


def about_sample(human: HumanScores) -> tuple[str, ...]:
    """Of what the numbers of one criterion speak; empty where all rated outputs count alike and
    were not picked."""
    return (WEIGHTS, *_about_picked(human)) if human.is_weighted else _about_picked(human)


def about_proof(human: HumanScores) -> tuple[str, ...]:
    """The same of searches for a better judge and looks at locked documents."""
    weighted = (f"{WEIGHTED} {PROVEN}",) if human.is_weighted else ()
    return (*weighted, *_about_picked(human))


def about_plan(human: HumanScores) -> tuple[str, ...]:
    """The same of a plan by what is rated so far."""
    return (*((PLANNED,) if human.is_weighted else ()), *_about_picked(human))


def about_asking(human: HumanScores) -> tuple[str, ...]:
    """The same of what asking a judge again says of it beside people's ratings."""
    return (ASKED,) if human.is_weighted else ()


def _about_picked(human: HumanScores) -> tuple[str, ...]:
    picked = 0 if human.top is None else int(human.top.sum())
    if not picked:
        return ()
    return (taken_from_the_top(picked, are_left_out=not human.counts_picked),)
