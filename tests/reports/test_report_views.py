"""Filters, the documents behind a number, downloads, live updates, share links and snapshots."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotations.models import Rating
from evaluations.models import EvaluationRun, Judge, Project, ReportSnapshot, Score, ShareLink
from evaluations.models.changes import note_change
from evaluations.reports.data import load_data
from geval.reports.document_figures import documents_behind
from geval.reports.figures import FIGURES

pytestmark = pytest.mark.django_db
ADDRESS = "/p/small/report/"
NUMBERS = "doc_id,system_id,criterion,judge,score\n"


@pytest.fixture
def client(as_role: Callable[[str], Client], judged_project: Project) -> Client:
    return as_role("owner")


def report(client: Client, query: str = "") -> dict:
    answer = client.get(f"{ADDRESS}export/json/{query}")
    assert answer.status_code == 200
    return json.loads(answer.content)


def test_filters_take_a_part_of_the_data(client: Client, judged_project: Project) -> None:
    annotator = judged_project.annotators.get(name="ann")
    criterion = judged_project.criteria.get(name="fluency")

    whole, part = (
        report(client),
        report(client, f"?criteria={criterion.pk}&annotators={annotator.pk}&documents=D1"),
    )

    assert set(whole["criteria"]) == {"coherence", "fluency"}
    assert set(part["criteria"]) == {"fluency"}
    assert part["criteria"]["fluency"]["documents"] == 1
    assert list(part["criteria"]["fluency"]["agreement"]["leave_one_out_summary_spearman"]) == []
    assert (
        part["view"]["query"] == f"annotators={annotator.pk}&criteria={criterion.pk}&documents=D1"
    )


def test_a_number_leads_to_its_documents_the_most_different_first(
    client: Client, judged_project: Project, load: Callable[..., object]
) -> None:
    rows = [
        ("d1", "good", 5),
        ("d1", "odd", 1),
        ("d2", "good", 1),
        ("d2", "odd", 5),
        ("d3", "good", 4),
        ("d3", "odd", 4),
    ]
    load(
        judged_project,
        {"s.csv": NUMBERS + "".join(f"{d},{s},coherence,upside,{v}\n" for d, s, v in rows)},
    )
    judge, criterion = (
        Judge.objects.get(name="upside"),
        judged_project.criteria.get(name="coherence"),
    )
    data = load_data(judged_project, [judge], [criterion])

    found = documents_behind(data, criterion.pk, judge.pk)
    page = client.get(f"{ADDRESS}cell/{criterion.pk}/{judge.pk}/").content.decode()

    assert [(one.doc_id, one.rho, one.distance) for one in found.worst] == [
        ("d2", -1.0, 1.0),
        ("d3", None, 0.5),
        ("d1", 1.0, 0.0),
    ]
    assert page.index(">d2<") < page.index(">d3<") < page.index(">d1<")
    assert f"/p/small/data/{found.worst[0].pk}/?sort=disagreement" in page


def test_the_page_learns_when_something_changed_and_costs_little_when_not(
    client: Client, judged_project: Project, run: EvaluationRun
) -> None:
    first = client.get(ADDRESS + "live/")
    mark = first.headers["X-Mark"]

    same = client.get(ADDRESS + "live/", {"mark": mark})
    criterion = judged_project.criteria.get(name="coherence")
    Score.objects.filter(run=run, criterion=criterion).update(value=1.0)
    note_change(judged_project.pk, [criterion.pk], judge=run.judge_id)
    changed = client.get(ADDRESS + "live/", {"mark": mark})

    assert same.status_code == 204
    assert changed.status_code == 200
    assert changed.headers["X-Mark"] != mark
    assert changed.content != first.content


def test_only_what_changed_is_computed_anew(
    client: Client, judged_project: Project, run: EvaluationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geval.reports import report as module

    report(client)
    computed = []
    real = module.analyse_judge

    def counting(*arguments: object) -> object:
        computed.append(arguments)
        return real(*arguments)  # type: ignore[arg-type]

    counting.__module__, counting.__qualname__ = real.__module__, real.__qualname__
    monkeypatch.setattr(module, "analyse_judge", counting)
    criterion = judged_project.criteria.get(name="coherence")
    Score.objects.filter(run=run, criterion=criterion).update(value=2.0)
    note_change(judged_project.pk, [criterion.pk], judge=run.judge_id)

    report(client)
    report(client)

    assert len(computed) == 1


def test_a_share_link_opens_the_view_without_signing_in_until_it_is_revoked(
    client: Client, judged_project: Project
) -> None:
    made = client.post(ADDRESS + "share/", {"query": "level=system", "days": "7"}, follow=True)
    text = made.content.decode()
    address = "/shared/" + text.split("/shared/")[1].split("/")[0] + "/"
    visitor = Client()

    page = visitor.get(address)
    judge, criterion = Judge.objects.get(), judged_project.criteria.first()
    assert criterion
    parts = [visitor.get(address + part).status_code for part in (
        "live/", "export/csv/", f"figure/scatter/{criterion.pk}/",
        f"cell/{criterion.pk}/{judge.pk}/",
    )]  # fmt: skip
    elsewhere = visitor.get(ADDRESS)
    client.post(f"{ADDRESS}share/{ShareLink.objects.get().pk}/revoke/")
    revoked = visitor.get(address)

    assert page.status_code == 200
    assert "system level, Spearman" in page.content.decode()
    assert "Create link" not in page.content.decode()
    assert parts == [200, 200, 200, 200]
    assert (
        "?sort=disagreement"
        not in visitor.get(address + f"cell/{criterion.pk}/{judge.pk}/").content.decode()
    )
    assert elsewhere.status_code == 302
    assert revoked.status_code == 404
    assert address.split("/")[2] not in ShareLink.objects.get().digest


def shared(client: Client, query: str) -> str:
    text = client.post(ADDRESS + "share/", {"query": query}, follow=True).content.decode()
    return "/shared/" + text.split("/shared/")[1].split("/")[0] + "/"


def test_a_share_link_shows_the_view_it_was_made_for_whatever_is_asked(
    client: Client, judged_project: Project
) -> None:
    coherence, fluency = judged_project.criteria.order_by("name")
    judge = Judge.objects.get()
    address = shared(client, f"criteria={coherence.pk}&annotators=&level=system")
    visitor = Client()
    wider = (
        f"?criteria={fluency.pk}&criteria={coherence.pk}"
        "&level=item&coefficient=pearson&documents=d1"
    )

    fixed, asked = (visitor.get(address + "export/json/" + query).json() for query in ("", wider))
    page = visitor.get(address + wider).content.decode()
    statuses = [
        visitor.get(f"{address}{part}{query}").status_code
        for query in ("", wider)
        for part in (f"figure/scatter/{fluency.pk}/", f"cell/{fluency.pk}/{judge.pk}/")
    ]

    assert fixed == asked
    assert set(fixed["criteria"]) == {"coherence"}
    assert "system level, Spearman" in page
    assert "fluency" not in page
    assert "filter-form" not in page
    assert statuses == [404, 404, 404, 404]


def test_a_share_link_is_not_wider_when_what_it_showed_is_gone(
    client: Client, judged_project: Project
) -> None:
    system = judged_project.systems.create(name="gone")
    address = shared(client, f"systems={system.pk}")
    assert Client().get(address).status_code == 200

    system.delete()

    assert Client().get(address).status_code == 404


def test_a_share_link_ends_with_its_time_and_only_editors_make_one(
    as_role: Callable[[str], Client], client: Client
) -> None:
    client.post(ADDRESS + "share/", {"days": "1"})
    text = client.get(ADDRESS).content.decode()
    address = "/shared/" + text.split("/shared/")[1].split("/")[0] + "/"
    ShareLink.objects.update(expires_at=timezone.now() - timedelta(hours=1))

    assert Client().get(address).status_code == 404
    assert as_role("viewer").post(ADDRESS + "share/", {}).status_code == 403
    assert Client().get("/shared/made-up/").status_code == 404


def test_a_snapshot_is_found_again_by_its_hash_whatever_happens_later(
    client: Client, judged_project: Project, run: EvaluationRun
) -> None:
    first = client.post(ADDRESS + "snapshots/new/", {"query": "", "note": "Table 1"})
    again = client.post(ADDRESS + "snapshots/new/", {"query": ""})
    Score.objects.filter(run=run).update(value=3.0)
    note_change(judged_project.pk, [None], judge=run.judge_id)

    page = client.get(first["Location"]).content.decode()
    content = client.get(first["Location"] + "?download=1").content

    snapshot = ReportSnapshot.objects.get()
    assert first["Location"] == again["Location"]
    assert hashlib.sha256(content).hexdigest() == snapshot.sha256
    assert snapshot.sha256 in page
    assert "Table 1" in page
    assert report(client) != json.loads(content)


@pytest.mark.parametrize(
    "ratings",
    [
        "d1,good,coherence,ann,3\n",
        "".join(f"d{d},{s},coherence,ann,3\n" for d in (1, 2, 3) for s in ("good", "odd")),
        "".join(f"d{d},good,coherence,{a},{d}\n" for d in (1, 2, 3) for a in ("ann", "bob")),
        "d1,good,coherence,ann,3\nd1,odd,coherence,ann,4\nd2,good,coherence,bob,1\nd2,odd,coherence,bob,2\n",
        "".join(
            f"d1,{s},coherence,{a},{v}\n"
            for a in ("ann", "bob")
            for s, v in (("good", 4), ("odd", 2))
        ),
    ],
    ids=["one rating", "one rater and all ties", "one system", "no overlap", "one document"],
)
@pytest.mark.parametrize("scores", ["same", "varied"])
def test_poor_data_gives_values_or_plain_reasons_and_no_page_fails(
    as_role: Callable[[str], Client],
    small_project: Project,
    load: Callable[..., object],
    ratings: str,
    scores: str,
) -> None:
    Rating.objects.all().delete()
    given = "".join(
        f"d{d},{s},coherence,judge,{3 if scores == 'same' else 1 + (d + len(s)) % 5}\n"
        for d in (1, 2, 3)
        for s in ("good", "odd")
    )
    load(
        small_project,
        {
            "r.csv": "doc_id,system_id,criterion,annotator,score\n" + ratings,
            "s.csv": NUMBERS + given,
        },
    )
    client = as_role("owner")

    for query in ("", "?level=system", "?level=dataset&coefficient=kendall", "?over=both"):
        assert client.get(ADDRESS + query).status_code == 200
        found = report(client, query)["criteria"]["coherence"]["judges"]["judge"]
        for coefficient in ("pearson", "spearman", "kendall"):
            for level in ("summary", "system", "dataset"):
                estimate = found[coefficient][level]
                assert estimate["value"] is not None or estimate["reason"]
    criterion = small_project.criteria.get(name="coherence")
    for kind in FIGURES:
        assert client.get(f"{ADDRESS}figure/{kind}/{criterion.pk}/").status_code == 200, kind
