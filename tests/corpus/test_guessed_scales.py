"""A scale that was guessed from ratings is a guess until somebody confirms it."""

from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadError, LoadResult
from evaluations.judging.judges.criteria import change_criterion
from evaluations.models import Criterion, Project
from geval.statistics.scales import FEW, guess_scale, likely_scale
from tests.corpus.small_files import jsonl, rated, table, texts

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]


def files(scores: list[int], count: int = 40) -> dict[str, str]:
    rows = rated(scores)[: len(scores)]
    return {"o.jsonl": jsonl(texts(count)), "r.csv": table(rows)}


def later(score: int) -> dict[str, str]:
    row = rated([score])[0] | {"annotator": "ben"}
    return {"later.csv": table([row])}


@pytest.fixture
def guessed(project: Project, load: Load) -> Criterion:
    load(project, files([1, 2, 3, 4] * 6))
    criterion = project.criteria.get()
    assert (str(criterion.scale), criterion.scale_is_guess) == ("1-4", True)
    return criterion


def test_rating_outside_a_guess_is_asked_about(
    project: Project, load: Load, guessed: Criterion
) -> None:
    with pytest.raises(LoadError, match="1 error") as raised:
        load(project, later(5))

    (error,) = raised.value.errors
    assert "guessed from its first ratings" in error.message
    assert raised.value.contents is not None
    assert raised.value.contents.criteria[0].off == (5,)


def test_confirmed_scale_replaces_a_guess(project: Project, load: Load, guessed: Criterion) -> None:
    load(project, later(5), scales={"quality": (1, 5, 1)})

    guessed.refresh_from_db()
    assert (str(guessed.scale), guessed.scale_is_guess) == ("1-5", False)


def test_scale_that_somebody_set_stays(project: Project, load: Load, guessed: Criterion) -> None:
    change_criterion(guessed, {"scale_max": 4})

    with pytest.raises(LoadError) as raised:
        load(project, later(5), scales={"quality": (1, 5, 1)})

    assert any("exists with the scale 1-4" in error.message for error in raised.value.errors)


@pytest.mark.parametrize(("count", "scale"), [(FEW - 1, "1-5"), (FEW, "1-4"), (FEW + 1, "1-4")])
def test_few_ratings_show_no_scale_of_four_points(count: int, scale: str) -> None:
    counts = {1: 1, 4: 1, 2: count - 2}

    assert str(likely_scale(counts)) == scale


@pytest.mark.parametrize(
    ("counts", "off"),
    [
        ({-1: 13, 1: 20, 2: 20, 3: 20, 4: 20, 5: 7}, (-1,)),
        ({-99: 40, 1: 20, 2: 20, 3: 20, 4: 20, 5: 7}, (-99,)),
        ({9: 13, 1: 20, 2: 20, 3: 20, 4: 20, 5: 7}, (9,)),
        ({-2: 13, -1: 20, 0: 20, 1: 20, 2: 20}, ()),
        ({-1: 30, 0: 30, 1: 40}, ()),
        ({9: 13, 8: 20, 7: 20, 1: 20, 4: 20, 5: 7}, ()),
        ({99: 13, 90: 20, 70: 20, 15: 20, 40: 20}, ()),
    ],
)
def test_code_for_missing_ratings_is_off_the_scale(
    counts: dict[float, int], off: tuple[float, ...]
) -> None:
    assert guess_scale(counts).off == off
