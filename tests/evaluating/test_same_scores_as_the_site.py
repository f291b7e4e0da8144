"""`geval.evaluate` gives the scores of a site's run, to the last digit: one engine."""

from collections.abc import Callable
from pathlib import Path

import pytest

import geval
from evaluations.corpus.store import load_files
from evaluations.judging.judges.criteria import add_presets
from evaluations.judging.judges.judges import JudgeDraft, create_judge, endpoint_at
from evaluations.judging.judges.probing import probe_endpoint
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Project
from geval.evaluating.evaluating import FORMS
from geval.files.readers import InputFile
from geval.llm.presets import presets_by_key
from geval.texts.stand_in import MODEL
from tests.processes import StandInProcess

PRESET = "summarisation/any/coherence"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("settings", "steps", "route"),
    [
        ({"mode": "logprobs"}, True, ""),
        ({"mode": "direct", "reply_form": "rating"}, True, ""),
        ({"kind": "decision", "protocol": "systemone"}, False, ""),
        ({"mode": "logprobs"}, True, "/responses"),
    ],
)
def test_both_send_the_same_prompts_and_read_the_same_scores(
    project: Project,
    start_standin: Callable[..., StandInProcess],
    tmp_path: Path,
    settings: dict[str, str],
    steps: bool,
    route: str,
) -> None:
    path = tmp_path / "outputs.csv"
    path.write_text(
        "doc_id,system_id,source,output\n"
        + "".join(
            f"d{n},{name},The {n}. ferry sails at {n}.,A ferry sails at {n * k}.{' Yes.' * k}\n"
            for n in range(5)
            for k, name in enumerate(("a", "b", "c"))
        )
    )
    base_url = start_standin().base_url + route
    load_files(project, [InputFile(path, path.name)])
    add_presets(project, presets_by_key([PRESET]))
    endpoint = endpoint_at(project, base_url)
    probe_endpoint(endpoint, MODEL)
    own = {name: value for name, value in settings.items() if name in FORMS}
    draft = JudgeDraft(name="Site", endpoint=endpoint, model=MODEL, use_steps=steps, settings=own)
    general = {name: value for name, value in settings.items() if name not in own}
    judge, _ = create_judge(project, draft.changed(**general))
    run = start_run(judge, list(project.criteria.all()))
    work_on_run(run.pk, "worker")
    site = {
        (score.output.document.doc_id, score.output.system.name): score.value
        for score in run.scores.select_related("output__document", "output__system")
    }

    library = geval.evaluate(
        path, criterion=PRESET, model=MODEL, base_url=base_url, steps=steps, kept_in=None,
        progress=False, **settings,
    )  # fmt: skip

    assert {(each.document, each.system): each.score for each in library.scores} == site
    assert len(site) == 15
