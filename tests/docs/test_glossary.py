"""One glossary explains the report's numbers, on its page and in the docs."""

import re

import pytest

from evaluations.web.templatetags.evaluations import what_is
from geval.reports.glossary import TERMS, Term, markdown
from geval.reports.steadiness import rows_of
from tests.conftest import CHECKOUT

METHOD = (CHECKOUT / "docs/method.md").read_text()
TEMPLATES = "\n".join(path.read_text() for path in (CHECKOUT / "templates").rglob("*.html"))


def test_the_page_of_the_docs_is_the_glossary() -> None:
    assert (CHECKOUT / "docs/glossary.md").read_text() == markdown(), (
        "write it again: python -m geval.reports.glossary > docs/glossary.md"
    )


@pytest.mark.parametrize("term", TERMS.values(), ids=list(TERMS))
def test_a_terms_formula_is_on_the_page_of_the_method(term: Term) -> None:
    assert f"\n## {term.formula}\n" in METHOD


def test_every_term_is_explained_somewhere_on_a_page() -> None:
    named = set(re.findall(r'what_is "(\w+)"', TEMPLATES))
    named |= {term for _name, term, _cells in rows_of([])} - {""}
    by_value = {"spearman", "pearson", "kendall", "scores_like_a_rater", "ranks_like_a_rater"}
    by_value |= {"weighted_kappa"}

    assert named <= set(TERMS)
    assert set(TERMS) - named - by_value == set()


def test_a_word_that_is_not_in_the_glossary_is_an_error() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        what_is("nonsense")


def test_an_explanation_opens_without_a_script() -> None:
    assert 'popovertarget="what-is-alpha"' in what_is("alpha")
    assert "What is this? Krippendorff&#x27;s alpha" in what_is("alpha")
