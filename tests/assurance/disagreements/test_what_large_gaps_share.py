"""What large gaps have in common is said in words: a system, a word of the sources, a length, or
why nothing is said."""

from collections.abc import Callable

import numpy as np
import pytest

from assurance.disagreements.numbers import project_patterns, topic_words
from evaluations.models import Criterion, Judge, Project
from evaluations.reports.serving.live import live_data
from geval.reports.gap_numbers import Patterns, documents_read, length_drawing
from geval.reports.gaps import Gaps, gaps_of
from geval.statistics.arrays import Outputs
from geval.statistics.large_gaps import Cluster
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
Load = Callable[..., object]
DOCUMENTS, SYSTEMS = 30, 5


def filled(
    project: Project, load: Load, gap: Callable[[int, int], float], *, words: str = ""
) -> None:
    """Ratings, mostly of 3, and scores that differ by `gap(document, system)`; the sources of the
    first eight documents have `words`, and outputs of system 4 are short."""
    rng = np.random.default_rng(0)
    outputs, ratings, scores = [], [], []
    for number in range(DOCUMENTS):
        for system in range(SYSTEMS):
            text = "Short." if system == 4 else " ".join(["word"] * int(rng.integers(20, 40)))
            topic = words if number < 8 else "harbour"
            outputs.append(
                f'{{"doc_id": "d{number:02}", "system_id": "s{system}", "source": "The {topic}'
                f' about and with.", "output": "{text}"}}'
            )
            name = f"d{number:02},s{system},coherence"
            human = {(20, 0): 2, (20, 1): 5}.get((number, system), 3)  # the scale is from 1 to 5
            ratings.append(f"{name},ann,{human}\n")
            small = float(rng.uniform(-0.3, 0.3) * (human == 3))
            scores.append(f"{name},judge,{human + gap(number, system) + small}\n")
    load(project, files_of(outputs, ratings, scores))


def said(project: Project, *, by: str = "gap") -> Patterns:
    criterion, judge = Criterion.objects.get(), Judge.objects.get()
    data = live_data(project)
    gaps = gaps_of(data, criterion, judge.pk, by=by)
    return project_patterns(project, data, gaps, criterion.pk)


def test_a_system_is_named_with_its_gap_and_that_of_the_others(
    project: Project, load: Load
) -> None:
    filled(project, load, lambda _number, system: -1.5 if system == 4 else 0.0)

    found = said(project)

    system = project.systems.get(name="s4")
    assert found.found[0].title.startswith("15 of the 15 largest")
    assert found.found[0].title.endswith(" by s4")
    assert "The judge gives s4 1.5" in found.found[0].text
    assert "the other 4 systems 0.0" in found.found[0].text
    assert found.found[0].system == system.pk
    assert "Shorter outputs have the large gaps" in [one.title for one in found.found]
    assert found.by_length is not None
    assert found.by_length.rows[0].gap.startswith("−")


def test_a_word_of_the_sources_is_named(project: Project, load: Load) -> None:
    filled(
        project,
        load,
        lambda number, system: 1.5 * (number < 8 and (system - number) % 5 in (0, 2)),
        words="cricket",
    )

    titles = [one.title for one in said(project).found]

    (title,) = titles
    assert title.startswith("“cricket” is in the sources")
    assert "of 8 of 8 documents" in title


def test_a_constant_shift_makes_no_pattern(project: Project, load: Load) -> None:
    filled(project, load, lambda _number, _system: -1.0)

    found = said(project, by="shifted")

    assert found.found == ()
    assert found.large == 15


def test_few_outputs_say_why_nothing_is_looked_for(small_project: Project, load: Load) -> None:
    criterion = small_project.criteria.get(name="coherence")
    load(
        small_project,
        {"s.csv": "doc_id,system_id,criterion,judge,score\nd1,good,coherence,judge,3\n"},
    )
    data = live_data(small_project)
    gaps = gaps_of(data, criterion, Judge.objects.get().pk, by="gap")

    found = project_patterns(small_project, data, gaps, criterion.pk)

    assert "from 40 outputs" in found.why_not
    assert "there are 1." in found.why_not


def test_equal_gaps_stand_out_nowhere(project: Project, load: Load) -> None:
    filled(project, load, lambda _number, _system: 0.0)
    Judge.objects.get().runs.get().scores.update(value=4.0)

    assert "No gaps stand out" in said(project).why_not


def test_common_words_short_words_and_rare_words_are_no_topics(
    project: Project, load: Load
) -> None:
    filled(project, load, lambda _number, _system: 0.0, words="cricket")
    ids = list(project.documents.values_list("pk", flat=True))

    found = topic_words(project, ids)

    assert set(found) == {"cricket"}
    assert found["cricket"] == frozenset(ids[:8])


def test_all_documents_with_a_large_gap_are_read_and_some_others() -> None:
    large, others = np.array([3, 5000]), np.arange(10_000, 20_000)

    read = documents_read(large, others)

    assert set(large) <= set(read)
    assert 200 <= len(read) <= 302


@pytest.mark.parametrize(
    ("gap", "title"),
    [
        (lambda words: words / 40 - 1, "The shorter the output, the lower the judge"),
        (lambda words: -words / 40, "The longer the output, the lower the judge"),
        (lambda words: np.abs(words - 25) / 10, "The gap by length"),
    ],
)
def test_the_drawing_is_titled_by_a_trend_from_each_length_to_the_next(
    gap: Callable[[np.ndarray], np.ndarray], title: str
) -> None:
    words = np.arange(50.0)
    values = gap(words)
    nothing = np.zeros(50)
    outputs = Outputs.full(50, 1)
    gaps = Gaps(outputs, np.arange(50), nothing, nothing, values, np.abs(values), None, False)
    found = Cluster("length", "", 5, 10, 30, 50, 0.001)

    drawing = length_drawing(gaps, words, (found,))

    assert drawing is not None
    assert drawing.title == title
