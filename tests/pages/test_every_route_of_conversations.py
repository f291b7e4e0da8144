"""Whatever shows, computes or exports a project works where documents are turns of sessions, with
several systems, raters and judges: every page, command, download and operation of the API.

Pages and operations come from the URL configuration, commands from the folders that hold them, and
downloads from their tables, so that a new one is walked by itself.
"""

import io
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from annotations.models import Assignment, AssignmentState, Campaign
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.corpus.store import LoadResult
from evaluations.judging.runs import leases, results
from evaluations.judging.runs.lifecycle import close_if_finished, lay_out_rest, lay_out_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import Document, Judge, LockedDocuments, Project
from evaluations.reports.ratings.downloads import DOWNLOADS
from evaluations.web.views.drawings import TYPES
from geval.llm.scoring import Scored
from geval.reports.downloads.formats import BY_ENDING
from geval.reports.drawings.drawn import KINDS
from geval.reports.figures import FIGURES
from tests.pages.addresses import address, operations, records_of, routes

pytestmark = pytest.mark.django_db
SESSIONS = 36
SYSTEMS = ("bot-a", "bot-b", "bot-c")
RATERS = ("ann", "bob", "eve")
# Pages that show numbers, in views that compute other ones.
VIEWS = (
    "?level=session&coefficient=pearson",
    "?level=system&over=systems",
    "?level=dataset&human_score=median",
    "?over=both&coefficient=kendall",
)
NUMBERS = {
    "evaluations:report_detail", "evaluations:report_numbers", "evaluations:report_drawings",
    "evaluations:report_annotators", "evaluations:judge_compare", "evaluations:disagreement_list",
}  # fmt: skip
# Errors of Django's own, of what is not there, and of methods that a page does not take.
EXPECTED = {400, 403, 404, 405, 409, 410, 413, 415, 422}


def conversations_of_the_first() -> str:
    """Sessions of uneven length of one system, which calls a tool now and then."""
    records = []
    for session in range(SESSIONS):
        turns: list[dict[str, Any]] = []
        for number in range(1 + session % 2):
            turns.append({"role": "user", "text": f"What about {session}, {number}?"})
            if number == 1:
                call = {"id": f"c{number}", "name": "look_up"}
                turns.append({"role": "assistant", "tool_calls": [call]})
                turns.append({"role": "tool", "tool_call_id": call["id"], "content": "08:10"})
            turns.append({"role": "assistant", "text": f"It is {number}. It is {session}."})
        records.append(
            {
                "session_id": f"s{session}",
                "system_id": SYSTEMS[0],
                "rate": "assistant",
                "turns": turns,
            }
        )
    return "\n".join(map(json.dumps, records))


def files_about(documents: Iterable[Document]) -> dict[str, str]:
    """What two other systems said at the same turns, what three people and a metric gave to all of
    it, and comparisons."""
    rng = random.Random(7)
    outputs, preferences = [], ["doc_id,system_a,system_b,winner,annotator"]
    ratings = ["doc_id,system_id,criterion,annotator,score"]
    scores = ["doc_id,system_id,criterion,judge,score"]
    level: dict[str, float] = {}
    for document in documents:
        of_session = level.setdefault(document.session, rng.gauss(3, 0.8))
        for index, system in enumerate(SYSTEMS):
            if index:
                outputs.append(
                    {
                        "doc_id": document.doc_id,
                        "session_id": document.session,
                        "system_id": system,
                        "source": document.source,
                        "output": f"Perhaps {document.doc_id}. " * index,
                    }
                )
            quality = of_session + 0.5 * index
            for rater in RATERS:
                rating = min(5, max(1, round(quality + rng.gauss(0, 0.7))))
                ratings.append(f"{document.doc_id},{system},helpfulness,{rater},{rating}")
                ratings.append(f"{document.doc_id},{system},safety,{rater},{int(rating > 2)}")
            score = min(5.0, max(1.0, quality + rng.gauss(0, 0.5)))
            scores.append(f"{document.doc_id},{system},helpfulness,metric,{score:.2f}")
            scores.append(f"{document.doc_id},{system},safety,metric,{int(score > 2.5)}")
        winner = rng.choice("ab")
        preferences.append(f"{document.doc_id},{SYSTEMS[0]},{SYSTEMS[1]},{winner},ann")
    return {
        "others.jsonl": "\n".join(map(json.dumps, outputs)),
        "ratings.csv": "\n".join(ratings),
        "scores.csv": "\n".join(scores),
        "preferences.csv": "\n".join(preferences),
    }


@pytest.fixture
def conversations(
    project: Project, load: Callable[..., LoadResult], make_judge: Callable[..., Judge]
) -> Project:
    """The sessions, also judged by a run."""
    load(project, {"sessions.jsonl": conversations_of_the_first()})
    load(project, files_about(project.documents.order_by("pk")))
    judge = make_judge(project, base_url="http://127.0.0.1:1/v1", name="Judy", use_steps=False)
    run = start_run(judge, list(project.criteria.all()))
    lay_out_run(run.pk)
    lay_out_rest(run.pk)  # a first part is random, and would not have each document
    rng, safety = random.Random(8), project.criteria.get(name="safety").pk
    finished = []
    claimed = leases.claim(run.pk, "t", most=2000)
    for item in sorted(claimed, key=lambda one: (one.criterion_id or 0, one.output_id)):
        score = float(rng.randint(0, 1) if item.criterion_id == safety else rng.randint(1, 5))
        finished.append(results.FinishedItem(item, "", Scored(score, {score: 1.0}, 0.97)))
    results.store(run, finished, "t")
    close_if_finished(run.pk)
    return project


