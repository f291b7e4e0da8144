"""The home of a project: five steps with what to do next, what runs, where each criterion stands,
and what people did lately, in words."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver

from evaluations.models import EvaluationRun, Project
from evaluations.pages import home
from evaluations.pages.jobs import jobs_of
from evaluations.people.activity import names_in_words
from evaluations.people.audit import LEFT_OUT
from evaluations.reports.serving import live
from evaluations.reports.serving.parts import ReportView

pytestmark = pytest.mark.django_db
# Names that only read, so the audit log has none of them.
READING = {
    "annotations": (
        "answer_list campaign_list campaign_plan export campaign_progress adjudication_list"
        " task_compare participant_list payment_csv campaign_people publish"
    ),
    "api": (
        "get_project get_archive get_usage get_conversation list_documents list_outputs get_ratings"
        " get_preferences get_scores get_choices get_export"
        " get_causes list_systems list_endpoints show_probe list_judges list_criteria list_runs"
        " get_steadiness get_judge_tests get_run get_report get_groups get_locked"
        " list_certificates list_policies"
        " list_answers list_decisions"
        " get_open_link list_participants get_payments list_people list_guidelines"
        " list_members list_invitations"
        " list_campaigns get_campaign get_plan get_annotator_numbers get_disagreements"
        " get_certificate list_searches get_search list_studies get_study"
    ),
    "evaluations": (
        "project_detail project_standing project_usage document_list upload_detail"
        " upload_refused upload_errors"
        " document_detail system_list criterion_list steps_compare judge_list judge_detail improve"
        " judge_standing judge_runs judge_settings judge_certificates judge_policy"
        " judge_instrument improve_state look_state improve_certificate certificate_detail"
        " certificate_json certificate_badge endpoint_detail errand_state run_list jobs"
        " run_detail"
        " item_list item_detail report_detail report_numbers report_paper report_piece"
        " report_figure report_cell report_export report_groups"
        " report_drawings report_drawing report_bubble"
        " disagreement_list judge_compare cause_export snapshot_list"
        " report_annotators gap_export"
        " snapshot_detail snapshot_page"
        " member_list audit_list"
        " project_export"
    ),
}


def names(resolver: URLResolver, namespace: str = "", taken: tuple[str, ...] = ()) -> Iterator[str]:
    """The names of all pages and endpoints of a project."""
    for entry in resolver.url_patterns:
        arguments = (*taken, *entry.pattern.converters)
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from names(entry, inner, arguments)
        elif entry.name and "slug" in arguments:
            yield f"{namespace}{entry.name}"


def steps(project: Project, *, may_edit: bool = True) -> dict[str, home.HomeStep]:
    found = home.steps_of(project, jobs_of(project), None, may_edit=may_edit)
    return {step.key: step for step in found}


def test_every_name_in_the_audit_log_has_words() -> None:
    reading = {f"{space}:{name}" for space, listed in READING.items() for name in listed.split()}
    audited = set(names(get_resolver())) - reading - LEFT_OUT

    assert audited - set(names_in_words()) == set()
    assert not reading & set(names_in_words())


def test_words_are_of_names_that_exist() -> None:
    assert set(names_in_words()) - set(names(get_resolver())) == {"retention", "campaign_goal"}


def test_a_viewer_is_asked_for_nothing(small_project: Project) -> None:
    found = steps(small_project, may_edit=False)

    assert "asks" not in {step.kind for step in found.values()}
    assert found["judge"].action == "Show judges"


def test_a_run_under_way_is_the_judges_step(judged_project: Project) -> None:
    EvaluationRun.objects.update(state="running")

    found = steps(judged_project)["judge"]

    assert (found.state, found.number, found.action) == ("Running", "100\u202f%", "Watch the run")


def test_verdicts_that_take_longer_are_fetched_after_the_page(
    judged_project: Project, as_role: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "AT_ONCE_NUMBERS", 5)

    def computed(*_given: Any, **_named: Any) -> None:
        raise AssertionError("computed with the page")

    client = as_role("viewer")
    with monkeypatch.context() as patch:
        patch.setattr(ReportView, "numbers", computed)
        page = client.get("/p/small/").content.decode()
    part = client.get("/p/small/standing/").content.decode()

    assert "The verdicts are being computed…" in page
    assert 'class="standings"' not in page
    assert "Too early to say" in part
    assert 'id="step-report"' in part
