"""Files that the tools' own packages wrote, and exactly what each gives.

deepeval 4.3, alpaca-eval 0.6, fschat 0.2, lm-eval 0.4, label-studio-sdk 2.1, argilla 2.8, promptfoo
0.12x, potato-annotation 2.12, langfuse 3.15, langsmith 0.15, mlflow 3.17, inspect-ai 0.3.
"""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from annotations.models import Rating
from evaluations.models import Project
from geval.files.rows import PreferenceRow
from tests.corpus.small_files import SmallFile
from tests.corpus.test_small_files import load
from tests.corpus.tools.reading import (
    ANSWERED,
    ASKED,
    FIXTURES,
    LATER,
    SAID,
    fixture,
    outputs,
    ratings,
    read,
    read_records,
    records_in,
    scores,
    unused,
)

COST, COSTS = "What does a ticket cost?", "A ticket costs 9 euros, 5 for children."
BOARD, BOARDED = "Where do we board?", "At the old harbour, beside the lighthouse."
PIER = "At the old harbour,\nbeside the lighthouse.\n---\nPier 3."
ANNA, BOB = (f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2))
# System, source and output.
Output = tuple[str, str, str]


class Written(NamedTuple):
    """A file of a tool, and what it gives; `notes` are among what is listed as unused."""

    name: str
    outputs: tuple[Output, ...]
    ratings: tuple[tuple[str, str, float], ...] = ()
    scores: tuple[tuple[str, str, float], ...] = ()
    # First and second system, judge, and who is better.
    choices: tuple[tuple[str, str, str, int], ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


def of(system: str, *texts: tuple[str, str]) -> tuple[Output, ...]:
    return tuple((system, source, output) for source, output in texts)


def prompts(*texts: tuple[str, str]) -> tuple[Output, ...]:
    return of("file", *((f"Question: {q}\nAnswer:", f"Let me see. {a}") for q, a in texts))


THINKING = tuple(
    (source, f"The answer is {output} Bye.")
    for source, output in ((ASKED, ANSWERED), (LATER, SAID), (COST, COSTS))
)
HARNESS, JUDGE = "lm-evaluation-harness", "ferry_judge"
FILES = (
    Written(
        "deepeval_run.json",
        of("file", (ASKED, ANSWERED), (LATER, SAID), (COST, COSTS), (BOARD, BOARDED)),
        scores=(
            ("Short", "gpt-4o", 0.75), ("Short", "gpt-4o", 0.25),
            ("Polite [GEval]", "DeepEval", 0.75), ("Polite [GEval]", "DeepEval", 0.25),
        ),
        notes=("metrics that failed",),
    ),
    Written(
        "alpaca_eval_annotations.json",
        (
            ("ferry-b", ASKED, "At 08:10 from the old harbour."), ("ferry-a", ASKED, ANSWERED),
            ("ferry-b", LATER, "No idea."), ("ferry-a", LATER, SAID),
            ("ferry-b", COST, "It costs 9 euros."), ("ferry-a", COST, COSTS),
            ("ferry-b", BOARD, "Board at pier 3."), ("ferry-a", BOARD, "Board at pier 3."),
        ),
        choices=tuple(("ferry-b", "ferry-a", JUDGE, better) for better in (1, -1, 1, 0)),
    ),
    Written(
        "mt_bench_single.jsonl",
        (),
        scores=tuple(("overall", "gpt-4", score) for score in (7, 9.5, 8, 3)),
        notes=("judgments without a score",),
    ),
    Written(
        "mt_bench_pair.jsonl",
        (),
        choices=tuple(("ferry-a", "ferry-b", "gpt-4", better) for better in (1, 1, 0, -1, 1)),
        notes=("judgments without a choice",),
    ),
    Written(
        "lm_eval_samples.jsonl",
        prompts(*THINKING, *THINKING),
        scores=(
            ("exact_match (strict-match)", HARNESS, 1), ("exact_match (flexible)", HARNESS, 0),
        ),
    ),
    Written(
        "promptfoo_table.csv",
        (
            ("ferry-a", ASKED, ANSWERED), ("ferry-a, prompt 2", ASKED, "It leaves at"),
            ("ferry-b", ASKED, ANSWERED), ("ferry-b, prompt 2", ASKED, "It leaves at"),
            ("ferry-a", LATER, SAID), ("ferry-a, prompt 2", LATER, "Yes, up to t"),
            ("ferry-a", BOARD, PIER), ("ferry-a, prompt 2", BOARD, "At the old h"),
            ("ferry-b", BOARD, PIER), ("ferry-b, prompt 2", BOARD, "At the old h"),
        ),
        scores=tuple((name, "promptfoo", score) for name in ("score", "fact") for score in (0, 1)),
        notes=("results with an error",),
    ),
    Written(
        "promptfoo_results.jsonl",
        (("ferry-a", LATER, SAID), ("ferry-a, prompt 2", LATER, "Yes, up to t")),
        scores=(("score", "promptfoo", 1),),
        notes=("results with an error",),
    ),
    Written(
        "argilla_flattened.json",
        of("gpt-4o-mini", (ASKED, ANSWERED), (LATER, SAID), (COST, COSTS), (BOARD, BOARDED)),
        (*(("quality", ANNA, score) for score in (2, 3, 4, 5)), ("quality", BOB, 1)),
        scores=(("quality", "gpt-4o", 5),),
        notes=("responses that are draft", "responses that are discarded"),
    ),
    Written(
        "langfuse_media.json",
        (
            ("ferry-bot", ASKED, ANSWERED),
            ("ferry-bot", "user: What is in the picture?", "A ferry."),
            ("ferry-bot", "[media that is not a text]", SAID),
        ),
        (("quality", "anna", 4), ("correct", "anna", 1)),
        scores=(("quality", "Langfuse evaluator", 0.5), ("tone", "Langfuse API", 0)),
        notes=("records without a text to rate",),
    ),
    Written(
        "langsmith_states.jsonl",
        of("gpt-4o-mini", (ASKED, ANSWERED), (LATER, SAID)),
        (("quality", "anna", 0.5),),
        notes=("runs that are error", "runs that are pending"),
    ),
    Written(
        "mlflow_states.jsonl",
        of("ferry-bot", (ASKED, ANSWERED), (LATER, SAID)),
        (("quality", "anna", 4),),
        notes=(
            "assessments that were overridden", "assessments that failed", "traces that are error",
        ),
    ),
    Written(
        "inspect_samples.json",
        of("ferry/a", (ASKED, ANSWERED), ("user: What is in the picture?", "A ferry.")),
        scores=(("includes", "includes", 1),),
        notes=("samples that failed or have no answer",),
    ),
)  # fmt: skip


@pytest.mark.parametrize("written", FILES, ids=str)
def test_file_of_a_tool_is_read(written: Written) -> None:
    rows, errors = read(FIXTURES / written.name)

    assert [str(error) for error in errors.listed] == []
    assert [row[1:] for row in outputs(rows)] == list(written.outputs)
    assert ratings(rows) == set(written.ratings)
    assert {row for row in scores(rows) if row[2] == row[2]} == set(written.scores)
    choices = [row for row in rows if isinstance(row, PreferenceRow)]
    assert [(c.first, c.second, c.annotator, c.value) for c in choices] == list(written.choices)
    assert set(written.notes) <= unused(errors)


@pytest.mark.django_db(transaction=True)
def test_table_of_label_studio_is_read(project: Project, tmp_path: Path) -> None:
    name = "label_studio_export.csv"
    load(project, tmp_path, SmallFile("", name, {name: fixture(name)}))

    given = Rating.objects.filter(criterion__name="quality")
    assert Counter(given.values_list("annotator__name", "score")) == {
        **{("anna@example.org", score): 1 for score in (2, 3, 4, 5)},
        **{("bob@example.org", score): 1 for score in (1, 2, 4)},
    }


def test_annotations_of_potato_need_texts(tmp_path: Path) -> None:
    records = records_in("potato_annotations.jsonl")
    texts = {"question": ASKED, "answer": ANSWERED, "model": "ferry-a"}
    first = [record | texts for record in records if record["instance_id"] == "i1"]

    rows, errors = read_records(tmp_path, first)
    _, lacking = read(FIXTURES / "potato_annotations.jsonl")
    _, lacking_table = read(FIXTURES / "potato_annotations.csv")

    assert not errors.listed
    assert outputs(rows)[0] == ("i1", "ferry-a", ASKED, ANSWERED)
    rated = {(c, who, score) for c, who, score in ratings(rows) if score == score}
    assert rated == {
        ("quality", "anna", 1), ("quality", "bob", 2), ("fluency", "anna", 2),
        ("fluency", "bob", 2),
    }  # fmt: skip
    for refused in (lacking, lacking_table):
        assert "which lack the texts" in refused.listed[0].message


def test_label_without_a_number_is_no_rating(tmp_path: Path) -> None:
    record = {"instance_id": "i1", "user_id": "anna", "labels": {"tone": {"bad": "true"}}}

    rows, errors = read_records(tmp_path, [record | {"question": ASKED, "answer": ANSWERED}])

    assert ratings(rows) == set()
    assert "ratings without a number: tone" in unused(errors)
