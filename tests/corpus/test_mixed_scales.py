"""Ratings on two scales under one name are asked about before anything is loaded: the rows of one
of them, and how to go on. Ratings on one scale are not, however they are spread."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.corpus.store import LoadError, LoadResult
from evaluations.models import Project
from geval.files.questions import wider_scales
from geval.statistics.scales import Scale, guess_scale, narrower_scale, parted_guess

OUTPUTS = "\n".join(
    json.dumps({"doc_id": f"d{n}", "system_id": "bot", "source": f"Text {n}.", "output": "x"})
    for n in range(60)
)


OTHERS = ("zoe", "yan", "xia")


def ratings_file(values: list[float], raters: Sequence[str] = ("ann", "bob", "eve")) -> str:
    """A rating of each value, three raters an output."""
    rows = (f"d{at // 3},bot,quality,{raters[at % 3]},{value!r}" for at, value in enumerate(values))
    return "doc_id,system_id,criterion,annotator,score\n" + "\n".join(rows)


def counted(values: list[float]) -> dict[float, int]:
    return {value: values.count(value) for value in values}


def half_and_half(rng: random.Random) -> list[float]:
    """The first half on 0-1, the second on 0-100."""
    return [round(rng.random(), 2) for _ in range(60)] + [
        float(rng.randint(0, 100)) for _ in range(60)
    ]


MIXED: dict[str, tuple[Callable[[random.Random], list[float]], int]] = {
    "shares and whole points of 100": (half_and_half, 1),
    "shares and parts of 100": (
        lambda rng: [rng.random() for _ in range(50)] + [100 * rng.random() for _ in range(50)],
        1,
    ),
    "passes and points of 100": (
        lambda rng: (
            [float(rng.randint(0, 1)) for _ in range(60)]
            + [float(rng.randint(0, 100)) for _ in range(60)]
        ),
        1,
    ),
    "shares and points of 10": (
        lambda rng: (
            [round(rng.random(), 2) for _ in range(60)]
            + [float(rng.randint(0, 10)) for _ in range(60)]
        ),
        1,
    ),
    "shares and points of 5": (
        lambda rng: (
            [round(rng.random(), 2) for _ in range(60)]
            + [float(rng.randint(1, 5)) for _ in range(60)]
        ),
        1,
    ),
    "points of 5 and of 100": (
        lambda rng: (
            [float(rng.randint(1, 5)) for _ in range(60)]
            + [float(rng.randint(0, 100)) for _ in range(60)]
        ),
        5,
    ),
    "a third of points of 10 and those of 100": (
        lambda rng: (
            [float(rng.randint(1, 10)) for _ in range(60)]
            + [float(rng.randint(35, 100)) for _ in range(120)]
        ),
        10,
    ),
}
ONE_SCALE: dict[str, Callable[[random.Random], list[float]]] = {
    "whole points of 100": lambda rng: [float(rng.randint(0, 100)) for _ in range(200)],
    "parts of 100": lambda rng: [100 * rng.random() for _ in range(200)],
    "tens of 100": lambda rng: [10.0 * rng.randint(0, 10) for _ in range(200)],
    "mostly 0, else up to 100": lambda rng: [
        0.0 if rng.random() < 0.6 else float(rng.randint(1, 100)) for _ in range(200)
    ],
    "the ends of 100": lambda rng: [
        rng.choice((0.0, 5.0, 10.0, 15.0, 20.0, 80.0, 90.0, 95.0, 100.0)) for _ in range(200)
    ],
    "small numbers of errors": lambda rng: [
        float(min(30, int(rng.expovariate(0.7)))) for _ in range(200)
    ],
    "shares alone": lambda rng: [rng.random() for _ in range(200)],
    "half points of 10": lambda rng: [rng.randint(0, 20) / 2 for _ in range(200)],
    "quarter points of 5": lambda rng: [rng.randint(0, 20) / 4 for _ in range(200)],
    "means of three ratings of 1 to 5": lambda rng: [rng.randint(3, 15) / 3 for _ in range(200)],
    "points of 10, most of them low": lambda rng: [
        float(min(10, 1 + int(rng.expovariate(0.5)))) for _ in range(200)
    ],
    "both signs": lambda rng: [rng.uniform(-100, 100) for _ in range(200)],
}


@pytest.mark.parametrize(("values", "highest"), MIXED.values(), ids=MIXED)
def test_two_scales_are_seen(values: Callable[[random.Random], list[float]], highest: int) -> None:
    for seed in range(5):
        guess = guess_scale(counted(values(random.Random(seed))))

        assert (guess.is_mixed, guess.scale.highest) == (True, highest), seed
        assert not any(guess.scale.holds(value) for value in guess.off)


@pytest.mark.parametrize("values", ONE_SCALE.values(), ids=ONE_SCALE)
def test_one_scale_is_not_taken_for_two(values: Callable[[random.Random], list[float]]) -> None:
    for seed in range(12):
        assert narrower_scale(counted(values(random.Random(seed)))) is None, seed


@pytest.mark.django_db
def test_a_load_of_two_scales_says_which_rows_and_what_to_do(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    values = half_and_half(random.Random(1))
    file = {"outputs.jsonl": OUTPUTS, "ratings.csv": ratings_file(values)}

    with pytest.raises(LoadError) as error:
        load(project, file)

    others = [line for line, value in enumerate(values, start=2) if value > 1]
    assert [one.line for one in error.value.errors] == others
    message = str(error.value.errors[0])
    assert message.startswith(
        f"ratings.csv:{others[0]}: score: {values[others[0] - 2]:g} is on another scale"
    )
    assert f"{len(values) - len(others)} ratings of quality that seem" in message
    assert "on 0-1;" in message
    assert "confirm that the scale is 0-100" in message
    assert not project.criteria.exists()


@pytest.mark.django_db
def test_a_scale_that_is_confirmed_holds_for_all(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    file = {
        "outputs.jsonl": OUTPUTS,
        "ratings.csv": ratings_file(half_and_half(random.Random(1))),
    }

    loaded = load(project, file, scales={"quality": (0, 100, 1)})

    assert loaded.ratings.created == 120


@pytest.mark.django_db
def test_the_page_asks_and_goes_on_with_the_scale_that_is_set(
    project: Project, owner: User, client: Client, load: Callable[..., LoadResult], tmp_path: Path
) -> None:
    load(project, {"outputs.jsonl": OUTPUTS})
    client.force_login(owner)
    path = tmp_path / "table.csv"
    path.write_text(ratings_file(half_and_half(random.Random(1))))
    with path.open("rb") as upload:
        answer = client.post("/p/small/data/upload/", {"files": upload}, follow=True)
    address = answer.redirect_chain[-1][0]

    assert "seem to be on 0-1" in client.get(address).content.decode()

    client.post(f"{address}scales/", {"scale-0": "0-100"})
    content = client.get(address).content.decode()
    assert "seem to be on 0-1" not in content
    assert "0-100" in content


@pytest.fixture
def on_100(project: Project, load: Callable[..., LoadResult]) -> Project:
    """A project whose ratings are on 0-100."""
    rng = random.Random(4)
    values = [0.0, 100.0, *(float(rng.randint(0, 100)) for _ in range(58))]
    files = {"outputs.jsonl": OUTPUTS, "first.csv": ratings_file(values)}
    load(project, files, scales={"quality": (0, 100, 1)})
    return project


def shares() -> str:
    rng = random.Random(5)
    return ratings_file([round(rng.uniform(0.05, 0.95), 2) for _ in range(60)], OTHERS)


@pytest.mark.django_db
def test_a_second_load_on_another_scale_than_the_first_is_asked_about(
    on_100: Project, load: Callable[..., LoadResult]
) -> None:
    second = shares()

    with pytest.raises(LoadError) as error:
        load(on_100, {"second.csv": second})

    assert error.value.total == 60
    message = error.value.errors[0].message
    assert "seems to be on 0-1," in message
    assert "ratings of quality are on 0-100" in message
    assert "confirm that it is on 0-100" in message
    assert wider_scales(error.value.contents) == ["quality=0-100"]
    assert (
        load(on_100, {"second.csv": second}, scales={"quality": (0, 100, 1)}).ratings.created == 60
    )


@pytest.mark.django_db
def test_more_ratings_on_the_same_scale_and_the_same_ones_again_are_loaded(
    on_100: Project, load: Callable[..., LoadResult]
) -> None:
    rng = random.Random(6)
    more = ratings_file([float(rng.randint(0, 100)) for _ in range(60)], raters=OTHERS)

    assert load(on_100, {"more.csv": more}).ratings.created == 60
    assert not load(on_100, {"more.csv": more}).changed


def scores_file(values: list[float], judge: str = "J", criterion: str = "quality") -> str:
    rows = (f"d{at},bot,{criterion},{judge},{value!r}" for at, value in enumerate(values))
    return "doc_id,system_id,criterion,judge,score\n" + "\n".join(rows)


def half_and_half_of_scores() -> list[float]:
    rng = random.Random(7)
    shares = [round(rng.uniform(0.05, 0.95), 2) for _ in range(30)]
    return shares + [float(rng.randint(2, 100)) for _ in range(30)]


@pytest.fixture
def on_5(project: Project, load: Callable[..., LoadResult]) -> Project:
    """A project whose ratings are on 1-5."""
    rng = random.Random(8)
    values = [1.0, 5.0, *(float(rng.randint(1, 5)) for _ in range(58))]
    load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": ratings_file(values)})
    return project


@pytest.mark.django_db
def test_scores_of_one_judge_on_two_scales_are_asked_about(
    on_5: Project, load: Callable[..., LoadResult]
) -> None:
    values = half_and_half_of_scores()

    with pytest.raises(LoadError) as error:
        load(on_5, {"scores.csv": scores_file(values)})

    assert error.value.total == 30
    first = error.value.errors[0]
    assert (first.line, first.column) == (32, "score")
    assert first.message.startswith(f"{values[30]:g} is on another scale")
    assert "other scores of J on quality" in first.message
    assert "on 0-1;" in first.message
    assert "confirm that it is 0-100" in first.message
    assert wider_scales(error.value.contents) == ["J on quality=0-100"]
    assert not on_5.judges.exists()


@pytest.mark.django_db
def test_scores_whose_scale_is_confirmed_are_loaded_and_the_criterion_keeps_its_own(
    on_5: Project, load: Callable[..., LoadResult]
) -> None:
    file = {"scores.csv": scores_file(half_and_half_of_scores())}

    loaded = load(on_5, file, scales={"J on quality": (0, 100, 1)})

    assert loaded.scores.created == 60
    assert str(on_5.criteria.get().scale) == "1-5"
    assert not load(on_5, file).changed


@pytest.mark.django_db
def test_more_scores_of_a_judge_on_another_scale_are_asked_about(
    on_5: Project, load: Callable[..., LoadResult]
) -> None:
    values = half_and_half_of_scores()
    load(on_5, {"first.csv": scores_file(values[:30])})

    with pytest.raises(LoadError) as error:
        load(on_5, {"second.csv": later(values)})

    assert error.value.total == 30
    assert "the other scores of J" in error.value.errors[0].message


def later(values: list[float]) -> str:
    """The second half of some scores, of the later documents."""
    lines = scores_file(values).splitlines()
    return "\n".join([lines[0], *lines[31:]])


@pytest.mark.django_db
def test_judges_that_each_keep_to_a_scale_of_their_own_are_loaded(
    on_5: Project, load: Callable[..., LoadResult]
) -> None:
    values = half_and_half_of_scores()
    shares, points = scores_file(values[:30], "A"), scores_file(values[30:], "B")
    metric = scores_file(values[:30], "rouge", criterion="")

    loaded = load(on_5, {"a.csv": shares, "b.csv": points, "c.csv": metric})

    assert loaded.scores.created == 90


@pytest.mark.parametrize(
    ("value", "is_stray"), [(400, True), (9.1, True), (8.9, False), (5.3, False), (-3.1, True)]
)
def test_a_score_far_off_the_scale_is_a_stray(value: float, *, is_stray: bool) -> None:
    counts = {1.5: 30, 2.25: 30, 3.5: 40, 4.75: 30, value: 1}

    guess = parted_guess(counts, Scale(1, 5))

    assert (guess is not None and guess.off == (value,)) is is_stray
