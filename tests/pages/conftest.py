"""What page tests share: people signed in in their roles, and a project that is judged without any call."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.judging import work
from evaluations.judging.parsing import Failure, Reason
from evaluations.judging.run import close_if_finished, lay_out_run, start_run
from evaluations.judging.scoring import Scored
from evaluations.models import EvaluationRun, Judge, Membership, Project


@pytest.fixture
def as_role(make_user: Callable[..., User], project: Project) -> Callable[[str], Client]:
    """A browser of somebody in a role of the project; "stranger" has none, "visitor" is not signed in."""

    def sign_in(role: str) -> Client:
        client = Client()
        if role != "visitor":
            user = make_user(role)
            client.force_login(user)
            if role != "stranger":
                Membership.objects.create(project=project, user=user, role=role)
        return client

    return sign_in


@pytest.fixture
def judged_project(small_project: Project, make_judge: Callable[..., Judge]) -> Project:
    """The small project with a finished run: a score for each item but the last, which was refused."""
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", name="Judge Judy", use_steps=False)
    run = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(run.pk, {})
    items = work.claim(run.pk, "t", most=100)
    outcomes = [Scored(1.0 + index % 4, {1.0 + index % 4: 0.75, 5.0: 0.25}, 0.97) for index, _ in enumerate(items[:-1])]
    finished = [work.FinishedItem(item, "", outcome) for item, outcome in zip(items, outcomes, strict=False)]
    refused = work.FinishedItem(items[-1], "", Failure(Reason.REFUSAL, "The model refused: “No.”"))
    work.store(run, [*finished, refused], "t")
    close_if_finished(run.pk)
    return small_project


@pytest.fixture
def run(judged_project: Project) -> EvaluationRun:
    return EvaluationRun.objects.get(project=judged_project)
