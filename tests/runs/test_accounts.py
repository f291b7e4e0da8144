"""Endpoints with one address and key are one account: what is learned there holds for all projects,
and nobody can read a key out of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.judging.judges.judges import EndpointDraft, save_endpoint
from evaluations.judging.runs.accounts import account_of, read_account
from evaluations.judging.runs.estimate import _endpoint_limits
from evaluations.judging.runs.quota import QuotaLimits, allowed_rate, exchange, known_pace, take
from evaluations.management.upkeep import JOBS, do_if_due
from evaluations.models import (
    AccountBucket,
    AccountQuota,
    Endpoint,
    Project,
    UpkeepJob,
)
from geval.llm.pacing import Sign, WorkerReport

URL = "https://api.example.com/v1"
SURE = WorkerReport(sign=Sign(50.0, is_sure=True))
KEYS = st.text(max_size=40)


@pytest.mark.parametrize(
    "same",
    [
        "https://API.Example.com/v1",
        "https://api.example.com:443/v1/",
        "https://api.example.com./v1",
        " https://api.example.com/v1",
    ],
)
def test_ways_to_write_an_address_are_one_account(same: str) -> None:
    assert account_of(same, "", "k") == account_of(URL, "", "k")


@pytest.mark.parametrize(
    "other",
    [
        "http://api.example.com/v1",
        "https://api.example.com/V1",
        "https://api.example.com:8443/v1",
        "https://example.com/v1",
        "https://somebody@api.example.com/v1",
    ],
)
def test_other_addresses_are_other_accounts(other: str) -> None:
    assert account_of(other, "", "k") != account_of(URL, "", "k")


@given(KEYS, KEYS)
def test_two_keys_are_two_accounts(first: str, second: str) -> None:
    accounts = {account_of(URL, "", first), account_of(URL, "", second)}

    assert len(accounts) == len({first, second})
    assert account_of(URL, "2024-10-21", first) not in accounts


def test_without_the_sites_secret_nobody_can_try_keys(settings: object) -> None:
    settings.SECRET_KEY = "one" * 20  # type: ignore[attr-defined]
    account = account_of(URL, "", "sk-1")
    settings.SECRET_KEY = "two" * 20  # type: ignore[attr-defined]

    assert account_of(URL, "", "sk-1") != account
    assert len(account) == 64


def endpoint_of(project: Project, name: str = "e", **fields: object) -> Endpoint:
    endpoint = Endpoint(project=project, name=name, base_url=URL, **fields)
    endpoint.keep_key("sk-1")
    endpoint.save()
    return endpoint


@pytest.fixture
def other(project: Project) -> Project:
    return Project.objects.create(slug="other", name="Other")


pytestmark = pytest.mark.django_db


def test_what_one_project_learns_another_one_knows(project: Project, other: Project) -> None:
    ours, theirs = endpoint_of(project), endpoint_of(other)

    exchange(read_account(ours), "m", SURE, wanted=64)

    assert not known_pace(read_account(theirs), "m").is_free
    assert AccountQuota.objects.count() == 1


def test_another_key_at_the_same_host_has_its_own_pace(project: Project, other: Project) -> None:
    ours, theirs = endpoint_of(project), endpoint_of(other)
    theirs.keep_key("sk-2")

    exchange(read_account(ours), "m", SURE, wanted=64)

    assert known_pace(read_account(theirs), "m").is_free


def test_pages_know_the_account_without_the_key(
    project: Project, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ENDPOINT_KEYS = frozenset({"SOME_API_KEY"})  # type: ignore[attr-defined]
    endpoint = Endpoint.objects.create(
        project=project, name="e", base_url=URL, key_env="SOME_API_KEY"
    )
    monkeypatch.setenv("SOME_API_KEY", "sk-1")
    exchange(read_account(endpoint), "m", SURE, wanted=1)
    monkeypatch.delenv("SOME_API_KEY")

    endpoint.refresh_from_db()

    assert allowed_rate(endpoint.account, "m")
    judge = project.judges.create(name="j", endpoint=endpoint, model="m")
    assert len(_endpoint_limits(judge, 100)) == 1


def test_another_address_or_key_is_another_account_from_then_on(project: Project) -> None:
    endpoint = endpoint_of(project)
    before = read_account(endpoint)

    save_endpoint(project, EndpointDraft(base_url=URL, name="e", key="sk-2"), endpoint=endpoint)
    assert endpoint.account == ""

    assert read_account(endpoint) not in ("", before)


def granted(endpoint: Endpoint) -> int:
    """Calls that the limit of an endpoint lets out at once."""
    limits = QuotaLimits(endpoint.requests_per_minute, endpoint.tokens_per_minute)
    return take(endpoint.account, limits, wanted=100, tokens_each=1).calls


def test_endpoints_of_one_account_keep_the_same_limit_together(
    project: Project, other: Project
) -> None:
    ours, theirs = (endpoint_of(each, requests_per_minute=100) for each in (project, other))
    for endpoint in (ours, theirs):
        read_account(endpoint)

    assert [granted(ours), granted(theirs)] == [10, 0]


def test_a_lower_limit_of_another_project_slows_nobody_down(
    project: Project, other: Project
) -> None:
    theirs = endpoint_of(other, requests_per_minute=1)
    ours = endpoint_of(project, requests_per_minute=100)
    for endpoint in (ours, theirs):
        read_account(endpoint)

    assert [granted(theirs), granted(ours)] == [1, 10]


def test_a_shared_limit_outlives_the_project_that_used_it_first(
    project: Project, other: Project
) -> None:
    ours, theirs = (endpoint_of(each, requests_per_minute=600) for each in (project, other))
    for endpoint in (ours, theirs):
        read_account(endpoint)
    granted(ours)

    ours.delete()

    assert granted(theirs) < 10


def test_what_was_learned_goes_with_the_last_endpoint_of_an_account(
    project: Project, other: Project
) -> None:
    ours, theirs = endpoint_of(project), endpoint_of(other)
    account = read_account(ours)
    assert read_account(theirs) == account
    exchange(account, "m", SURE, wanted=64)
    take(account, QuotaLimits(60, None), wanted=1, tokens_each=1)
    job = next(job for job in JOBS if job.name == "paces of accounts")

    ours.delete()
    do_if_due(job)
    assert not known_pace(account, "m").is_free
    assert AccountBucket.objects.exists()

    theirs.keep_key("sk-2")
    theirs.save()
    exchange(read_account(theirs), "m", SURE, wanted=64)
    UpkeepJob.objects.all().delete()
    do_if_due(job)

    assert [quota.account for quota in AccountQuota.objects.all()] == [theirs.account]
    assert not AccountBucket.objects.exists()
