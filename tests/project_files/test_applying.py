"""`apply` makes a project what its file says, once; `diff` says what it would do."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from annotations.models import Campaign
from evaluations.judging.judges.judges import retire
from evaluations.models import AuditEntry, Criterion, Endpoint, EvaluationRun, Judge, Project
from tests.project_files.conftest import WHOLE, Run

pytestmark = pytest.mark.django_db


def test_a_project_becomes_what_its_file_says(run: Run, small_project: Project) -> None:
    code, message = run("apply", WHOLE)

    assert code == 0, message
    small_project.refresh_from_db()
    assert small_project.name == "Ferry summaries"
    assert small_project.description == "Two lines\nabout ferries.\n"
    assert (small_project.output_format, small_project.text_language) == ("markdown", "de")
    faithful = small_project.criteria.get(name="faithful")
    assert (faithful.definition, faithful.scale_labels) == ("yes", {"0": "No", "1": "Yes"})
    endpoint = Endpoint.objects.get()
    assert (endpoint.base_url, endpoint.key_env) == ("http://127.0.0.1:1/v1", "OPENAI_API_KEY")
    assert Judge.objects.get(name="overlap").settings["variant"] == "rouge2"
    campaign = Campaign.objects.get()
    assert (campaign.state, campaign.practice_pass, len(campaign.gold)) == ("draft", 50, 2)
    assert campaign.goal.system.name == "good"
    assert "created criterion faithful" in message
    assert "left as it is: criterion fluency." in message
    assert "created campaign First round" in message
    assert {entry.user_name for entry in AuditEntry.objects.all()} == {"olga"}


def test_applied_twice_it_changes_nothing(run: Run, small_project: Project) -> None:
    run("apply", WHOLE)
    entries = AuditEntry.objects.count()

    assert run("diff", WHOLE)[0] == 0
    code, message = run("apply", WHOLE)

    assert code == 0
    assert "nothing was changed" in message
    assert AuditEntry.objects.count() == entries


def test_a_difference_is_said_before_it_is_made(run: Run, small_project: Project) -> None:
    run("apply", WHOLE)
    changed = WHOLE.replace("rouge2", "rougeL").replace("practice_pass: 50", "practice_pass: 70")
    code, message = run("diff", changed)

    assert code == 1
    assert message.splitlines()[:2] == [
        "~ judge overlap: settings.variant: rouge2 -> rougeL",
        "~ campaign First round: practice_pass: 50 -> 70",
    ]
    assert Campaign.objects.get().practice_pass == 50


def test_a_judge_that_has_scored_gets_a_new_version(run: Run, small_project: Project) -> None:
    run("apply", WHOLE)
    judge = Judge.objects.get(name="overlap")
    EvaluationRun.objects.create(project=small_project, judge=judge)
    changed = WHOLE.replace("variant: rouge2", "measure: recall")
    code, message = run("apply", changed)

    assert code == 0, message
    assert "changed judge overlap: a new version, overlap" in message
    judge.refresh_from_db()
    assert judge.retired_at
    newest = small_project.judges.get(version=2)
    assert newest.settings == judge.settings | {"measure": "recall"}
    assert run("diff", changed)[0] == 0


def test_what_the_file_leaves_out_stays_as_it_is(run: Run, small_project: Project) -> None:
    Criterion.objects.filter(name="fluency").update(guidelines="Typed by hand.")
    run("apply", "project: small\ncriteria:\n  fluency: {definition: Reads well.}\n")

    criterion = small_project.criteria.get(name="fluency")
    assert (criterion.guidelines, criterion.definition) == ("Typed by hand.", "Reads well.")


def test_what_is_retired_comes_back(run: Run, small_project: Project) -> None:
    text = "project: small\njudges:\n  overlap: {kind: rouge}\n"
    run("apply", text)
    retire(Judge.objects.get())

    assert run("diff", text) == (1, "~ judge overlap: restore\n" + LEFT)
    assert run("apply", text)[0] == 0
    assert Judge.objects.get().retired_at is None


LEFT = "Not in the file, left as it is: criterion coherence, criterion fluency.\n"


def test_a_project_that_is_not_there_is_created(
    run: Run, make_user: Callable[..., User], project: Project
) -> None:
    text = "project: brand-new\ncriteria:\n  fluency: {}\n"
    assert "There is no administrator yet" in run("apply", text)[1]
    make_user("root", is_superuser=True)

    assert run("diff", text)[1] == "+ project brand-new\n+ criterion fluency\n"
    assert run("apply", text)[0] == 0
    made = Project.objects.get(slug="brand-new")
    assert [criterion.name for criterion in made.criteria.all()] == ["fluency"]
    assert run("diff", text)[0] == 0


def test_nothing_is_half_applied(run: Run, small_project: Project) -> None:
    """The address is refused by the site, after the criterion was made."""
    text = WHOLE.replace("http://127.0.0.1:1/v1/", "ftp://nowhere")
    code, message = run("apply", text)

    assert code == 2
    assert "project.yaml:19: stopped at + endpoint here" in message
    assert message.endswith("Nothing was changed.")
    assert not small_project.criteria.filter(name="faithful").exists()
    assert not AuditEntry.objects.exists()


def test_a_site_needs_a_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from geval.pipelines.project_files import command

    monkeypatch.delenv("GEVAL_TOKEN", raising=False)
    code = command.run(["diff", "project.yaml", "--site", "https://geval.example.org"])

    assert code == 2
    assert "GEVAL_TOKEN is not set; put a token" in capsys.readouterr().err


def test_items_come_after_the_rubric_that_they_name(
    run: Run, small_project: Project, tmp_path: Path
) -> None:
    item = "{scale_min: 0, scale_max: 1, rubric: Quality, weight: 2}"
    text = f"project: small\ncriteria:\n  cites: {item}\n  quality: {{definition: good}}\n"
    code, message = run("apply", text)
    assert code == 0, message

    cites = small_project.criteria.get(name="cites")
    assert cites.rubric is not None
    assert (cites.rubric.name, cites.weight) == ("quality", 2)
    assert run("diff", text)[0] == 0
    call_command("export_project", "small", str(tmp_path / "out.yaml"), "--as", "yaml")
    exported = (tmp_path / "out.yaml").read_text()
    assert "rubric: quality" in exported
    assert run("diff", exported)[0] == 0
    code, message = run("apply", text.replace("rubric: Quality", "rubric: qualities"))
    assert code
    assert "There is no criterion 'qualities'" in message
