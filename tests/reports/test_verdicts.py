"""What a report says a judge may do: on SummEval, on noise, for a perfect judge, and in every
view."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluations.corpus.store import LoadResult, load_files
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.files.readers import InputFile
from geval.reports.options import ReportOptions
from geval.reports.report import CriterionResult
from geval.reports.verdicts.null_judges import NullDraw, NullJudge
from geval.reports.verdicts.verdict import Evidence, Verdict, verdict_of
from geval.reports.words import headline, in_a_sentence, reading
from geval.statistics.agreement import BehindARater
from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate
from tests.reports.test_best_judge import FAIR, OUTPUTS, QUALITY, rated, scored

Load = Callable[..., LoadResult]
RNG = np.random.default_rng(11)


def evidence(**changes: object) -> Evidence:
    """A judge as good as a rater, with changes."""
    usual = {
        "outputs": 100, "raters": 3, "correlation": Estimate(0.66),
        "interval": Interval(0.61, 0.71), "ceiling": Estimate(0.65),
        "ceiling_interval": Interval(0.6, 0.7), "in_place": Estimate(0.62), "passes": True,
        "behind": BehindARater(-0.03, 0.03, 99), "p_nearer": 0.001, "alpha": Estimate(0.6),
    }  # fmt: skip
    return Evidence(**(usual | changes))  # type: ignore[arg-type]


FAR = BehindARater(-0.3, 0.03, 99)


def by_length(ahead: Interval) -> NullJudge:
    draw = NullDraw(Estimate(0.5), Interval(0.4, 0.6), 0.0, False, Estimate(0.5), ahead=ahead)
    return NullJudge("length", (draw,))


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "stands"),
        ({"passes": False}, "spot"),
        ({"on_scale": False, "passes": False, "untested": "another scale"}, "spot"),
        ({"behind": BehindARater(-0.06, 0.03, 99)}, "spot"),  # too wide to tell
        ({"behind": BehindARater(-0.06, 0.02, 99)}, "stands"),
        ({"behind": BehindARater(-0.06, 0.02, 99), "compared": 30}, "spot"),  # the best of many
        ({"behind": FAR, "passes": False}, "keep"),
        ({"behind": FAR, "in_place": Estimate(0.2)}, "keep"),  # under half
        ({"p_nearer": 0.05}, "stands"),
        ({"p_nearer": 0.051}, "spot"),  # a constant is as near
        ({"p_nearer": 0.05, "compared": 2}, "spot"),
        ({"p_nearer": None}, "spot"),
        ({"alpha": Estimate(0.2)}, "stands"),
        ({"alpha": Estimate(0.199)}, "unreliable"),
        ({"nulls": (by_length(Interval(0.01, 0.2)),)}, "stands"),
        ({"nulls": (by_length(Interval(-0.01, 0.2)),)}, "spot"),  # may rank as well
        ({"interval": Interval(-0.1, 0.9)}, "keep"),
        ({"ceiling": Estimate(0.05), "ceiling_interval": Interval(-0.1, 0.2)}, "keep"),
        ({"outputs": 29}, "early"),
        ({"raters": 2}, "early"),
        ({"interval": Interval(None, None, "too few documents")}, "early"),
        ({"untested": "3 annotators with 30 outputs each are needed", "passes": False}, "early"),
        ({"ceiling": Estimate(None, "nobody rated twice")}, "early"),
        # Without a single error nothing varies, so there is no interval.
        ({"correlation": Estimate(1.0), "interval": Interval(None, None)}, "stands"),
    ],
)
def test_the_verdict_follows_from_two_checks(changes: dict[str, object], verdict: str) -> None:
    assert verdict_of(evidence(**changes)) == verdict


def criteria(project: Project, **options: object) -> tuple[CriterionResult, ...]:
    return build_report(project, options=ReportOptions(**options)).criteria  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.django_db
def test_on_summeval_no_criterion_can_be_left_to_a_judge(
    project: Project, benchmarks: Path
) -> None:
    folder = benchmarks / "summeval"
    load_files(project, [InputFile(path, path.name) for path in sorted(folder.iterdir())])

    found = criteria(project)

    assert {one.criterion: (one.verdict, one.best and one.best.judge) for one in found} == {
        "coherence": (Verdict.SPOT_CHECKS, "gpt-4o"),
        "consistency": (Verdict.KEEP_PEOPLE, "gpt-4o"),
        "fluency": (Verdict.KEEP_PEOPLE, "gpt-4o"),
        "relevance": (Verdict.KEEP_PEOPLE, "gpt-4o-mini"),
    }
    assert headline(found) == (
        "Coherence: gpt-4o with spot checks.",
        "Consistency, fluency, relevance: people must keep rating.",
    )
    assert "rate 62 of its new outputs" in reading(found[0])
    assert "chosen of 9 judges" in reading(found[0])
    # A constant is as near to raters as the best judge of relevance, and passes their test.
    assert "always the same score" in reading(found[3])
    assert "judge that reads nothing does too" in in_a_sentence(found[3])
    assert "of what one rater reaches" in reading(found[1])


@pytest.mark.django_db
def test_noise_keeps_people_rating(project: Project, load: Load) -> None:
    noise = RNG.integers(1, 6, FAIR.shape).astype(float)
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"random": noise})})

    (found,) = criteria(project)

    assert found.verdict == Verdict.KEEP_PEOPLE
    assert reading(found).startswith("No judge is shown to rank")


@pytest.mark.django_db
def test_people_who_do_not_agree_are_not_replaced_even_by_a_judge_that_knows_their_mean(
    project: Project, load: Load
) -> None:
    given = {name: RNG.integers(1, 6, FAIR.shape).astype(float) for name in ("ann", "bob", "cas")}
    people = "\n".join(
        line for name, points in given.items() for line in scored({name: points}).splitlines()[1:]
    )
    header = "doc_id,system_id,criterion,annotator,score\n"
    mean = np.mean(list(given.values()), axis=0)
    load(project, {"o.jsonl": OUTPUTS, "r.csv": header + people, "s.csv": scored({"it": mean})})

    (found,) = criteria(project)

    assert found.verdict == Verdict.NO_MEASURE
    assert "rate again" in reading(found)
    assert found.best is not None
    # Nobody is left for the annotator test.
    untested = found.evidence(found.best).untested
    assert "not shown to agree" in untested
    assert "the others: ann, bob, cas" in untested


@pytest.mark.django_db
def test_a_perfect_judge_stands_in_for_a_rater_at_every_level(project: Project, load: Load) -> None:
    perfect = np.clip(3 + QUALITY, 1, 5)
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"it": perfect})})

    assert criteria(project)[0].verdict == Verdict.STANDS_IN
    assert criteria(project, level="dataset")[0].verdict == Verdict.STANDS_IN


@pytest.mark.django_db
def test_the_best_judge_and_the_sentence_follow_the_view(project: Project, load: Load) -> None:
    means = np.broadcast_to(QUALITY.mean(axis=1, keepdims=True), QUALITY.shape)
    of_documents = np.clip(3 + means + RNG.normal(0, 0.05, means.shape), 1, 5)
    within = np.clip(3 + 0.3 * (QUALITY - means) + 3 * RNG.normal(0, 1, (40, 1)), 1, 5)
    judges = {"of documents": of_documents, "within": within}
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored(judges)})

    summary, dataset = criteria(project)[0], criteria(project, level="dataset")[0]

    assert summary.best is not None
    assert dataset.best is not None
    assert (summary.best.judge, dataset.best.judge) == ("within", "of documents")
    assert "how to rank a document's outputs (rho" in in_a_sentence(summary)
    assert "how to rank all outputs (rho" in in_a_sentence(dataset)
    assert "r = " in in_a_sentence(criteria(project, level="dataset", coefficient="pearson")[0])
    assert summary.ceiling.value != dataset.ceiling.value
