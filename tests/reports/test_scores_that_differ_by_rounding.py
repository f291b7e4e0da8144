"""Numbers that are equal as fractions and differ in their last bits as floats are ties, whoever
computed them: in ratings, in imported scores, and when a file is loaded again."""

import json
import random
from collections.abc import Callable

import numpy as np
import pytest

from evaluations.corpus.store import LoadError, LoadResult
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.downloads.report_json import as_json
from geval.statistics.types import tie_close_values

pytestmark = pytest.mark.django_db
DOCUMENTS, SYSTEMS = 12, 4


def files(*, jitter: float = 0.0, factor: float = 1.0) -> dict[str, str]:
    """Outputs with ratings and scores, which `jitter` moves a little, each by another amount."""
    rng, noise = random.Random(1), random.Random(2)
    outputs = ["doc_id,system_id,source,output"]
    ratings = ["doc_id,system_id,criterion,annotator,score"]
    scores = ["doc_id,system_id,criterion,judge,score"]

    def moved(value: float) -> str:
        return repr(factor * value + jitter * noise.choice((-1, 0, 1)))

    for document in range(DOCUMENTS):
        for system in range(SYSTEMS):
            key = f"d{document},s{system}"
            outputs.append(f"{key},Text {document}.,Output {system}.")
            for rater in ("ann", "bob", "eve"):
                ratings.append(f"{key},quality,{rater},{moved(rng.randint(1, 5))}")
            scores.append(f"{key},quality,metric,{moved(rng.randint(1, 5))}")
    tables = {"outputs.csv": outputs, "ratings.csv": ratings, "scores.csv": scores}
    return {name: "\n".join(lines) for name, lines in tables.items()}


def numbers(project: Project) -> object:
    return json.loads(as_json(build_report(project)))["criteria"]


def test_a_report_of_moved_numbers_is_the_report(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(project, files())
    other = Project.objects.create(name="Other", slug="other")

    load(other, files(jitter=1e-13))

    assert numbers(other) == numbers(project)


def test_a_file_whose_numbers_moved_loads_again_unchanged(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(project, files())

    assert not load(project, files(jitter=1e-13)).changed


def test_a_rating_that_exceeds_its_scale_by_rounding_is_on_it(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(project, files())
    row = "d0,s0,quality,zoe,5.0000000000000009"
    load(project, {"r.csv": f"doc_id,system_id,criterion,annotator,score\n{row}"})

    criterion = project.criteria.get()
    assert (criterion.scale_min, criterion.scale_max) == (1, 5)


def test_scores_that_differ_by_more_still_contradict(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(project, files())

    with pytest.raises(LoadError, match="nothing was loaded"):
        load(project, files(jitter=1e-6))


def test_tiny_scores_keep_their_order() -> None:
    likelihoods = np.array([3e-14, 1e-14, 2e-14, np.nan])

    assert np.argsort(tie_close_values(likelihoods)).tolist() == [1, 2, 0, 3]
    assert np.isnan(tie_close_values(likelihoods)[3])


@pytest.mark.parametrize(("apart", "ties"), [(0.9e-9, 1), (1.1e-9, 2)])
@pytest.mark.parametrize("size", [1e-300, 1e-16, 1.0, 1e9])
def test_scores_are_a_tie_where_they_differ_by_less_than_a_billionth_of_each(
    apart: float, ties: int, size: float
) -> None:
    values = np.array([size, 1e12, size * (1 + apart), 0.0, -size])

    found = tie_close_values(values)

    assert len(np.unique(found[[0, 2]])) == ties
    assert len(np.unique(found)) == ties + 3
