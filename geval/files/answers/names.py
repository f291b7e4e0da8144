"""Convert answers to names instead of ids, as in files, and back. Pure.

The form is the stored one: `scores` by criterion; `choices` by criterion, above 0 for the first of
the systems as shown; `best`, `worst` and `ranks` by criterion with names of systems; the expected
answer of a check also has `winners` ("" for a tie) or `side`. The name "" stands for "overall".
`preferences`, in the history, are lists of two systems, a criterion and a value.
"""

from collections.abc import Mapping
from typing import Any

from geval.files.answers.pairs import Answer

OVERALL, TIE = "", ""
# Parts that stay unchanged.
PLAIN = ("comment", "flagged", "spans", "side", "places")
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
