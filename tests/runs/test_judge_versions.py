"""Endpoints and judges: checked when made, frozen once used, changed by new versions, retired and
brought back."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError

from evaluations.judging.judges.judges import (
    EndpointDraft,
    JudgeDraft,
    change_judge,
    create_judge,
    retire,
    save_endpoint,
)
from evaluations.judging.judges.probing import probe_endpoint
from evaluations.judging.runs.lifecycle import RunError
from evaluations.judging.runs.starting import start_run
from evaluations.models import Endpoint, Judge, ModelProbe, Project
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db
Start = Callable[..., StandInProcess]


@pytest.fixture
def endpoint(small_project: Project, start_standin: Start) -> Endpoint:
    return save_endpoint(small_project, EndpointDraft(base_url=start_standin().base_url))


def draft(endpoint: Endpoint, **fields: object) -> JudgeDraft:
    return replace(JudgeDraft(name="Judge", endpoint=endpoint, model="offline-stand-in"), **fields)  # type: ignore[arg-type]


def test_without_a_mode_the_best_one_the_endpoint_can_do_is_taken(
    small_project: Project, endpoint: Endpoint
) -> None:
    judge, made = create_judge(small_project, draft(endpoint))

    assert (made, judge.mode) == (True, "logprobs")
    assert ModelProbe.objects.get().findings["logprobs"] == 20


def test_a_mode_beyond_the_endpoint_is_refused_when_the_judge_is_made(
    small_project: Project, start_standin: Start
) -> None:
    endpoint = save_endpoint(
        small_project, EndpointDraft(base_url=start_standin("--without-logprobs").base_url)
    )

    with pytest.raises(ValidationError, match="returns no log-probabilities"):
        create_judge(small_project, draft(endpoint, mode="logprobs"))

    assert not Judge.objects.exists()


def test_what_the_model_wants_its_parameters_called_is_found_out(
    small_project: Project, start_standin: Start
) -> None:
    address = start_standin("--only-max-completion-tokens").base_url
    endpoint = save_endpoint(small_project, EndpointDraft(base_url=address))

    judge, _ = create_judge(small_project, draft(endpoint, mode="direct"))

    assert (judge.length_parameter, judge.sends_temperature) == ("max_completion_tokens", False)


def test_a_judge_that_no_run_has_used_is_changed_in_place(
    small_project: Project, endpoint: Endpoint
) -> None:
    judge, _ = create_judge(small_project, draft(endpoint))

    changed = change_judge(judge, draft(endpoint, mode="direct", name="Renamed"))

    assert (changed.pk, changed.version, changed.mode, str(changed)) == (
        judge.pk,
        1,
        "direct",
        "Renamed",
    )


def test_a_used_judge_is_frozen_and_a_change_makes_a_new_version(
    small_project: Project, endpoint: Endpoint
) -> None:
    judge, _ = create_judge(small_project, draft(endpoint))
    start_run(judge, list(small_project.criteria.all()))

    changed = change_judge(judge, draft(endpoint, mode="direct"))

    judge.refresh_from_db()
    assert (judge.mode, judge.version, str(judge)) == ("logprobs", 1, "Judge")
    assert (changed.mode, changed.version, str(changed)) == ("direct", 2, "Judge (version 2)")
    assert judge.retired_at


def test_speed_and_prices_of_a_used_judge_may_change(
    small_project: Project, endpoint: Endpoint
) -> None:
    judge, _ = create_judge(small_project, draft(endpoint))
    start_run(judge, list(small_project.criteria.all()))

    changed = change_judge(
        judge, draft(endpoint, concurrency=3, price_in=Decimal(1), price_out=Decimal(2))
    )

    assert (changed.pk, changed.concurrency, changed.price_out) == (judge.pk, 3, 2)


def test_a_retired_judge_starts_no_run_until_it_is_back(
    small_project: Project, endpoint: Endpoint
) -> None:
    judge, _ = create_judge(small_project, draft(endpoint))
    retire(judge)

    with pytest.raises(RunError, match="retired"):
        start_run(judge, list(small_project.criteria.all()))

    retire(judge, back=True)
    assert start_run(judge, list(small_project.criteria.all()))


def test_a_stored_key_is_used_and_kept_and_can_be_forgotten(
    small_project: Project, start_standin: Start
) -> None:
    address = start_standin("--api-key", "sk-right").base_url
    endpoint = save_endpoint(small_project, EndpointDraft(base_url=address, key="sk-right"))

    assert probe_endpoint(endpoint, "m").logprobs == 20
    assert "sk-right" not in endpoint.sealed_key
    kept = save_endpoint(
        small_project, EndpointDraft(base_url=address, requests_per_minute=9), endpoint=endpoint
    )
    assert kept.api_key == "sk-right"
    assert (
        save_endpoint(
            small_project, EndpointDraft(base_url=address, key=""), endpoint=endpoint
        ).api_key
        == ""
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"base_url": "http://169.254.169.254/v1"}, "metadata service"),
        ({"base_url": "nonsense"}, "is not an address"),
        (
            {"base_url": "http://127.0.0.1:1/v1", "key": "k", "key_env": "OPENAI_API_KEY"},
            "not both",
        ),
    ],
)
def test_an_endpoint_that_will_not_do_is_refused(
    small_project: Project, fields: dict[str, str], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        save_endpoint(small_project, EndpointDraft(**fields))


def test_an_address_that_runs_have_used_stays(small_project: Project, endpoint: Endpoint) -> None:
    judge, _ = create_judge(small_project, draft(endpoint))
    start_run(judge, list(small_project.criteria.all()))

    with pytest.raises(ValidationError, match="create a new endpoint"):
        save_endpoint(
            small_project, EndpointDraft(base_url="http://127.0.0.1:9/v1"), endpoint=endpoint
        )
