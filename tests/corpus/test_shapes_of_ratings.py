"""A made-up zoo of headers: who rated what is read from names and contents, or asked."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.files.cells import NUMBERED, CellColumn, cell_of
from geval.files.mapping import commented_raters, problems_of
from geval.files.questions import UploadQuestion
from geval.files.rater_names import KnownNames, is_judge_like
from geval.files.recognition import Recognition, recognise

TEXTS = {"doc_id": "doc_id", "system_id": "system_id", "source": "source", "output": "output"}
FIRST_NAMES = ("Anna", "Bert", "Clara", "David", "Emma", "Felix")
CRITERIA = ("coherence", "fluency", "relevance", "Kohärenz", "Lesbarkeit", "clarté")
JUDGES = (
    "gpt-4o",
    "GPT-4",
    "claude-3-5-sonnet",
    "llm",
    "Judge",
    "G-Eval",
    "ROUGE-L",
    "llama-3-70b",
)


def rows_of(header: Sequence[str], *, repeated: int = 1) -> list[dict[str, str]]:
    """Four documents by two systems; every column that has no other content holds ratings."""
    rows = []
    for document in range(4):
        for system in ("a", "b"):
            for time in range(repeated):
                texts = {
                    "doc_id": f"d{document}",
                    "system_id": system,
                    "source": f"The ferry number {document} sails again after the storm today.",
                    "output": f"Ferry {document} sails again, as system {system} has written it.",
                }
                rating = str(1 + (document * 2 + len(system) + time) % 5)
                rows.append({name: texts.get(name, rating) for name in header})
    return rows


def recognised(ratings: Sequence[str], **more: object) -> Recognition:
    header = [*TEXTS, *ratings]
    return recognise(header, rows_of(header, **more))  # type: ignore[arg-type]


def cells(columns: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Criterion and rater of the columns of ratings; the rater of scores is in capitals."""
    found = {}
    for name, target in columns.items():
        if cell := cell_of(target):
            found[name] = (cell.criterion, f"judge {cell.rater}" if cell.by_judge else cell.rater)
    return found


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (["coherence", "fluency"], [("coherence", ""), ("fluency", "")]),
        (["Kohaerenz_Anna", "Kohaerenz_Bert"], [("Kohaerenz", "Anna"), ("Kohaerenz", "Bert")]),
        (["Anna: coherence", "Bert: coherence"], [("coherence", "Anna"), ("coherence", "Bert")]),
        (["coherence (Anna)", "fluency (Anna)"], [("coherence", "Anna"), ("fluency", "Anna")]),
        (["fluency [rater 1]", "fluency [rater 2]"],
         [("fluency", "rater 1"), ("fluency", "rater 2")]),
        (["fluency by Anna", "fluency by Bert"], [("fluency", "Anna"), ("fluency", "Bert")]),
        (["A1.fluency", "A2.fluency"], [("fluency", "A1"), ("fluency", "A2")]),
        (["fluencyAnna", "fluencyBert"], [("fluency", "Anna"), ("fluency", "Bert")]),
        (["coherence_score_Anna", "Bert_coherence_rating"],
         [("coherence", "Anna"), ("coherence", "Bert")]),
        (["human_coherence", "gpt-4o_coherence"],
         [("coherence", "human"), ("coherence", "judge gpt-4o")]),
        (["coherence_Anna", "coherence_gpt-4o", "coherence_llm"],
         [("coherence", "Anna"), ("coherence", "judge gpt-4o"), ("coherence", "judge llm")]),
        (["coherence", "geval_coherence"], [("coherence", ""), ("coherence", "judge geval")]),
        (["coherence_Anna", "coherence_Xq7"], [("coherence", "Anna"), ("coherence", "Xq7")]),
        (["Anna_coherence", "Anna_Wucht"], [("coherence", "Anna"), ("Wucht", "Anna")]),
        (["Wucht_Anna", "Wucht_Bert", "Reiz_Anna", "Reiz_Bert"],
         [("Wucht", "Anna"), ("Wucht", "Bert"), ("Reiz", "Anna"), ("Reiz", "Bert")]),
    ],
)  # fmt: skip
def test_names_that_are_clear_are_read(header: list[str], expected: list[tuple[str, str]]) -> None:
    found = recognised(header)

    assert cells(found.columns) == dict(zip(header, expected, strict=True))
    assert found.questions == ()
    assert problems_of(found.columns) == []


