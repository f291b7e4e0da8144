"""Reports of large projects: computed by a worker, kept for web processes, shown with their age."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import structlog
from django.conf import settings as django_settings
from django.test import Client
from django.utils import timezone

from annotations.models import Rating
from evaluations.models import (
    EvaluationRun,
    Judge,
    KeptPart,
    KeptReport,
    KeptState,
    Project,
    WorkerHeartbeat,
)
from evaluations.models.changes import note_change
from evaluations.projects.deletion import delete_project, remove_deleted
from evaluations.reports.serving import live, parts, worker
from evaluations.reports.serving.live import is_large, numbers_in
from evaluations.reports.serving.view import MOST_WAITING, RETRY_AFTER, report_view
from evaluations.reports.serving.worker import MOST_KEPT, neglected_reports, work_on_report
from geval.reports.downloads.formats import FORMATS
from geval.reports.options import ReportOptions
from geval.statistics import cache
from tests.conftest import wait_until

pytestmark = pytest.mark.django_db
ADDRESS = "/p/small/report/"
WAITS = "so a worker computes its numbers"


@pytest.fixture
def client(as_role: Callable[[str], Client], judged_project: Project) -> Client:
    return as_role("owner")


@pytest.fixture
def large(judged_project: Project, settings: Any) -> Project:
    """The small project, on a site where every report is a worker's."""
    settings.REPORT_IN_PAGE_NUMBERS = 0
    live.forget()
    cache.forget()
    return judged_project


def compute() -> None:
    """Compute what was asked for, as a worker would."""
    while found := neglected_reports():
        for pk in found:
            work_on_report(pk)


def lose_a_worker() -> None:
    """A worker takes the report and is never heard of again."""
    assert worker._claim(KeptReport.objects.get().pk)
    KeptReport.objects.update(taken_until=timezone.now())


def text_of(client: Client, address: str = ADDRESS) -> str:
    return client.get(address).content.decode()


def change_ratings(project: Project) -> None:
    rating = Rating.objects.filter(criterion__name="coherence").first()
    assert rating
    Rating.objects.filter(pk=rating.pk).update(score=1 if rating.score > 2 else 5)
    note_change(project.pk, [rating.criterion_id])


def pages(project: Project) -> list[str]:
    criterion, judge = project.criteria.first(), Judge.objects.get()
    assert criterion
    return [
        "/p/small/",
        ADDRESS,
        f"{ADDRESS}live/",
        f"{ADDRESS}live/?part=more",
        f"{ADDRESS}figure/scatter/{criterion.pk}/",
        f"{ADDRESS}figure/scatter/{criterion.pk}/?table=1",
        f"{ADDRESS}cell/{criterion.pk}/{judge.pk}/",
        f"{ADDRESS}export/json/",
        "/p/small/data/?sort=disagreement",
        f"/p/small/runs/{EvaluationRun.objects.get().pk}/",
        "/api/v1/projects/small/report",
    ]


def test_the_size_of_a_project_is_counted_up_to_the_limit(
    judged_project: Project, settings: Any
) -> None:
    # 6 outputs, 24 ratings, 11 scores.
    assert numbers_in(judged_project, 1000) == 41
    assert numbers_in(judged_project, 20) == 20
    for limit, expected in ((40, True), (41, False)):
        settings.REPORT_IN_PAGE_NUMBERS = limit
        assert is_large(judged_project) is expected


def test_no_page_of_a_large_project_is_computed_in_the_web_process(
    client: Client, large: Project
) -> None:
    for address in pages(large):
        answer = client.get(address)
        assert answer.status_code in (200, 202, 204), address
        assert 'class="standings"' not in answer.content.decode()

    # Numbers that a process has read or computed are held by these two.
    assert not live._kept
    assert not [key for key in cache._results.values() if not isinstance(key, bool)]
    wanted = KeptReport.objects.get()
    assert (wanted.state, wanted.attempts) == (KeptState.WAITING, 0)


def test_kept_numbers_are_shown_without_computing(client: Client, large: Project) -> None:
    text_of(client)
    compute()
    live.forget()
    cache.forget()

    for address in pages(large):
        assert client.get(address).status_code == 200, address

    assert not live._kept
    assert not [key for key in cache._results.values() if not isinstance(key, bool)]


def test_every_download_and_the_page_are_those_of_a_small_project(
    client: Client, judged_project: Project, settings: Any
) -> None:
    query = "?level=system&coefficient=pearson"
    addresses = [f"{ADDRESS}export/{one.ending}/{q}" for one in FORMATS for q in ("", query)]
    addresses += [address for address in pages(judged_project) if "/live/" in address]
    criteria = [criterion.pk for criterion in judged_project.criteria.all()]
    addresses += [
        f"{ADDRESS}figure/{kind}/{pk}/{table}"
        for kind in ("scatter", "documents", "scores")
        for pk in criteria
        for table in ("", "?table=1")
    ]
    addresses += [f"{ADDRESS}cell/{pk}/{Judge.objects.get().pk}/" for pk in criteria]
    addresses += ["/api/v1/projects/small/report"]
    judge = Judge.objects.get().pk
    sorts = ("disagreement", "high", "low", f"high-{judge}", f"low-{judge}")
    addresses += [f"/p/small/data/?sort={sort}" for sort in sorts]
    small = {address: without_marks(client.get(address).content) for address in addresses}

    settings.REPORT_IN_PAGE_NUMBERS = 0
    text_of(client)
    text_of(client, ADDRESS + query)
    compute()

    for address, content in small.items():
        assert without_marks(client.get(address).content) == content, address


