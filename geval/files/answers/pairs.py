"""Convert a stored answer to preferences between pairs of outputs, or to comparable numbers.

Answers in files have names instead of ids, in the stored form: `scores` by criterion; `choices` by
criterion, above 0 for the first of the systems as shown; `best`, `worst` and `ranks` by criterion
with names of systems; the expected answer of a check also has `winners` ("" for a tie) or `side`.
The name "" stands for "overall". `preferences`, in the history, are lists of two systems, a
criterion and a value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Answer = dict[str, Any]


@dataclass(frozen=True)
class PreferencePair:
    """A comparison from an answer; `output_a` has the lower id, `value` is positive if it is
    better."""

    output_a: int
    output_b: int
    criterion: int
    value: int
    a_was_left: bool | None


def preference_pairs(answer: Answer, shown: Sequence[int]) -> list[PreferencePair]:
    """Return what an answer says about each pair of outputs.

    A best-worst choice says that the best beats all others and all others beat the worst; a ranking
    compares every pair, and equal ranks are ties.
    """
    preference_pairs = []
    for key, value in answer.get("choices", {}).items():
        left, right = shown[0], shown[1]
        ordered = left < right
        preference_pairs.append(
            PreferencePair(
                min(left, right), max(left, right), int(key), value if ordered else -value, ordered
            )
        )
    for key, best in answer.get("best", {}).items():
        worst = answer["worst"][key]
        for other in shown:
            if other != best:
                preference_pairs.append(_preferred(best, other, int(key)))
            if other not in (best, worst):
                preference_pairs.append(_preferred(other, worst, int(key)))
    for key, ranks in answer.get("ranks", {}).items():
        ordered_ids = sorted(shown)
        for index, a in enumerate(ordered_ids):
            for b in ordered_ids[index + 1 :]:
                difference = ranks[str(b)] - ranks[str(a)]
                preference_pairs.append(
                    PreferencePair(a, b, int(key), (difference > 0) - (difference < 0), None)
                )
    return preference_pairs


def _preferred(better: int, worse: int, criterion: int) -> PreferencePair:
    value = 1 if better < worse else -1
    return PreferencePair(min(better, worse), max(better, worse), criterion, value, None)


def shown_pattern(answer: Answer, shown: Sequence[int]) -> str:
    """Return an answer by the places of outputs on the page, without strengths of choices: the same
    for somebody who always clicks at the same place."""
    place = {pk: str(at) for at, pk in enumerate(shown)}
    choices = {key: (value > 0) - (value < 0) for key, value in answer.get("choices", {}).items()}
    ends = [
        {key: place.get(pk) for key, pk in answer.get(name, {}).items()}
        for name in ("best", "worst")
    ]
    ranks = {
        key: [given.get(str(pk)) for pk in shown] for key, given in answer.get("ranks", {}).items()
    }
    return str([sorted(part.items()) for part in (answer.get("scores", {}), choices, *ends, ranks)])


def answer_values(answer: Answer, shown: Sequence[int]) -> dict[str, float]:
    """Return an answer as numbers, comparable with another annotator's for the same item: a score
    for each question that is not "n/a", or for comparisons a preference for each pair of outputs,
    in the order of their ids."""
    scores = answer.get("scores", {}).items()
    numbers = {key: float(score) for key, score in scores if score is not None}
    places = {pk: place for place, pk in enumerate(sorted(shown))}
    for pair in preference_pairs(answer, shown):
        name = f"{pair.criterion} {places[pair.output_a]} {places[pair.output_b]}"
        numbers[name] = float(pair.value)
    return numbers


OVERALL, TIE = "", ""
# Parts that stay unchanged.
PLAIN = ("comment", "flagged", "spans", "side", "places", "reason")
BY_CRITERION = ("scores", "choices")
OF_SYSTEMS = ("best", "worst", "winners")


def with_names(
    answer: Answer | None, criteria: Mapping[int, str], systems: Mapping[int, str]
) -> Answer | None:
    """Return an answer with the names of criteria and of outputs' systems instead of ids; None
    without an answer. Parts about removed criteria are left out."""
    about = {str(pk): name for pk, name in criteria.items()} | {"0": OVERALL}
    return _translated(answer, about, {**systems, 0: TIE}, key_of_system=int)


def with_ids(
    answer: Answer | None, criteria: Mapping[str, int], outputs: Mapping[str, int]
) -> Answer | None:
    """Return an answer with ids instead of names; the inverse of `with_names`.

    Raises:
        KeyError: it names a system that is not among these outputs.
    """
    about = {name: str(pk) for name, pk in criteria.items()} | {OVERALL: "0"}
    return _translated(answer, about, {**outputs, TIE: 0}, key_of_system=str)


def _translated(
    answer: Answer | None, criteria: Mapping[str, Any], systems: Mapping[Any, Any], *,
    key_of_system: type,
) -> Answer | None:  # fmt: skip
    if answer is None:
        return None

    def of_part(part: str, value: Any) -> Any:
        if part == "ranks":
            return {str(systems[key_of_system(index)]): rank for index, rank in value.items()}
        return systems[value] if part in OF_SYSTEMS else value

    translated: Answer = {name: answer[name] for name in PLAIN if name in answer}
    for part in (*BY_CRITERION, *OF_SYSTEMS, "ranks"):
        if part in answer:
            translated[part] = {
                criteria[key]: of_part(part, value)
                for key, value in answer[part].items()
                if key in criteria
            }
    if "preferences" in answer:
        translated["preferences"] = [
            [systems[row[0]], systems[row[1]], _criterion(row[2], criteria), row[-1]]
            for row in answer["preferences"]
            if row[2] is None or str(row[2]) in criteria
        ]
    if "shown" in answer:
        translated["shown"] = [systems[index] for index in answer["shown"]]
    return translated


def _criterion(key: Any, criteria: Mapping[str, Any]) -> Any:
    """Convert the criterion of a preference in the history, which is a number or None."""
    if isinstance(key, str):
        return int(criteria[key]) if key else None
    return OVERALL if key is None else criteria[str(key)]
