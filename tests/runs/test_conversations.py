"""A judge of whole sessions, and of their turns, from the file to the report, against the
stand-in."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Criterion, Judge, ModelReply, Project, RunState
from evaluations.reports.report import build_report
from geval.llm.presets import presets

pytestmark = pytest.mark.django_db(transaction=True)


def said(count: int, what: str) -> list[dict[str, Any]]:
    return [
        {"role": ("user", "assistant")[n % 2], "content": f"{what}, turn {n + 1}"}
        for n in range(count)
    ]


def criterion(project: Project, name: str) -> Criterion:
    preset = next(preset for preset in presets() if preset.name == name)
    made = Criterion(project=project, name=name)
    made.use_preset(preset)
    made.save()
    return made


def test_whole_sessions_are_judged_and_the_window_of_a_long_one_is_shown(
    project: Project,
    load: Callable[..., LoadResult],
    make_judge: Callable[..., Judge],
    as_role: Callable[[str], Client],
) -> None:
    sessions = [
        {"doc_id": f"task {task}", "system_id": system, "source": f"Task {task}",
         "rate": "session", "messages": said(count, system)}
        for task in (1, 2)
        for system, count in (("short", 6), ("long", 300))
    ]  # fmt: skip
    load(project, {"said.jsonl": "\n".join(map(json.dumps, sessions))})
    success = criterion(project, "task success")
    ratings = "".join(
        f"task {task},{system},task success,ann,{score}\n"
        for task in (1, 2)
        for system, score in (("short", 4), ("long", 2))
    )
    load(project, {"r.csv": "doc_id,system_id,criterion,annotator,score\n" + ratings})

    run = start_run(make_judge(project, use_steps=False), [success])
    work_on_run(run.pk, "a worker")

    run.refresh_from_db()
    assert run.state == RunState.DONE
    assert run.items.filter(state="done").count() == 4
    assert build_report(project).criteria[0].judges[0].correlations.pairs == 4
    assert ModelReply.objects.exists()
    item = run.items.get(output__system__name="long", output__document__doc_id="task 1")
    viewer = as_role("viewer")
    page = viewer.get(f"/p/{project.slug}/runs/{run.pk}/items/{item.pk}/")
    text = page.content.decode()
    assert "[Turns 1 to 200 of 300 are left out]" in text
    assert "saw the last 100 of 300 turns" in text
    other = run.items.get(output__system__name="short", output__document__doc_id="task 1")
    page = viewer.get(f"/p/{project.slug}/runs/{run.pk}/items/{other.pk}/")
    assert "the judge saw" not in page.content.decode()


def test_turns_are_judged_with_what_came_before_them_and_nothing_after(
    project: Project, load: Callable[..., LoadResult], make_judge: Callable[..., Judge]
) -> None:
    session = {"session_id": "s", "system_id": "bot", "rate": "assistant",
               "messages": said(6, "ferry")}  # fmt: skip
    load(project, {"said.jsonl": json.dumps(session)})
    helpful = criterion(project, "helpfulness")

    run = start_run(make_judge(project, use_steps=False), [helpful])
    work_on_run(run.pk, "a worker")

    items = run.items.select_related("output__document").order_by("output")
    assert [one.output.document.doc_id for one in items] == ["s#2", "s#4", "s#6"]
    assert {one.state for one in items} == {"done"}
    history = items[1].output.texts().history
    assert [turn.text for turn in history] == [f"ferry, turn {n}" for n in (1, 2, 3)]
