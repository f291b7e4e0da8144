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
    has_placeholder,
    render,
    steps_prompt,
)
from geval.statistics.scales import Scale
from geval.texts.turns import Turn

PARTS = PromptParts(
    criterion="coherence", scale=Scale(1, 5), definition="one thread from start to end"
)


def test_a_prompt_has_introduction_criteria_steps_inputs_and_form_in_this_order() -> None:
    template = compose_template(PARTS, steps="1. Read.\n2. Rate.")

    places = [
        template.index(part)
        for part in ("Rate the written text", "Evaluation Criteria:", "one thread",
            "Evaluation Steps:", "1. Read.",
                     "{{Document}}", "{{Summary}}", "Evaluation Form (scores ONLY):",
                     "- Coherence:")
    ]  # fmt: skip
    assert places == sorted(places)


def test_without_steps_their_heading_is_gone_too() -> None:
    assert "Evaluation Steps" not in compose_template(PARTS, steps=None)


def test_what_asks_for_steps_ends_with_their_heading_and_shows_no_text() -> None:
    prompt = steps_prompt(PARTS)

    assert prompt.endswith("Evaluation Steps:")
    assert fields_used(prompt) == frozenset()


def test_a_prompt_file_of_the_original_release_is_taken_unchanged() -> None:
    file = "Rate it.\n\nSource Text:\n{{Document}}\n\nSummary:\n{{Summary}}\n\n- Coherence:"
    parts = PromptParts(criterion="coherence", scale=Scale(1, 5), prompt_file=file)

    template = compose_template(parts, steps="1. Not wanted.")

    assert template == file
    assert (
        render(template, Texts("A", "B"))
        == "Rate it.\n\nSource Text:\nA\n\nSummary:\nB\n\n- Coherence:"
    )


def test_dialogue_placeholders_are_known() -> None:
    template = "{{Document}}\n{{Fact}}\n{{Response}}\n{{Reference}}"

    assert (
        render(template, Texts("history", "answer", "fact", ("gold",)))
        == "history\nfact\nanswer\ngold"
    )


def test_an_unknown_placeholder_is_refused_by_name() -> None:
    with pytest.raises(PromptError, match=r"unknown placeholder \{\{Sumary\}\}"):
        check_template("{{Document}} {{Sumary}} {{Summary}}")


def test_a_prompt_shows_its_texts_a_limited_number_of_times() -> None:
    check_template("{{Summary}}" * MOST_PLACEHOLDERS)

    with pytest.raises(PromptError, match="has 101 placeholders; it can have 100"):
        check_template("{{Summary}}" * (MOST_PLACEHOLDERS + 1))


def test_a_prompt_without_the_text_to_be_judged_is_refused() -> None:
    with pytest.raises(PromptError, match="no placeholder for the text to judge"):
        check_template("{{Document}}")


def test_a_placeholder_that_an_item_cannot_fill_is_an_error_not_a_blank() -> None:
    with pytest.raises(PromptError, match="shows the context, but this document has none"):
        render("{{Fact}} {{Summary}}", Texts("source", "output"))


def test_the_scale_of_words_is_shown_as_words() -> None:
    parts = PromptParts(criterion="consistency", scale=Scale(0, 1, labels={"Yes": 1.0, "No": 0.0}))

    assert "Consistency (No / Yes)" in compose_template(parts, steps=None)


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


def test_trim_takes_off_blanks_around_a_text_and_no_filter_leaves_them() -> None:
    template = "<{{ document | trim }}|{{ summary }}>"

    assert render(template, Texts(" A\n", " B ")) == "<A| B >"


def test_turns_keep_their_window_beside_the_filter() -> None:
    conversation = Texts("", "hi", history=(Turn("user", "one"), Turn("user", "two")))

    shown = render("{{ conversation last=1 | trim }} {{turn}}", conversation)

    assert "user: two" in shown
    assert "user: one" not in shown


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
    "text", ['{"score": {"value": 1}}', '{{"score": 3}}', "x^{{-1}}", "100 %}"]
)
def test_braces_that_are_no_jinja_stay_as_they_are(text: str) -> None:
    template = f"{text} {{{{Summary}}}}"
    check_template(template)

    assert render(template, Texts("A", "B")) == f"{text} B"


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


def test_quoted_braces_are_shown() -> None:
    template = "{{ '{{' }}name{{ \"}}\" }} {{Summary}}"
    check_template(template)

    assert render(template, Texts("A", "B")) == "{{name}} B"


def test_an_example_with_jinja_is_not_put_into_prompts() -> None:
    assert has_placeholder("{% if x %}")
    assert has_placeholder("{{document}}")
    assert not has_placeholder("{plain} text")
