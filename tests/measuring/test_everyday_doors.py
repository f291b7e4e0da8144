"""One everyday file, an expert's verdicts beside a judge's, through every door: each prints the
same numbers."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.http import HttpRequest
from django.test import Client

import geval
from evaluations.models import Project
from evaluations.web.agents import tools
from evaluations.web.agents.agent import Agent, Level
from geval.command_line import main
from geval.measuring.pictures import page_of
from geval.pipelines.github import main as action
from tests.measuring.test_verdict_by_an_expert import labels

FOUND, KEPT = "0.91 [0.84, 0.95]", "0.93 [0.90, 0.95]"


@pytest.fixture
def everyday(tmp_path: Path) -> Path:
    path = tmp_path / "support.jsonl"
    rows = [
        {
            "id": row["id"],
            "question": f"How do I do {row['id']}?",
            "answer": row["answer"],
            "human": row["human"],
            "judge": row["judge"],
        }
        for row in labels(100, 300, 0.91, 0.93)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def expected(everyday: Path) -> dict[str, float]:
    """The figures from the counts: 91 of 100 fails found, 279 of 300 passes kept."""
    rows = [json.loads(line) for line in everyday.read_text().splitlines()]
    human, judge = (np.array([row[name] == "pass" for row in rows]) for name in ("human", "judge"))
    accuracy = float((human == judge).mean())
    chance = float(human.mean() * judge.mean() + (1 - human.mean()) * (1 - judge.mean()))
    return {
        "sensitivity": 0.91,
        "specificity": 0.93,
        "accuracy": accuracy,
        "kappa": (accuracy - chance) / (1 - chance),
    }


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split()).replace("\u202f", " ")


def test_the_library_has_them(everyday: Path, expected: dict[str, float]) -> None:
    rows = [json.loads(line) for line in everyday.read_text().splitlines()]
    sides = [[row[name] for row in rows] for name in ("human", "judge")]

    for measured in (
        geval.measure(everyday),
        geval.measure(rows),
        geval.measure(*sides),
        geval.measure(np.array(sides[0]), np.array(sides[1])),
    ):
        (criterion,), (record,) = measured.criteria, measured.to_records()
        for name, value in expected.items():
            assert getattr(criterion, name) == pytest.approx(value)
            assert record[name] == pytest.approx(value)
        assert criterion.verdict == "agrees"
    page = text_of(page_of(geval.measure(everyday)))
    assert FOUND in page
    assert KEPT in page


def test_the_terminal_and_the_action_print_them(
    everyday: Path, expected: dict[str, float], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    assert main(["check", str(everyday)]) == 0
    assert f"fails found {FOUND}; passes kept {KEPT}" in capsys.readouterr().out
    assert main(["check", str(everyday), "--json", "--require", "tpr.low>=0.8"]) == 0
    (content,) = json.loads(capsys.readouterr().out)["criteria"].values()
    own = content["judges"]["judge"]["pass_fail"]
    for name, value in expected.items():
        assert own[name]["value"] == pytest.approx(value)

    monkeypatch.chdir(tmp_path)
    assert action({"INPUT_FILES": everyday.name, "INPUT_REQUIRE": "kappa.low>=0.6"}) == 0
    printed = capsys.readouterr().out
    assert f"fails found {FOUND.replace('[', chr(92) + '[')}" in printed


@pytest.mark.django_db
def test_the_site_shows_them(
    everyday: Path, expected: dict[str, float], admin_user: User, admin_client: Client
) -> None:
    call_command("load", "support", str(everyday))
    client, project = admin_client, Project.objects.get(slug="support")
    base = f"/p/{project.slug}/"
    (judge,) = project.judges.all()
    (criterion,) = project.criteria.all()
    shared = client.post(f"{base}report/share/", {"name": "for all"}, follow=True)
    token = shared.content.decode().split("/shared/")[1].split("/")[0]
    own = [base, f"{base}report/", f"{base}report/numbers/", f"{base}judges/{judge.pk}/"]
    for address in (*own, f"/shared/{token}/"):
        page = text_of(client.get(address).content.decode())
        assert FOUND in page, address
        assert KEPT in page, address

    contents = [client.get(f"/api/v1/projects/{project.slug}/report").json()]
    written = StringIO()
    call_command("report", project.slug, "--format", "json", stdout=written)
    contents.append(json.loads(written.getvalue()))
    for content in contents:
        own = content["criteria"][criterion.name]["judges"][judge.name]["pass_fail"]
        for name, value in expected.items():
            assert own[name]["value"] == pytest.approx(value)

    request: Any = HttpRequest()
    request.user = request.auth = admin_user
    agent = Agent(request, Level.READ, "http://localhost/")
    (line,) = tools.report(agent, project.slug)["criteria"]
    assert [figure["name"] for figure in line["agreement"]] == ["fails found", "passes kept"]
    values = [figure["value"] for figure in line["agreement"]]
    assert values == [expected["sensitivity"], expected["specificity"]]

    missed = client.get(
        f"{base}report/disagreements/?criterion={criterion.pk}&judge={judge.pk}&side=higher"
    ).content.decode()
    assert len(re.findall(r'class="gap"', missed)) == 9
