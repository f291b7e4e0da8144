"""The page of disagreements: the largest gap first with its evidence, filters, causes,
downloads."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from evaluations.models import (
    AuditEntry,
    CandidateOutput,
    Criterion,
    GapCause,
    Judge,
    Project,
    RunState,
    ShareLink,
)
from evaluations.models.changes import note_change
from evaluations.models.tokens import digest_of
from evaluations.reports.serving import live
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
ADDRESS = "/p/small/report/disagreements/"
GIVE, REMOVE = "/p/small/report/causes/give/", "/p/small/report/causes/remove/"
# People give (d1, good) 4 and 5, (d2, good) 4, (d1, odd) 1 and 2, (d2, odd) 1.
SCORES = {
    ("d1", "good"): 4,
    ("d2", "good"): 1,
    ("d3", "good"): 4,
    ("d1", "odd"): 2,
    ("d2", "odd"): 3,
    ("d3", "odd"): 1.5,
}
Load = Callable[..., object]


@pytest.fixture
def judge(small_project: Project, load: Load) -> Judge:
    live.forget()
    rows = "".join(f"{d},{s},coherence,imported,{v}\n" for (d, s), v in SCORES.items())
    load(small_project, {"s.csv": "doc_id,system_id,criterion,judge,score\n" + rows})
    return Judge.objects.get()


@pytest.fixture
def coherence(small_project: Project) -> Criterion:
    return small_project.criteria.get(name="coherence")


def output(doc: str, system: str) -> CandidateOutput:
    return CandidateOutput.objects.get(document__doc_id=doc, system__name=system)


def shown(client: Client, query: str = "") -> str:
    answer = client.get(ADDRESS + query)
    assert answer.status_code == 200
    return answer.content.decode()


def listed(text: str) -> list[str]:
    """The gaps of the list, in its order."""
    return re.findall(r'<span class="gap">([^<]+)</span>', text)


def about(judge: Judge, criterion: Criterion, of: CandidateOutput, **more: Any) -> dict[str, Any]:
    return {"judge": judge.pk, "criterion": criterion.pk, "output": of.pk, **more}


def test_the_largest_gap_comes_first_with_its_texts_and_every_rating(
    as_role: Callable[[str], Client], judge: Judge
) -> None:
    text = shown(as_role("owner"))

    assert listed(text) == ["−3.00", "+2.00", "−0.50", "+0.50", "−0.50", "0.00"]
    assert "good on" in text
    assert ">d2</a>" in text
    assert "people 4.00" in text
    assert "3.00 lower" in text
    assert "The 2. ferry sails at 2" in re.sub("<[^>]+>", "", text)
    assert re.search(r"ann <strong[^>]*>4</strong> ·\s+bob <strong[^>]*>4</strong>", text)


def test_a_constant_shift_is_said_and_can_be_left_out_of_the_order(
    as_role: Callable[[str], Client], small_project: Project, judge: Judge, load: Load
) -> None:
    """A judge that is always a point too low, but for one output, where it is right."""
    rows = []
    for number in range(4, 16):
        rows.append(
            f'{{"doc_id": "d{number:02}", "system_id": "good", "source": "S.", "output": "T."}}'
        )
    load(small_project, {"o.jsonl": "\n".join(rows)})
    given = {f"d{number:02}": 3 + number % 2 for number in range(4, 16)}
    load(
        small_project,
        {
            "r.csv": "doc_id,system_id,criterion,annotator,score\n"
            + "".join(f"{d},good,fluency,ann,{v}\n" for d, v in given.items()),
            "s.csv": "doc_id,system_id,criterion,judge,score\n"
            + "".join(
                f"{d},good,fluency,strict,{v if d == 'd15' else v - 1}\n" for d, v in given.items()
            ),
        },
    )
    strict, fluency = Judge.objects.get(name="strict"), small_project.criteria.get(name="fluency")
    client = as_role("owner")
    query = f"?criterion={fluency.pk}&judge={strict.pk}"

    plain, shifted = shown(client, query), shown(client, f"{query}&by=shifted")

    assert "strict by 0.92" in plain
    assert listed(plain)[0] == "−1.00"
    assert listed(shifted)[0] == "0.00"


def test_raters_who_are_apart_come_first_when_asked_for(
    as_role: Callable[[str], Client], judge: Judge
) -> None:
    first = listed(shown(as_role("owner"), "?by=apart"))[:4]

    assert sorted(first) == ["+0.50", "0.00", "−0.50", "−0.50"]


def test_the_list_can_be_of_one_system(
    as_role: Callable[[str], Client], judge: Judge, small_project: Project
) -> None:
    client, odd = as_role("owner"), small_project.systems.get(name="odd")

    assert listed(shown(client, f"?system={odd.pk}")) == ["+2.00", "+0.50", "0.00"]


def test_a_run_shows_its_own_scores(
    as_role: Callable[[str], Client], judge: Judge, coherence: Criterion, small_project: Project
) -> None:
    first = judge.runs.get()
    again = judge.runs.create(project=small_project, state=RunState.DONE)
    again.scores.create(output=output("d2", "good"), criterion=coherence, value=5.0)
    note_change(small_project.pk, [coherence.pk], judge=judge.pk)
    client = as_role("owner")

    assert listed(shown(client))[:2] == ["+2.00", "+1.00"]
    assert listed(shown(client, f"?run={first.pk}"))[:2] == ["−3.00", "+2.00"]
    assert listed(shown(client, f"?run={again.pk}")) == ["+1.00"]
    file = client.get(f"{ADDRESS}export/?run={again.pk}").content.decode()
    assert [row["gap"] for row in csv.DictReader(io.StringIO(file))] == ["1.0"]


def test_a_cause_is_stored_with_who_and_when_and_the_next_case_opens(
    as_role: Callable[[str], Client], judge: Judge, coherence: Criterion
) -> None:
    client = as_role("researcher")
    worst, then = output("d2", "good"), output("d2", "odd")

    answer = client.post(
        GIVE,
        about(judge, coherence, worst, cause="judge is wrong", then=then.pk, view="documents=d2"),
    )
    page = client.get(answer["Location"]).content.decode()

    given = GapCause.objects.get()
    assert (given.cause, given.given_by_name, given.output) == (
        "judge is wrong",
        "researcher",
        worst,
    )
    assert f"output={then.pk}" in answer["Location"]
    assert "documents=d2" in answer["Location"]
    assert listed(page) == ["+2.00"]
    assert "1 looked at" in page
    entry = AuditEntry.objects.get(action="evaluations:cause_give")
    assert entry.detail == "imported, coherence, good on d2: judge is wrong"


def test_a_cause_is_replaced_undone_and_keeps_its_note(
    as_role: Callable[[str], Client], judge: Judge, coherence: Criterion
) -> None:
    client, worst = as_role("owner"), output("d2", "good")

    client.post(GIVE, about(judge, coherence, worst, own="Source is cut", note="See line 2."))
    client.post(GIVE, about(judge, coherence, worst, cause="Rating is wrong"))
    given = GapCause.objects.get()
    page = shown(client, f"?output={worst.pk}&cause=all")
    client.post(REMOVE, about(judge, coherence, worst))

    assert (given.cause, given.note) == ("rating is wrong", "See line 2.")
    assert "See line 2." in page
    assert not GapCause.objects.exists()


@pytest.mark.parametrize("wrong", ["cause", "output", "judge"])
def test_what_cannot_be_stored_is_said(
    as_role: Callable[[str], Client], judge: Judge, coherence: Criterion, wrong: str
) -> None:
    client = as_role("owner")
    fields = about(judge, coherence, output("d2", "good"), cause="cannot say")
    fields[wrong] = {"cause": "", "output": 0, "judge": 10**9}[wrong]

    answer = client.post(GIVE, fields, follow=True)

    assert "Nothing was stored." in answer.content.decode()
    assert not GapCause.objects.exists()


def test_an_output_of_another_project_gets_no_cause(
    as_role: Callable[[str], Client], judge: Judge, coherence: Criterion
) -> None:
    other = Project.objects.create(name="Other", slug="other")
    document = other.documents.create(doc_id="x", source="S")
    foreign = document.outputs.create(system=other.systems.create(name="s"), text="secret-text")
    client = as_role("owner")

    client.post(GIVE, about(judge, coherence, foreign, cause="cannot say"))
    text = shown(client, f"?output={foreign.pk}&judge=999&criterion=999&system=999&run=999&page=99")

    assert not GapCause.objects.exists()
    assert "secret-text" not in text


def test_causes_are_downloaded_and_counted_on_the_report(
    as_role: Callable[[str], Client], judge: Judge, coherence: Criterion
) -> None:
    client = as_role("owner")
    client.post(GIVE, about(judge, coherence, output("d2", "good"), own="=1+1", note="n"))

    table = b"".join(client.get("/p/small/report/causes/export/csv/").streaming_content).decode()
    rows = json.loads(client.get("/p/small/report/causes/export/json/").content)
    lines = b"".join(client.get("/api/v1/projects/small/causes").streaming_content)
    report = client.get("/p/small/report/").content.decode()
    numbers = client.get("/p/small/report/export/json/").content.decode()

    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["doc_id"], row["system_id"], row["cause"]) == ("d2", "good", "'=1+1")
    assert rows == [json.loads(lines)]
    assert rows[0]["cause"] == "=1+1"
    assert rows[0]["given_by"] == "owner"
    assert re.search(r"=1\+1 <strong>1</strong>", report)
    assert "=1+1" not in numbers


def test_viewers_read_and_annotators_do_not(
    as_role: Callable[[str], Client], judge: Judge, coherence: Criterion
) -> None:
    viewer, annotator = as_role("viewer"), as_role("annotator")
    fields = about(judge, coherence, output("d2", "good"), cause="cannot say")

    assert "What is the cause?" not in shown(viewer)
    assert viewer.post(GIVE, fields).status_code == 403
    assert annotator.get(ADDRESS).status_code == 403
    assert not GapCause.objects.exists()


def test_a_shared_report_does_not_lead_to_texts(
    client: Client, judge: Judge, small_project: Project
) -> None:
    ShareLink.objects.create(project=small_project, digest=digest_of("token"))

    page = client.get("/shared/token/").content.decode()

    assert "/disagreements/" not in page
    assert "ferry" not in page
    assert client.get(ADDRESS).status_code == 302


def test_texts_are_escaped_and_long_ones_are_cut(
    as_role: Callable[[str], Client], judge: Judge
) -> None:
    worst = output("d2", "good")
    CandidateOutput.objects.filter(pk=worst.pk).update(text="<script>alert(1)</script> & more")
    worst.document.source = "word " * 40_000
    worst.document.save()

    text = shown(as_role("owner"))

    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "Long texts are cut here." in text
    assert len(text) < 150_000


def test_the_page_lists_fifty_and_the_next_one_the_rest(
    as_role: Callable[[str], Client], judge: Judge, small_project: Project, load: Load
) -> None:
    outputs, ratings, scores = [], [], []
    for number in range(10, 70):
        outputs.append(
            f'{{"doc_id": "d{number}", "system_id": "good", "source": "S", "output": "T"}}'
        )
        ratings.append(f"d{number},good,coherence,ann,{number % 5 + 1}\n")
        scores.append(f"d{number},good,coherence,imported,{number % 4 + 1}\n")
    load(small_project, files_of(outputs, ratings, scores))
    client = as_role("owner")

    assert len(listed(shown(client))) == 50
    assert len(listed(shown(client, "?page=2"))) == 16