@pytest.fixture
def place(
    conversations: Project, make_user: Callable[..., User], owner: User, client: Client
) -> dict[str, Any]:
    """A record for every argument of an address, and the owner's browser on them."""
    records = records_of(conversations, make_user)
    # Until the last look, ratings of locked sessions are withheld; here all count.
    LockedDocuments.objects.update(unlocked_at=timezone.now())
    client.force_login(owner)
    campaign = Campaign.objects.create(project=conversations, name="Open", overlap=1)
    campaign.criteria.set(conversations.criteria.all())
    seat_annotators(campaign, [owner])
    open_campaign(campaign)
    client.get(f"/p/small/annotate/{campaign.pk}/task/", follow=True)
    records["task"] = campaign.pk
    records["assignment"] = (
        Assignment.objects.filter(state=AssignmentState.RESERVED).earliest("pk").pk
    )
    return records


def addresses(name: str, taken: Sequence[str], place: dict[str, Any]) -> Iterator[str]:
    """The address of a page, once for each of the choices that it has."""
    project, member = place["project"], place["project"].memberships.order_by("pk")[0].pk
    choices: list[dict[str, Any]] = [{"assignment": place["assignment"]}]
    if {"kind", "ending"} <= set(taken):
        choices = [{"kind": kind, "ending": "svg"} for kind in KINDS]
        choices += [{"ending": ending} for ending in TYPES] if "report" in name else []
    elif {"kind", "criterion"} <= set(taken):
        choices = [{"kind": kind} for kind in FIGURES]
    elif "ending" in taken:
        choices = [{"ending": ending} for ending in sorted({*BY_ENDING, "csv", "json"})]
    elif "name" in taken:
        choices = [{"name": download} for download in DOWNLOADS]
    elif {"criterion", "judge"} <= set(taken) and "report" in name:
        choices = [
            {"criterion": criterion, "judge": judge}
            for criterion in project.criteria.values_list("pk", flat=True)
            for judge in project.judges.values_list("pk", flat=True)
        ]
    for choice in choices:
        yield address(name, place, member, **choice)
    if name in NUMBERS:
        yield from (address(name, place, member) + view for view in VIEWS)


def ask(client: Client, method: str, path: str, **about: Any) -> int:
    """The status of an answer, read to its end; what it changed is taken back."""
    session = client.cookies["sessionid"].value
    with transaction.atomic():
        response = client.generic(method, path, **about)
        if response.streaming:
            for _ in response:
                pass
        transaction.set_rollback(True)
    client.cookies["sessionid"] = session  # one of the pages signs out
    return int(response.status_code)


@pytest.mark.parametrize("of_reports", [True, False])
def test_no_page_of_conversations_breaks(
    client: Client, place: dict[str, Any], of_reports: bool
) -> None:
    client.raise_request_exception = False
    broken, unreached = [], []
    for name, taken in routes():
        if name.startswith(("admin:", "api:")) or ("report" in name) != of_reports:
            continue
        statuses = {path: ask(client, "GET", path) for path in addresses(name, taken, place)}
        posted = ask(
            client,
            "POST",
            next(iter(statuses)),
            content_type="application/x-www-form-urlencoded",
        )
        wrong = [
            (path, status)
            for path, status in [*statuses.items(), ("POST", posted)]
            if status >= 400 and status not in EXPECTED
        ]
        broken += [(name, *one) for one in wrong]
        if {*statuses.values()} == {404}:
            unreached.append((name, statuses))

    assert broken == []
    assert unreached == []


QUERIES = {
    "/api/v1/projects/{slug}/report": VIEWS,
    "/api/v1/projects/{slug}/plan": (
        "?kind=judge&width=0.2&judge={judge}&criterion={criterion}",
        "?kind=systems&width=0.5&system={system}&other={other}&criterion={criterion}",
    ),
    "/api/v1/projects/{slug}/judge-tests": ("?first={judge}&second={rival}",),
}


def test_no_operation_of_the_api_breaks_on_conversations(
    client: Client, place: dict[str, Any]
) -> None:
    client.raise_request_exception = False
    project = place["project"]
    systems = list(project.systems.values_list("pk", flat=True))
    names = {
        "judge": place["judge"],
        "rival": project.judges.exclude(pk=place["judge"]).get().pk,
        "criterion": place["criterion"],
        "system": systems[0],
        "other": systems[1],
    }
    broken, unreached = [], []
    for method, path in operations():
        paths = [address(path, place)]
        if "{name}" in path:
            paths = [paths[0].replace("{name}", name) for name in DOWNLOADS]
        if method == "GET":
            paths += [paths[0] + query.format(**names) for query in QUERIES.get(path, ())]
        for asked in paths:
            status = ask(client, method, asked, data="{}", content_type="application/json")
            if status >= 400 and status not in EXPECTED:
                broken.append((method, asked, status))
            if status == 404:
                unreached.append((method, asked))

    assert broken == []
    assert unreached == []


def test_an_archive_of_conversations_gives_the_same_report(
    conversations: Project, tmp_path: Path
) -> None:
    def report(slug: str) -> Any:
        out = io.StringIO()
        call_command("report", slug, "--format", "json", stdout=out)
        return json.loads(out.getvalue())["criteria"]

    archive = tmp_path / "small.zip"
    call_command("export_project", "small", str(archive), stdout=io.StringIO())
    call_command("import_project", str(archive), "--as", "copy", stdout=io.StringIO())

    assert report("copy") == report("small")