@pytest.mark.parametrize(
    ("header", "asked", "first"),
    [
        (["Anna", "Bert"], "Which criterion did “Anna” and “Bert” rate?",
         [("overall", "Anna"), ("overall", "Bert")]),
        (["Q1", "Q2"], "What do “Q1” and “Q2” contain?", [("Q1", ""), ("Q2", "")]),
        (["Wucht_links", "Wucht_rechts"],
         "What do the parts of “Wucht_links” and “Wucht_rechts” name?",
         [("Wucht", "links"), ("Wucht", "rechts")]),
        (["K1_x", "K1_y", "K2_x", "K2_y"], "What do the parts of “K1_x”, “K1_y”, “K2_x” and “K2_y”"
         " name?", [("K1", "x"), ("K1", "y"), ("K2", "x"), ("K2", "y")]),
        (["local_coherence", "global_coherence"],
         "What do the parts of “local_coherence” and “global_coherence” name?",
         [("local", "coherence"), ("global", "coherence")]),
    ],
)  # fmt: skip
def test_names_that_are_unclear_are_asked_with_what_each_answer_gives(
    header: list[str], asked: str, first: list[tuple[str, str]]
) -> None:
    found = recognised(header)

    assert [question.text for question in found.questions] == [asked]
    assert cells(found.columns) == {}
    assert cells(found.questions[0].choices[0].columns) == dict(zip(header, first, strict=True))
    assert all(choice.gives for choice in found.questions[0].choices)


def test_several_rows_of_an_output_are_asked_about() -> None:
    found = recognised(["coherence", "fluency"], repeated=3)

    (question,) = found.questions
    assert question.text.startswith("Outputs have up to 3 rows,")
    assert cells(question.choices[0].columns) == {
        "coherence": ("coherence", NUMBERED),
        "fluency": ("fluency", NUMBERED),
    }


def test_a_column_of_raters_is_known_by_the_names_in_it() -> None:
    header = [*TEXTS, "Wer", "Kohaerenz"]
    rows = rows_of(header, repeated=2)
    for number, row in enumerate(rows):
        row["Wer"] = ("Anna", "Bert")[number % 2]

    found = recognise(header, rows)

    assert found.columns["Wer"] == "annotator"
    assert found.questions == ()


def test_judges_among_the_raters_of_a_column_are_asked_about() -> None:
    rows = [
        {"doc_id": "1", "system_id": "a", "criterion": "fluency", "rater": rater, "score": "3"}
        for rater in ("Anna", "gpt-4o")
    ]

    (question,) = recognise(list(rows[0]), rows).questions

    assert [dict(choice.columns) for choice in question.choices] == [
        {"rater": 'annotator["gpt-4o"]'},
        {"rater": "annotator"},
    ]


def test_what_a_project_has_makes_names_clear() -> None:
    header = [*TEXTS, "Wucht_Xaver"]
    known = KnownNames(criteria=("Wucht",), annotators=("Xaver",))

    found = recognise(header, rows_of(header), known)

    assert cells(found.columns) == {"Wucht_Xaver": ("Wucht", "Xaver")}


@pytest.mark.parametrize("name", JUDGES)
def test_names_of_models_and_metrics_are_judges(name: str) -> None:
    assert is_judge_like(name)


@pytest.mark.parametrize("name", [*FIRST_NAMES, *CRITERIA, "rater 1", "", "Gpta", "Lllm x"])
def test_other_names_are_not(name: str) -> None:
    assert not is_judge_like(name)


PATTERNS = ("{c}_{r}", "{r}_{c}", "{c}: {r}", "{r}: {c}", "{c} ({r})", "{r} [{c}]", "{c}-{r}",
            "{c}.{r}", "{c} by {r}", "{c}_score_{r}")  # fmt: skip


@given(
    st.sampled_from(PATTERNS),
    st.lists(st.sampled_from(CRITERIA), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from(FIRST_NAMES + JUDGES), min_size=1, max_size=4, unique=True),
)
def test_every_way_to_write_criterion_and_rater_is_read(
    pattern: str, criteria: list[str], raters: list[str]
) -> None:
    meant = {pattern.format(c=c, r=r): (c, r) for c in criteria for r in raters}

    found = recognised(list(meant))

    assert found.questions == ()
    assert {name: cell_of(target) for name, target in found.columns.items() if name in meant} == {
        name: CellColumn(c, r, by_judge=r in JUDGES) for name, (c, r) in meant.items()
    }


@given(
    st.lists(st.text(max_size=15), max_size=8, unique=True),
    st.lists(st.lists(st.text(max_size=12) | st.integers(0, 9).map(str), min_size=8, max_size=8),
             max_size=6),
)  # fmt: skip
def test_whatever_a_file_holds_it_is_recognised_or_asked_about(
    header: list[str], values: list[list[str]]
) -> None:
    rows = [dict(zip(header, row, strict=False)) for row in values]

    found = recognise(header, rows)

    assert set(found.columns) <= set(header)
    asked = {n for q in found.questions for c in q.choices for n in c.columns}
    assert asked <= set(header)
    assert all(isinstance(one, UploadQuestion) and len(one.choices) > 1 for one in found.questions)
    # Nobody's ratings are merged: two columns never mean the same.
    given_cells = [cell_of(target) for target in found.columns.values() if cell_of(target)]
    assert len(given_cells) == len(set(given_cells)) or problems_of(found.columns)


