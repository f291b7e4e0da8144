"""G-Eval's prompt: its parts, its placeholders, and what is refused before a call is paid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.llm.item_texts import Texts
from geval.llm.prompts import (
    MOST_PLACEHOLDERS,
    PromptError,
    PromptParts,
    check_template,
    compose_template,
    fields_used,
    render,
)
from geval.statistics.scales import Scale


def test_a_prompt_file_of_the_original_release_is_taken_unchanged() -> None:
    file = "Rate it.\n\nSource Text:\n{{Document}}\n\nSummary:\n{{Summary}}\n\n- Coherence:"
    parts = PromptParts(criterion="coherence", scale=Scale(1, 5), prompt_file=file)

    template = compose_template(parts, steps="1. Not wanted.")

    assert template == file
    assert (
        render(template, Texts("A", "B"))
        == "Rate it.\n\nSource Text:\nA\n\nSummary:\nB\n\n- Coherence:"
    )


def test_an_unknown_placeholder_is_refused_by_name() -> None:
    with pytest.raises(PromptError, match=r"unknown placeholder \{\{Sumary\}\}"):
        check_template("{{Document}} {{Sumary}} {{Summary}}")


def test_a_prompt_shows_its_texts_a_limited_number_of_times() -> None:
    check_template("{{Summary}}" * MOST_PLACEHOLDERS)

    with pytest.raises(PromptError, match="has 101 placeholders; it can have 100"):
        check_template("{{Summary}}" * (MOST_PLACEHOLDERS + 1))


def test_a_placeholder_that_an_item_cannot_fill_is_an_error_not_a_blank() -> None:
    with pytest.raises(PromptError, match="shows the context, but this document has none"):
        render("{{Fact}} {{Summary}}", Texts("source", "output"))


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_texts_come_through_unchanged_even_if_they_hold_placeholders(
    source: str, output: str
) -> None:
    rendered = render("<{{Document}}|{{Summary}}>", Texts(source + "{{Summary}}", output))

    assert rendered == f"<{source}{{{{Summary}}}}|{output}>"


@pytest.mark.parametrize(
    "template",
    [
        "{{document}}|{{summary}}",
        "{{ Document | trim }}|{{Summary|trim()}}",
        "{{ DOCUMENT|trim|trim }}|{{ summary | trim }}",
    ],
)
def test_a_jinja_prompt_that_only_puts_texts_in_is_understood(template: str) -> None:
    check_template(template)

    assert fields_used(template) == {"source", "output"}
    assert render(template, Texts("A", "B")) == "A|B"


@pytest.mark.parametrize(
    ("part", "named", "advice"),
    [
        ("{% if document %}", "{% if document %}", "Remove the tag"),
        ("{%- for x in y -%}", "{%- for x in y -%}", "Remove the tag"),
        ("{# a note #}", "{# a note #}", "Remove the comment"),
        ("{{ document | upper }}", "filter “upper”", "Remove the filter"),
        ("{{ document | trim | truncate(200) }}", "filter “truncate(200)”", "Remove the filter"),
        ("{{ document | trim('x') }}", "filter “trim('x')”", "Remove the filter"),
        ("{{- document -}}", "{{- document -}}", "without “-”"),
        ("{{ document -}}", "{{ document -}}", "without “-”"),
        ("{{ 'words' }}", "{{ 'words' }}", "plain text as it is"),
        ("{{ document[0] }}", "unknown placeholder {{document[0]}}", "it can use {{Document}}"),
        ("{{ item.document }}", "unknown placeholder {{item.document}}", "it can use {{Document}}"),
    ],
)
def test_any_other_jinja_is_refused_by_name_with_what_to_do(
    part: str, named: str, advice: str
) -> None:
    with pytest.raises(PromptError) as refused:
        check_template(f"{part} {{{{summary}}}}")

    assert named in str(refused.value)
    assert advice in str(refused.value)


@pytest.mark.parametrize(
    "words",
    [
        "Keeps placeholders such as {{customer_name}} as they are.",
        "Shows {{Summary}} and {{ document | upper }}.",
        "{% if x %}{{{y}}}{# note #}{{'{'}}",
        "{{-x-}}",
        "{",
    ],
)
def test_words_of_a_criterion_are_data(words: str) -> None:
    parts = PromptParts("clarity", Scale(1, 5), definition=words, introduction=words)

    template = compose_template(parts, steps=words)

    shown = render(template, Texts("A source.", "An output."))
    assert shown.count(words) == 3
    assert "An output." in shown
