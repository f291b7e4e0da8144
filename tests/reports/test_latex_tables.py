"""The table for LaTeX: the page's rows in its order, words and decimals, with n and a label."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.downloads.latex import as_latex
from geval.texts.spelling import for_xml
from tests.reports.test_best_judge import FAIR, OUTPUTS, RNG, rated, scored

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
GUESS = np.clip(np.round(FAIR + RNG.normal(0, 2.0, FAIR.shape)), 1, 5)


@pytest.fixture
def text(project: Project, load: Load) -> str:
    judges = {"a_guess": GUESS, "fair": FAIR}
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored(judges)})
    return as_latex(build_report(project))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.removesuffix(r" \\").split(" & ")]


def rows(text: str) -> list[list[str]]:
    return [cells(line) for line in text.splitlines() if line.endswith(r" \\")]


def test_the_best_judge_comes_first_with_its_interval_and_n(text: str) -> None:
    names = [row[0] for row in rows(text) if row[0]]

    assert names == [
        "Judge", "fair", r"a\_guess", "always the same score", "who wrote it", "one rater",
    ]  # fmt: skip
    fair = next(at for at, row in enumerate(rows(text)) if row[0] == "fair")
    assert "$n$, is 160 everywhere" in text
    assert re.search(r"\[0\.\d\d, 0\.\d\d\]", rows(text)[fair + 1][1])


def test_all_numbers_have_two_decimals(text: str) -> None:
    numbers = re.findall(r"\d+\.\d+", text)

    assert len(numbers) >= 15
    assert {len(number.split(".")[1]) for number in numbers} == {2}


def test_it_can_be_referred_to_and_its_rows_are_complete(text: str) -> None:
    assert r"\label{tab:small-correlations}" in text
    assert text.index(r"\caption{") < text.index(r"\label{")
    wide = len(re.search(r"\\begin{tabular}{(\w+)}", text)[1])  # type: ignore[index]
    for line in text.splitlines():
        if line.endswith(r" \\"):
            spans = sum(int(many) - 1 for many in re.findall(r"\\multicolumn{(\d)}", line))
            assert len(line.split(" &")) + spans == wide, line
    assert text.count("{") == text.count("}")


def test_judges_with_different_numbers_of_outputs_have_a_column_of_them(
    project: Project, load: Load
) -> None:
    less = scored({"a_guess": GUESS}).rstrip().rsplit("\n", 1)[0] + "\n"
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"fair": FAIR})})
    load(project, {"less.csv": less})
    text = as_latex(build_report(project))

    assert {row[0]: row[3] for row in rows(text)[2:] if row[0] in ("fair", r"a\_guess")} == {
        "fair": "160",
        r"a\_guess": "159",
    }
    assert "$n$, the number of outputs." in text


def test_it_has_the_numbers_and_names_of_the_page(
    text: str, as_role: Callable[[str], Client]
) -> None:
    page = as_role("owner").get("/p/small/report/paper/").content.decode()
    table = page[page.index('<table class="paper"') : page.index("</table>")]

    names = [
        " ".join(re.sub(r"<.*?>", "", name).split())
        for name in re.findall(
            r'<th scope="row"[^>]*>(.*?)(?:<span class="what|</th>)', table, re.S
        )
    ]
    said = [name.removesuffix(" ?").replace("_", r"\_") for name in names]
    assert [row[0] for row in rows(text) if row[0]][1:] == said
    plain = text.replace("$-$", "−")
    for number in re.findall(r"−?\d\.\d\d|\[[^\]]+\]", re.sub(r"<.*?>", " ", table)):
        assert for_xml(number) in plain


def test_more_criteria_than_a_column_holds_stand_over_both(project: Project, load: Load) -> None:
    names = ("coherence", "fluency", "relevance")
    load(
        project,
        {
            "o.jsonl": OUTPUTS,
            **{f"r-{n}.csv": rated().replace("coherence", n) for n in names},
            **{f"s-{n}.csv": scored({"fair": FAIR}).replace("coherence", n) for n in names},
        },
    )

    assert r"\begin{table*}" in as_latex(build_report(project))
