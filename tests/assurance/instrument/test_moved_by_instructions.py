"""How far an instruction in the output moves a judge stands beside its correlation, and can be
required of a certificate."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assurance.certifying.certificates import certify, read_requirements, what_changed
from assurance.instrument.asking import record_part
from assurance.instrument.sensitivity import instructed_judges
from assurance.instrument.studies import PARTS, make_study
from evaluations.judging.runs.lifecycle import current_prompt, evaluator_for
from evaluations.models import (
    Certificate,
    Criterion,
    EvaluationRun,
    Judge,
    Project,
    RunState,
    ShareLink,
    Study,
    StudyKind,
    StudyPart,
)
from evaluations.models.changes import note_change, state_of
from evaluations.models.tokens import digest_of
from evaluations.projects.archive.read import read_archive
from evaluations.reports.report import build_report
from geval.evaluators.perturbing import INSTRUCTED
from geval.reports.downloads.report_json import as_json
from geval.reports.requirements import RequirementError
from tests.archive.test_round_trip import archived
from tests.strict_judge import criterion, judge, rated_project

__all__ = ["criterion", "judge", "rated_project"]
pytestmark = pytest.mark.django_db
NAMES = PARTS[StudyKind.PROBES]


@pytest.fixture
def asked(judge: Judge) -> Judge:
    """A judge that asks a model, with the scores that were imported for it."""
    Judge.objects.filter(name__in=["today", "noise"]).update(kind="geval", model="m", settings={})
    judge.refresh_from_db()
    return judge


def probe(judge: Judge, criterion: Criterion, moves: float, *, spread: float = 0.1) -> Study:
    """Probes that were all asked: an instruction moves scores by so much, on average."""
    study = make_study(judge, criterion, StudyKind.PROBES, items=100)
    rng = np.random.default_rng(7)
    for item in study.items.all():
        base = rng.normal(3, 1)
        item.scores = [base for _ in NAMES]
        item.scores[NAMES.index(INSTRUCTED)] += rng.normal(moves, spread)
        item.save()
    StudyPart.objects.bulk_create(
        StudyPart(
            study=study,
            number=at + 1,
            name=name,
            recorded_at=timezone.now(),
            run=EvaluationRun.objects.create(
                project=judge.project, judge=judge, state=RunState.DONE, purpose=StudyKind.PROBES
            ),
        )
        for at, name in enumerate(NAMES)
    )
    _steps, prompt = current_prompt(evaluator_for(judge), criterion, use_steps=judge.use_steps)
    Study.objects.filter(pk=study.pk).update(is_on=False, prompt=prompt)
    note_change(judge.project_id, [criterion.pk], judge=judge.pk)
    return study


def words_of(project: Project, client: Client) -> str:
    page = client.get(reverse("evaluations:report_numbers", args=[project.slug]))
    return " ".join(page.content.decode().split())


def judges_json(project: Project) -> dict[str, Any]:
    return json.loads(as_json(build_report(project)))["criteria"]["quality"]["judges"]


def outcome(judge: Judge, criterion: Criterion, *texts: str) -> list[tuple[str, str]]:
    certificate = certify(judge, criterion, read_requirements(texts))
    return [(entry["outcome"], entry["reason"]) for entry in certificate.content["requirements"]]


def test_the_report_says_beside_rho_how_far_an_instruction_moves_each_judge(
    asked: Judge, criterion: Criterion, as_role: Callable[[str], Client]
) -> None:
    client = as_role("viewer")
    assert '<span class="llm">today</span> not probed' in words_of(asked.project, client)

    probe(asked, criterion, 0.8)

    page = words_of(asked.project, client)
    assert re.search(r'<span class="llm">today</span> \+0\.(79|80|81) \[0\.', page)
    # Imported scores: no text can address them here.
    row = page.partition("Moved by an instruction in the output")[2].partition("</section>")[0]
    assert '<span class="llm">second</span>' not in row


def test_programs_read_it_with_its_interval(asked: Judge, criterion: Criterion) -> None:
    before = judges_json(asked.project)
    probe(asked, criterion, -0.5)

    judges = judges_json(asked.project)

    assert [before[name]["instructed"] for name in ("today", "noise")] == [None, None]
    assert "instructed" not in judges["second"]
    instructed = judges["today"]["instructed"]
    low, high = instructed["ci"]
    assert low < instructed["value"] < high < 0
    assert instructed["is_found"]
    assert instructed["documents"] == 50


def test_reports_are_computed_again_when_probes_end(asked: Judge, criterion: Criterion) -> None:
    study = make_study(asked, criterion, StudyKind.PROBES, items=20)
    for number, name in enumerate(NAMES, start=1):
        StudyPart.objects.create(study=study, number=number, name=name)
        before = state_of(asked.project_id)
        assert record_part(study.pk)
        changed = state_of(asked.project_id) != before
        assert changed == (number == len(NAMES))


@pytest.mark.parametrize(
    ("moves", "expected"), [(0.02, "met"), (0.8, "not met"), (-0.8, "not met")]
)
def test_a_certificate_may_require_that_instructions_hardly_move_the_judge(
    asked: Judge, criterion: Criterion, moves: float, expected: str
) -> None:
    probe(asked, criterion, moves)

    assert outcome(asked, criterion, "instruction.most<=0.25")[0][0] == expected


def test_an_interval_across_the_bound_asks_for_more_documents(
    asked: Judge, criterion: Criterion
) -> None:
    probe(asked, criterion, 0.2, spread=1)
    instructed = instructed_judges(asked.project)[asked.pk, criterion.pk]
    assert instructed.estimate is not None
    assert instructed.most is not None
    bound = (instructed.estimate + instructed.most) / 2

    certificate = certify(asked, criterion, read_requirements([f"instruction.most<={bound}"]))

    (entry,) = certificate.content["requirements"]
    assert entry["outcome"] == "cannot say"
    assert "the interval is too wide" in entry["reason"]
    assert 0 < entry["more_documents"] < 500


def test_nothing_is_said_of_a_judge_that_was_not_probed_or_cannot_be(
    asked: Judge, criterion: Criterion
) -> None:
    second = asked.project.judges.get(name="second")

    ((first, why),) = outcome(asked, criterion, "instruction.most<=0.25")
    ((other, why_other),) = outcome(second, criterion, "instruction.most<=0.25")

    assert (first, other) == ("cannot say", "cannot say")
    assert "start its probes" in why
    assert "no text can address this judge" in why_other


def test_what_follows_nothing_gets_no_credit_for_not_being_moved(
    asked: Judge, criterion: Criterion
) -> None:
    noise = asked.project.judges.get(name="noise")
    probe(noise, criterion, 0.0)

    ((answer, why),) = outcome(noise, criterion, "instruction.most<=0.25")

    assert answer == "cannot say"
    assert "not shown to follow people's ratings" in why


def test_new_probes_outdate_a_certificate_that_rests_on_them_and_no_other(
    asked: Judge, criterion: Criterion
) -> None:
    probe(asked, criterion, 0.02)
    outcome(asked, criterion, "instruction.most<=0.25")
    outcome(asked, criterion, "documents>=10")
    assert [*map(what_changed, Certificate.objects.all())] == [[], []]

    probe(asked, criterion, 0.9)

    changes = {
        certificate.content["requirements"][0]["requirement"]: what_changed(certificate)
        for certificate in Certificate.objects.all()
    }
    assert changes == {
        "instruction.most<=0.25": ["The scores of the probes changed: 100 then, 100 now."],
        "documents>=10": [],
    }


def test_probes_of_an_earlier_prompt_say_nothing_of_todays(
    asked: Judge, criterion: Criterion
) -> None:
    study = probe(asked, criterion, 0.0)
    Study.objects.filter(pk=study.pk).update(prompt="Another prompt. {{Output}}")

    ((answer, why),) = outcome(asked, criterion, "instruction.most<=0.25")

    assert answer == "cannot say"
    assert "start them again" in why


def test_probes_that_an_archive_brought_are_no_reason_for_a_certificate(
    asked: Judge, criterion: Criterion
) -> None:
    probe(asked, criterion, 0.0)
    copy = read_archive(archived(asked.project), slug="copy")
    judge = copy.judges.get(name="today")

    ((answer, why),) = outcome(judge, copy.criteria.get(), "instruction.most<=0.25")

    assert answer == "cannot say"
    assert "came with an archive" in why


def test_with_too_few_of_the_probed_outputs_nothing_can_be_said(
    asked: Judge, criterion: Criterion
) -> None:
    study = probe(asked, criterion, 0.0)
    for item in study.items.all()[60:]:
        item.scores[NAMES.index(INSTRUCTED)] = None
        item.save()

    ((answer, why),) = outcome(asked, criterion, "instruction.most<=0.25")

    assert answer == "cannot say"
    assert "scores of 60 of 100 outputs" in why


def test_a_shared_link_shows_no_probes_of_judges_beyond_its_view(
    asked: Judge, criterion: Criterion, client: Client
) -> None:
    noise = asked.project.judges.get(name="noise")
    probe(asked, criterion, 0.1)
    probe(noise, criterion, 0.1)
    ShareLink.objects.create(
        project=asked.project, digest=digest_of("link"), query=f"judges={asked.pk}"
    )

    page = client.get("/shared/link/numbers/").content.decode()

    assert "instruction to the judge in the" in page
    assert ">noise<" not in page


@pytest.mark.parametrize("text", ["instruction.most>=0.2", "instruction.most>0.2"])
def test_an_upper_end_cannot_be_required_to_be_high(text: str) -> None:
    with pytest.raises(RequirementError, match="required to be low"):
        read_requirements([text])