def without_marks(content: bytes) -> str:
    """A page without the marks of its numbers, which are made in another way, and without tokens
    that each page has its own of."""
    found = re.sub(r'mark=[^"]*"', 'mark="', content.decode())
    return re.sub(r'("X-CSRFToken": |name="csrfmiddlewaretoken" value=)"\w+"', "", found)


def test_many_who_look_share_one_computation(client: Client, large: Project) -> None:
    for address in pages(large) * 2:
        client.get(address)
    assert KeptReport.objects.count() == 1

    text_of(client, ADDRESS + "?coefficient=pearson&level=system")
    text_of(client, ADDRESS + "?level=system&coefficient=pearson")
    options = ReportOptions(level="system", coefficient="pearson")
    assert report_view(large, options).cached
    assert KeptReport.objects.count() == 2


def test_after_a_change_the_last_numbers_are_shown_with_their_age(
    client: Client, large: Project
) -> None:
    text_of(client)
    compute()
    current = text_of(client)
    before = client.get(f"{ADDRESS}export/json/").content
    change_ratings(large)

    stale = " ".join(text_of(client).split())
    meanwhile = client.get(f"{ADDRESS}export/json/").content
    mark = client.get(ADDRESS + "live/").headers["X-Mark"]
    same = client.get(ADDRESS + "live/", {"mark": mark})
    compute()
    new = client.get(ADDRESS + "live/", {"mark": mark})

    assert "up to date" in current
    assert "Computed <time" in stale
    assert "since; a worker computes new numbers." in stale
    assert "Waiting for a worker." in stale
    assert "For the paper" in stale
    assert meanwhile == before
    assert same.status_code == 204
    assert new.status_code == 200
    assert client.get(f"{ADDRESS}export/json/").content != before
    assert "up to date" in text_of(client)


