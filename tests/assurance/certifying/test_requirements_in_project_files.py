"""A project's file says what its judges are to meet; `apply` certifies it, once."""

from pathlib import Path

import pytest
from django.core.management import call_command

from evaluations.models import EvaluationRun, Judge, Project
from tests.project_files.conftest import WHOLE, Run, in_file, run

__all__ = ["in_file", "run"]
pytestmark = pytest.mark.django_db
CERTIFIED = f"""\
{WHOLE}requirements:
  - judge: overlap
    criterion: coherence
    require: [documents>=3, alt_test.passed]
"""
DONE = "certified requirements of overlap on coherence"


def test_requirements_are_certified_once(run: Run, small_project: Project) -> None:
    code, message = run("apply", CERTIFIED)

    assert code == 0, message
    assert DONE in message
    assert run("diff", CERTIFIED)[0] == 0
    assert "nothing was changed" in run("apply", CERTIFIED)[1]
    assert small_project.certificates.get().judge.name == "overlap"


def test_requirements_against_another_human_score_are_certified_anew(
    run: Run, small_project: Project
) -> None:
    run("apply", CERTIFIED)
    changed = f"{CERTIFIED}    human_score: median\n"

    code, message = run("apply", changed)

    assert code == 0, message
    assert DONE in message
    assert small_project.certificates.order_by("-pk")[0].content["human_score"] == "median"
    assert run("diff", changed)[0] == 0


def test_a_new_version_of_a_judge_is_certified_once(run: Run, small_project: Project) -> None:
    run("apply", CERTIFIED)
    EvaluationRun.objects.create(project=small_project, judge=Judge.objects.get(name="overlap"))
    changed = CERTIFIED.replace("variant: rouge2", "measure: recall")

    code, message = run("apply", changed)

    assert code == 0, message
    assert message.count("certified requirements") == 1
    assert run("diff", changed)[0] == 0


def test_the_file_of_a_certified_project_makes_no_difference(
    run: Run, small_project: Project, tmp_path: Path
) -> None:
    run("apply", CERTIFIED)
    exported = tmp_path / "out.yaml"
    call_command("export_project", "small", str(exported), "--as", "yaml")

    assert "alt_test.passed" in exported.read_text()
    assert run("diff", exported.read_text())[0] == 0


def test_what_cannot_be_required_is_said_before_anything_is_changed(
    run: Run, small_project: Project
) -> None:
    wrong = "  - {judge: nobody, criterion: beauty, require: [spearman]}\n"

    code, message = run("apply", CERTIFIED + wrong)

    assert code == 2
    assert message.count("no judge 'nobody', neither here") == 1
    assert "yaml:43: 'spearman' is not a requirement" in message
    assert message.endswith("Nothing was changed.")
    assert not small_project.criteria.filter(name="faithful").exists()
