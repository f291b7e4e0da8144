"""Texts over the limit, models that are missing or of the wrong kind: one clear message each,
nothing lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.lifecycle import resume_run
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, ItemState, Project, RunState
from geval.evaluators.bartscore import BartScore
from geval.evaluators.base import EvaluatorError, Item
from geval.evaluators.bertscore import BertScore
from geval.evaluators.factcc import FactCc
from geval.evaluators.unieval import UniEval
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure
from geval.llm.scoring import Scored
from tests.neural.conftest import LIMIT

Load = Callable[..., Any]
LONG = "the ferry sails at noon " * 12  # 60 tokens and two marks
SHORT = "the ferry sails"


def item(output: str = SHORT, source: str = SHORT, reference: str = SHORT) -> Item:
    return Item(Texts(source, output, references=(reference,)), "coherence", "Good ?")


@pytest.mark.parametrize(
    ("evaluator", "kind", "long", "what"),
    [
        (BertScore, "bert", item(output=LONG), f"The output has 62 tokens and .* takes {LIMIT}"),
        (
            BertScore,
            "bert",
            item(reference=LONG),
            f"The references has 62 tokens and .* takes {LIMIT}",
        ),
        (BartScore, "bart", item(source=LONG), f"The source has 62 tokens and .* takes {LIMIT}"),
        (
            UniEval,
            "t5",
            item(source=LONG),
            f"The question with its texts has .* tokens and .* takes {LIMIT}",
        ),
        (
            FactCc,
            "classifier",
            item(source=LONG),
            f"The source with the output has .* tokens and .* takes {LIMIT}",
        ),
    ],
)
def test_a_text_over_the_limit_fails_its_item_and_no_other(
    loaded: Load, evaluator: type, kind: str, long: Item, what: str
) -> None:
    failed, scored = loaded(evaluator, kind).score([long, item()])

    assert isinstance(failed, Failure)
    assert failed.reason == "too_long"
    import re

    assert re.match(what, failed.detail), failed.detail
    assert "Set over_limit to cut" in failed.detail
    assert isinstance(scored, Scored)
    assert scored.note == ""


def test_a_cut_text_scores_as_if_it_ended_there_and_says_so(loaded: Load) -> None:
    evaluator = loaded(BartScore, "bart", over_limit="cut")
    kept = " ".join(LONG.split()[: LIMIT - 2])

    cut, same = evaluator.score([item(source=LONG), item(source=kept)])

    assert cut.value == pytest.approx(same.value, abs=1e-6)
    assert f"source was cut from 62 to {LIMIT} tokens" in cut.note
    assert same.note == ""


def test_a_model_that_is_not_there_is_named_with_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(
        EvaluatorError,
        match=r"BARTScore cannot load the model .* Give the name of a model on the hub",
    ):
        BartScore({"model": str(tmp_path / "nothing")}).load()


def test_a_model_of_the_wrong_kind_is_named_with_the_right_one(tiny: Callable[[str], str]) -> None:
    with pytest.raises(
        EvaluatorError, match=r"BARTScore needs an encoder-decoder model .* is of another kind"
    ):
        BartScore({"model": tiny("bert")}).load()


def test_a_model_without_trained_weights_for_the_task_is_refused(
    tiny: Callable[[str], str],
) -> None:
    with pytest.raises(
        EvaluatorError, match=r"FactCC needs a classifier of texts; .* without trained weights"
    ):
        FactCc({"model": tiny("bert")}).load()


OUTPUTS = "\n".join(
    f'{{"doc_id": "d{d}", "system_id": "s", "source": "the ferry sails at noon", "output":'
    f' "{text}", "references": ["the ferry sails"]}}'
    for d, text in enumerate((SHORT, "  ", LONG, "boat"))
)


def run_of(project: Project, **settings: object) -> EvaluationRun:
    judge, _ = create_judge(project, JudgeDraft(name="B", kind="bertscore", settings=settings))
    run = start_run(judge, [])
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    return run


@pytest.mark.django_db(transaction=True)
def test_a_run_scores_what_it_can_and_fails_the_rest_by_name(
    project: Project, load: Load, tiny: Callable[[str], str]
) -> None:
    load(project, {"outputs.jsonl": OUTPUTS})

    run = run_of(project, model=tiny("bert"))

    failed = dict(
        run.items.filter(state=ItemState.FAILED).values_list("output__document__doc_id", "reason")
    )
    assert run.state == RunState.DONE
    assert failed == {"d2": "too_long"}
    assert run.scores.get(output__document__doc_id="d1").value == 0  # an empty output
    assert run.scores.count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_run_whose_model_is_missing_pauses_with_the_message_and_resumes_when_it_is_there(
    project: Project, load: Load, tiny: Callable[[str], str], tmp_path: Path
) -> None:
    load(project, {"outputs.jsonl": OUTPUTS})
    folder = tmp_path / "later"

    run = run_of(project, model=str(folder), over_limit="cut")
    assert run.state == RunState.PAUSED
    assert run.message.startswith(f"BERTScore cannot load the model '{folder}'")
    assert run.items.filter(state=ItemState.PENDING).count() == 4

    folder.symlink_to(tiny("bert"))
    resume_run(run)
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    assert run.state == RunState.DONE
    cut = run.scores.get(output__document__doc_id="d2")
    assert f"output was cut from 62 to {LIMIT} tokens" in cut.note
