"""One glossary explains the report's numbers, on its page and in the docs."""

import pytest

from evaluations.web.templatetags.evaluations import what_is
from geval.reports.glossary import TERMS, Term, markdown
from tests.conftest import CHECKOUT

METHOD = (CHECKOUT / "docs/method.md").read_text()


def test_the_page_of_the_docs_is_the_glossary() -> None:
    assert (CHECKOUT / "docs/glossary.md").read_text() == markdown(), (
        "write it again: python -m geval.reports.glossary > docs/glossary.md"
    )


@pytest.mark.parametrize("term", TERMS.values(), ids=list(TERMS))
def test_a_terms_formula_is_on_the_page_of_the_method(term: Term) -> None:
    assert f"\n## {term.formula}\n" in METHOD


def test_a_word_that_is_not_in_the_glossary_is_an_error() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        what_is("nonsense")


def test_an_explanation_opens_without_a_script() -> None:
    assert 'popovertarget="what-is-alpha"' in what_is("alpha")
    assert "What is this? Krippendorff&#x27;s alpha" in what_is("alpha")