def test_what_changes_while_it_is_computed_is_computed_afterwards(
    client: Client, large: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_of(client)
    read = worker.load_data

    def read_then_change(*arguments: Any, **options: Any) -> Any:
        found = read(*arguments, **options)
        change_ratings(large)
        return found

    monkeypatch.setattr(worker, "load_data", read_then_change)
    work_on_report(KeptReport.objects.get().pk)

    assert "a worker computes new numbers" in text_of(client)


def test_a_report_that_a_worker_computes_is_no_other_workers(
    client: Client, large: Project
) -> None:
    text_of(client)
    kept = KeptReport.objects.get()
    KeptReport.objects.update(
        state=KeptState.COMPUTING, attempts=1, taken_until=timezone.now() + timedelta(seconds=30)
    )

    work_on_report(kept.pk)

    kept.refresh_from_db()
    assert (kept.state, kept.attempts, neglected_reports()) == (KeptState.COMPUTING, 1, [])


def test_the_report_of_a_lost_worker_is_computed_by_another(client: Client, large: Project) -> None:
    text_of(client)
    lose_a_worker()

    assert neglected_reports() == [KeptReport.objects.get().pk]
    compute()

    kept = KeptReport.objects.get()
    assert (kept.state, kept.attempts) == (KeptState.DONE, 2)


def test_a_worker_that_was_taken_for_dead_stores_nothing(
    client: Client, large: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_of(client)
    kept = KeptReport.objects.get()
    read = worker.load_data

    def read_while_another_takes_it(*arguments: Any, **options: Any) -> Any:
        KeptReport.objects.update(attempts=2)
        return read(*arguments, **options)

    monkeypatch.setattr(worker, "load_data", read_while_another_takes_it)
    work_on_report(kept.pk)

    kept.refresh_from_db()
    assert (kept.state, kept.attempts) == (KeptState.COMPUTING, 2)
    assert not KeptPart.objects.exists()


@pytest.mark.parametrize("address", [ADDRESS, f"{ADDRESS}annotators/"])
@pytest.mark.parametrize("is_read", [True, False])
def test_a_project_may_be_deleted_while_its_numbers_are_computed(
    client: Client, large: Project, monkeypatch: pytest.MonkeyPatch, address: str, is_read: bool
) -> None:
    text_of(client, address)
    read = worker.load_data

    def read_and_delete(*arguments: Any, **options: Any) -> Any:
        found = read(*arguments, **options) if is_read else None
        Project.objects.update(archived_at=timezone.now())
        delete_project(large, by="olga")
        list(remove_deleted())
        return found if is_read else read(*arguments, **options)

    monkeypatch.setattr(worker, "load_data", read_and_delete)
    with structlog.testing.capture_logs() as logged:
        work_on_report(KeptReport.objects.get().pk)

    said = [line["event"] for line in logged if line["event"].startswith("report")]
    assert said == ["report given up"]
    assert not KeptReport.objects.exists()


def test_a_report_that_loses_every_worker_fails_with_what_to_do(
    client: Client, large: Project
) -> None:
    text_of(client)
    for _ in range(3):
        lose_a_worker()

    assert neglected_reports() == []

    text = text_of(client)
    assert "3 workers started" in text
    assert "and none finished" in text


def fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: Any, **_more: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(parts, "build_report", broken)


def test_a_failure_is_shown_and_is_tried_again_when_somebody_asks(
    client: Client, large: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_of(client)
    with monkeypatch.context() as patched:
        fail(patched)
        compute()
    failed = text_of(client)
    api = client.get("/api/v1/projects/small/report")
    again = client.post(f"{ADDRESS}again/", {"view": ""})
    waiting = text_of(client)
    compute()

    assert "Computing this report failed unexpectedly (ZeroDivisionError)" in failed
    assert "Compute again" in failed
    assert api.status_code == 503
    assert "ZeroDivisionError" in api.json()["detail"]
    assert again.headers["Location"] == ADDRESS
    assert WAITS in waiting
    assert "For the paper" in text_of(client)


def test_a_failure_hides_no_earlier_numbers_and_is_tried_again_after_a_while(
    client: Client, large: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_of(client)
    compute()
    change_ratings(large)
    text_of(client)
    with monkeypatch.context() as patched:
        fail(patched)
        compute()
    failed = text_of(client)
    KeptReport.objects.filter(state=KeptState.FAILED).update(
        ended_at=timezone.now() - RETRY_AFTER - timedelta(seconds=1)
    )
    text_of(client)
    compute()

    assert "ZeroDivisionError" in failed
    assert "For the paper" in failed
    assert "up to date" in text_of(client)


def test_programs_are_asked_to_wait_and_learn_how_old_numbers_are(
    client: Client, large: Project
) -> None:
    address = "/api/v1/projects/small/report"
    waiting = client.get(address)
    compute()
    current = client.get(address)
    change_ratings(large)
    stale = client.get(address)

    assert (waiting.status_code, waiting.headers["Retry-After"]) == (202, "5")
    state = waiting.json()
    assert "it waits for its turn" in state.pop("message")
    assert state == {"state": "waiting", "progress": 0.0, "step": "", "worker_alive": False}
    assert current.status_code == 200
    assert "stale" not in current.json()
    assert stale.status_code == 200
    found = stale.json()
    assert list(found)[:4] == ["stale", "computed_at", "age_seconds", "new_numbers"]
    assert found["stale"] is True
    assert found["age_seconds"] >= 0
    assert {key: value for key, value in found.items() if key in current.json()} == current.json()


def test_only_the_newest_views_wait(client: Client, large: Project) -> None:
    for number in range(MOST_WAITING + 2):
        text_of(client, f"{ADDRESS}?documents=d{number}")

    waiting = set(KeptReport.objects.values_list("view", flat=True))
    assert waiting == {f"documents=d{number}" for number in range(2, MOST_WAITING + 2)}


def test_old_numbers_are_removed(client: Client, large: Project) -> None:
    text_of(client, ADDRESS + "?level=system")
    for _ in range(MOST_KEPT + 2):
        text_of(client)
        compute()
        change_ratings(large)

    views = sorted(KeptReport.objects.done().values_list("view", flat=True))
    assert views == ["", *[""] * (MOST_KEPT - 1), "level=system"]
    assert set(KeptPart.objects.values_list("kept", flat=True)) == set(
        KeptReport.objects.values_list("pk", flat=True)
    )


def test_numbers_of_another_version_of_the_software_are_not_read(
    client: Client, large: Project
) -> None:
    text_of(client)
    compute()
    KeptReport.objects.update(code="another version")
    KeptPart.objects.update(content=b"nothing that could be read")

    assert WAITS in text_of(client)


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_a_real_worker_computes_the_report_that_a_page_asks_for(
    client: Client, large: Project, start_worker: Callable[..., object]
) -> None:
    start_worker("--queues", django_settings.QUEUES["reports"])
    wait_until(lambda: WorkerHeartbeat.objects.doing("reports").exists())

    first = text_of(client)
    wait_until(lambda: KeptReport.objects.done().exists())

    assert WAITS in first
    assert "For the paper" in text_of(client)


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_a_worker_keeps_its_lease_and_says_how_far_it_is_while_it_computes(
    client: Client, large: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_of(client)
    monkeypatch.setattr(worker, "EVERY_SECONDS", 0.01)
    seen = []
    compute_criteria = parts.build_report

    def watched(*arguments: Any, **more: Any) -> Any:
        began = KeptReport.objects.get()
        more["on_step"](0.5, "half of it")
        wait_until(lambda: KeptReport.objects.get().step == "half of it")
        kept = KeptReport.objects.get()
        seen.append((round(kept.share, 2), kept.taken_until > began.taken_until))
        return compute_criteria(*arguments, **more)

    monkeypatch.setattr(parts, "build_report", watched)
    compute()

    assert seen == [(0.45, True)]
    assert KeptReport.objects.get().state == KeptState.DONE
