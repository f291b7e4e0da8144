"""A judge whose scores are people's ratings, or that may know only the source, has a caution."""

from collections.abc import Callable

import numpy as np
import pytest

import geval

RATERS = ["ann", "bob", "cas"]


def table(
    judge: Callable[[np.ndarray, np.ndarray], np.ndarray], systems: int = 3, documents: int = 60
) -> list[dict[str, object]]:
    """Ratings by three people, and a judge's scores made of them and of the outputs' quality."""
    rng = np.random.default_rng(4)
    quality = rng.normal(3, 1, documents * systems)
    people = np.clip(np.round(quality + rng.normal(0, 0.5, (3, len(quality)))), 1, 5)
    scores = judge(people, quality)
    return [
        {"doc": place // systems, "system": f"s{place % systems}", "judge": scores[place]}
        | dict(zip(RATERS, people[:, place], strict=True))
        for place in range(len(quality))
    ]


def cautions_of(rows: list[dict[str, object]]) -> str:
    return str(
        geval.measure(rows, human=RATERS, judge="judge", document="doc", system="system",
                      scale=(1, 5))
    )  # fmt: skip


def changed_once(people: np.ndarray, _quality: np.ndarray) -> np.ndarray:
    scores = people[1].copy()
    scores[0] = 6 - scores[0] if scores[0] != 3 else 4
    return scores


@pytest.mark.parametrize(
    ("judge", "whose"),
    [
        (lambda people, _quality: people[1], "the ratings of bob"),
        (lambda people, _quality: people.mean(0), "people's mean ratings"),
        (changed_once, None),
        (lambda people, _quality: np.round(people.mean(0)), None),
        (lambda _people, quality: np.clip(np.round(quality), 1, 5), None),
    ],
)
def test_scores_that_are_ratings_are_questioned(
    judge: Callable[[np.ndarray, np.ndarray], np.ndarray], whose: str | None
) -> None:
    text = cautions_of(table(judge))

    assert ("If they were copied" in text) is (whose is not None)
    assert whose is None or whose in text


@pytest.mark.parametrize(("systems", "is_said"), [(1, True), (3, False)])
def test_one_output_for_each_document_shows_no_reading(systems: int, *, is_said: bool) -> None:
    rows = table(lambda _people, quality: np.clip(np.round(quality), 1, 5), systems=systems)

    assert ("reads only the source" in cautions_of(rows)) is is_said


def test_a_copy_of_an_experts_pass_or_fail_is_questioned() -> None:
    rows = [
        {"id": number, "human": verdict, "judge": verdict}
        for number, verdict in enumerate(["pass", "fail", "pass"] * 20)
    ]

    same = str(geval.measure(rows))
    other = str(geval.measure([*rows[1:], rows[0] | {"judge": "fail"}]))

    assert "Its scores are the ratings of human on every output" in same
    assert "If they were copied" not in other