@given(st.text(max_size=30), st.text(max_size=30), st.booleans())
def test_a_meaning_with_names_is_read_back(criterion: str, rater: str, by_judge: bool) -> None:
    cell = CellColumn(criterion.strip(), rater.strip(), by_judge)

    assert cell_of(cell.target) == cell


def everyday(people: str, judge: str, *more: str) -> Recognition:
    rows = [
        {
            "user_message": f"How do I return order number {number}?",
            "model_output": f"Please send order {number} back within two weeks of delivery.",
            people: "pass" if number % 3 else "fail",
            judge: "pass" if number % 4 else "fail",
            **dict.fromkeys(more, f"The answer {number} does not name the address of the shop."),
        }
        for number in range(12)
    ]
    return recognise(list(rows[0]), rows)


@pytest.mark.parametrize(
    ("people", "judge", "raters"),
    [
        ("human_label", "gpt4_verdict", ("human", "gpt4")),
        ("expert", "gpt-4o", ("expert", "gpt-4o")),
        ("Annotation", "judge score", ("Annotation", "judge")),
        ("gold", "prediction", ("gold", "prediction")),
        ("reference_label", "llm_label", ("reference_label", "llm")),
    ],
)
def test_labels_side_by_side_are_known_by_their_names(
    people: str, judge: str, raters: tuple[str, str]
) -> None:
    read = everyday(people, judge)

    assert read == Recognition(
        {
            "user_message": "source",
            "model_output": "output",
            people: CellColumn("overall", raters[0]).target,
            judge: CellColumn("overall", raters[1], by_judge=True).target,
        }
    )


def tickets(source: str = "Customer question") -> list[dict[str, str]]:
    """Tickets, several with the same question, each with its own reply."""
    return [
        {
            "Ticket": f"T-{n:03}",
            source: f"How do I do the thing of kind {n % 3}?",
            "Agent reply": f"Dear customer {n}, open the settings and choose option {n}, please.",
            "Language": ("en", "de")[n % 2],
        }
        for n in range(12)
    ]


def test_words_that_differ_between_raters_of_an_output_are_its_ratings() -> None:
    rows = [
        {
            **row,
            "Rater": rater,
            "Greets": ("yes", "no")[(n + place) % 2],
            "Closed": ("no", "yes")[n % 2],
        }
        for n, row in enumerate(tickets())
        for place, rater in enumerate(("Anna", "Ben"))
    ]

    recognition = recognise(list(rows[0]), rows)

    assert cells(recognition.columns) == {"Greets": ("Greets", "")}
    assert recognition.questions == ()


def test_a_row_for_each_rating_needs_no_criterion_beside_the_texts() -> None:
    rows = [
        {**row, "Rater": rater, "Rating": verdict}
        for row in tickets()
        for rater, verdict in (("Anna", "Pass"), ("Ben", "Fail"))
    ]

    recognition = recognise(list(rows[0]), rows)

    assert cells(recognition.columns) == {"Rating": ("overall", "")}
    assert recognition.columns["Ticket"] == "doc_id"
    assert recognition.questions == ()


@pytest.mark.parametrize(
    ("ratings", "name", "rater"),
    [
        (('ratings["C","Anna"]', 'ratings["C","Bert"]'), "Kommentar Anna", "Anna"),
        (('ratings["C","Anna"]', 'ratings["C","Anna M."]'), "note_anna-m", "Anna M."),
        (('ratings["C","Anna"]', 'scores["C","gpt-4o"]'), "Anmerkungen", "Anna"),
        (("ratings", "ratings"), "Anmerkungen", ""),
        (('ratings["C","Anna"]', 'ratings["C","Bert"]'), "Anmerkungen", None),
        (('ratings["C","Ann"]', 'ratings["C","Bert"]'), "Kommentar Anna", None),
        ((), "Anmerkungen", None),
    ],
)
def test_comments_beside_ratings_in_columns_are_the_named_or_the_only_raters(
    ratings: Sequence[str], name: str, rater: str | None
) -> None:
    columns = dict(TEXTS) | {f"c{number}": target for number, target in enumerate(ratings)}
    columns[name] = "comment"

    assert commented_raters(columns) == {name: rater}
    refusals = [problem for problem in problems_of(columns) if problem.startswith("Whose comments")]
    assert len(refusals) == (rater is None)
