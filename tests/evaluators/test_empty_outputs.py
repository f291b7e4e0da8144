"""An empty output has the score that a metric's definition gives it, or fails by name; both are
counted on the run's page."""

from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, Project
from geval.evaluators.base import SCORED_EMPTY, Item, LocalEvaluator, Outcome
from geval.evaluators.registry import evaluator_class, evaluators, make_local
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored

Load = Callable[..., object]
EMPTY = "\n".join(
    f'{{"doc_id": "d{d}", "system_id": "s", "source": "the ferry sails", "output": "{output}", '
    '"references": ["the ferry sails"]}'
    for d, output in enumerate(("", "  ", "the ferry sails"))
)


def outcome_of(kind: str, output: str, *references: str, **settings: object) -> Outcome:
    evaluator = make_local(kind, settings)
    evaluator.load()
    (outcome,) = evaluator.score_readable([Item(Texts("source", output, references=references))])
    return outcome


@pytest.mark.parametrize("output", ["", " \n"])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        *(("rouge", {"variant": one}) for one in ("rouge1", "rouge2", "rougeL", "rougeLsum")),
        ("rouge", {"measure": "precision"}),
        ("bleu", {}),
        ("bleu", {"references": "mean"}),
        ("chrf", {}),
        ("chrf", {"word_order": 2}),
        ("meteor", {"synonyms": False}),
    ],
)
def test_a_metric_of_shared_words_gives_an_empty_output_its_worst_score(
    kind: str, settings: dict[str, object], output: str
) -> None:
    outcome = outcome_of(kind, output, "the ferry sails", **settings)

    assert outcome == Scored.plain(0.0, SCORED_EMPTY)


def test_the_packages_give_empty_outputs_the_same_score() -> None:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    assert RougeScorer(["rougeL"]).score("the ferry", "")["rougeL"].fmeasure == 0
    assert BLEU(effective_order=True).sentence_score("", ["the ferry"]).score == 0
    assert CHRF().sentence_score("", ["the ferry"]).score == 0


def test_rouge_takes_an_output_of_punctuation_for_empty() -> None:
    assert outcome_of("rouge", "… !?", "the ferry") == Scored.plain(0.0, SCORED_EMPTY)


def test_rouge_is_undefined_if_no_reference_has_a_word_either() -> None:
    outcome = outcome_of("rouge", "…", "!?")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.detail[:22]) == (Reason.UNDEFINED, "No reference has a wor")


def test_an_empty_output_without_a_reference_lacks_the_reference() -> None:
    outcome = outcome_of("bleu", "")

    assert isinstance(outcome, Failure)
    assert outcome.reason == Reason.NO_TEXT


def test_bertscore_gives_0_before_it_is_rescaled() -> None:
    bertscore = evaluator_class("bertscore")

    plain, rescaled = bertscore({"model": "m"}), bertscore({"model": "m", "baseline": 0.8})

    assert isinstance(plain, LocalEvaluator)
    assert isinstance(rescaled, LocalEvaluator)
    assert plain.score_of_empty() == 0
    assert rescaled.score_of_empty() == pytest.approx(-4)


def test_evaluators_without_such_a_definition_say_so() -> None:
    defined = {
        kind
        for kind, one in evaluators().items()
        if issubclass(one, LocalEvaluator)
        and one.score_of_empty is not LocalEvaluator.score_of_empty
    }
    outcome = make_local("embedding", {"model": "m"}).missing_text(
        Texts("source", " ", references=("reference",))
    )

    assert defined == {"rouge", "bleu", "chrf", "meteor", "bertscore"}
    assert isinstance(outcome, Failure)
    assert outcome.reason == Reason.EMPTY_OUTPUT
    assert "Embedding similarity is not defined" in outcome.detail


def test_an_ensemble_blends_scores_of_empty_outputs_like_any_other() -> None:
    panel = make_local("ensemble", {"judges": "a, b"})

    assert panel.missing_text(Texts("source", "")) is None


@pytest.mark.django_db(transaction=True)
def test_the_page_of_a_run_counts_outputs_that_were_scored_as_empty(
    project: Project, load: Load, as_role: Callable[[str], Client]
) -> None:
    load(project, {"outputs.jsonl": EMPTY})
    judge, _ = create_judge(project, JudgeDraft(name="ROUGE", kind="rouge"))
    run = start_run(judge, [])
    work_on_run(run.pk, "tester")

    page = as_role("owner").get(run.get_absolute_url()).content.decode()

    assert sorted(run.scores.values_list("value", "note")) == [
        (0.0, SCORED_EMPTY),
        (0.0, SCORED_EMPTY),
        (1.0, ""),
    ]
    assert "<strong>2</strong>\n        outputs without words, with the score" in page
    assert "with a note" not in page


@pytest.mark.django_db(transaction=True)
def test_the_page_of_a_run_counts_empty_outputs_that_a_model_rated(
    project: Project,
    load: Load,
    make_judge: Callable[..., Judge],
    as_role: Callable[[str], Client],
) -> None:
    load(project, {"outputs.jsonl": EMPTY})
    criterion = project.criteria.create(name="fluency", scale_min=1, scale_max=5)
    run = start_run(make_judge(project, use_steps=False), [criterion])
    work_on_run(run.pk, "tester")

    page = as_role("owner").get(run.get_absolute_url()).content.decode()

    assert EvaluationRun.objects.get().scores.count() == 3
    assert "<strong>2</strong>\n        scores of empty outputs" in page
