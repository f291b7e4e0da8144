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
