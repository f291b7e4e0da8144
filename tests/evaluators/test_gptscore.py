"""GPTScore: instructions, directions, which tokens count at the boundary, and runs against the
stand-in."""

import asyncio
from collections.abc import Callable

import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, ModelReply, Project, RunState
from geval.evaluators.base import Item
from geval.evaluators.gptscore import GptScore, Likelihood, tokens_of
from geval.llm.calls import Answer
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure
from geval.llm.prompts import PromptParts
from geval.llm.replies import EchoedToken, ReplyChoice
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import EchoRequest
from geval.llm.scoring import Scored
from geval.statistics.scales import Scale

ASKING = RequestSettings(model="m", mode="direct")
SCALE = Scale(1, 5)
PARTS = PromptParts(criterion="Coherence", scale=SCALE, definition="How well it hangs together.")


def echo(*tokens: tuple[str, float | None]) -> tuple[EchoedToken, ...]:
    return tuple(EchoedToken(text, value) for text, value in tokens)


def scored(
    evaluator: GptScore, texts: Texts, reply: Callable[[str], tuple[EchoedToken, ...]]
) -> object:
    question = evaluator.question(
        Item(texts, "coherence", evaluator.template(PARTS)), SCALE, ASKING
    )
    if isinstance(question, Failure):
        return question

    async def ask(request: EchoRequest) -> Answer:
        return Answer((ReplyChoice("", echoed=reply(request.text)),), "m", "", 0, 0, 1, 0.0)

    return asyncio.run(evaluator.judge(question, ASKING, ask)).outcome


def by_letter(text: str) -> tuple[EchoedToken, ...]:
    """A tokenizer of single characters; the logprob of each is minus its place in the text, from
    the end, / 10."""
    return tuple(
        EchoedToken(letter, None if index == 0 else -(len(text) - index) / 10)
        for index, letter in enumerate(text)
    )


@pytest.mark.parametrize(
    ("tokens", "counted", "straddles"),
    [
        # The blank belongs to the first token, to a token of its own, or to the prompt's last
        # token.
        ([("Say", None), (":", -1.0), (" hi", -2.0), (" you", -3.0)], [" hi", " you"], False),
        (
            [("Say", None), (":", -1.0), (" ", -9.0), ("hi", -2.0), (" you", -3.0)],
            ["hi", " you"],
            False,
        ),
        ([("Say", None), (": ", -1.0), ("hi", -2.0), (" you", -3.0)], ["hi", " you"], False),
        # A token over the boundary cannot be divided: it counts, and is told of.
        ([("Say", None), (": h", -1.0), ("i", -2.0), (" you", -3.0)], [": h", "i", " you"], True),
        # A mark or a blank in front, as tokenizers add them, and what the model wrote on.
        ([("<s>", None), (" Say:", -1.0), (" hi you", -2.0), (" there", -7.0)], [" hi you"], False),
    ],
)
def test_tokens_at_the_boundary_of_prompt_and_output(
    tokens: list[tuple[str, float | None]], counted: list[str], straddles: bool
) -> None:
    found = tokens_of(echo(*tokens), Likelihood("Say:", "hi you"))

    assert not isinstance(found, Failure)
    assert [token.text for token in found.counted] == counted
    assert found.straddles is straddles


def test_characters_that_a_tokenizer_splits_into_bytes_are_found() -> None:
    tokens = echo(("Say:", None), (" caf", -1.0), ("bytes:\\xc3", -2.0), ("bytes:\\xa9", -3.0))

    found = tokens_of(tokens, Likelihood("Say:", "café"))

    assert not isinstance(found, Failure)
    assert [token.logprob for token in found.counted] == [-1.0, -2.0, -3.0]


@pytest.mark.parametrize("lost", ["", "\ufffd"])
def test_characters_that_come_back_as_nothing_or_as_a_replacement_are_found_by_what_follows(
    lost: str,
) -> None:
    tokens = echo((" ", None), ("Sé".encode().decode(), -0.5), (":", -1.0), (" ", -1.5),
        (lost, -2.0), (lost, -3.0),
                  (" x", -4.0), (lost, -5.0), (lost, -6.0), (" more", -9.0))  # fmt: skip

    found = tokens_of(tokens, Likelihood("Sé:", "é x"))
    at_the_end = tokens_of(tokens[:9], Likelihood("Sé:", "é xé"))

    assert not isinstance(found, Failure)
    assert not isinstance(at_the_end, Failure)
    assert [token.logprob for token in found.counted] == [-2.0, -3.0, -4.0]
    assert [token.logprob for token in at_the_end.counted] == [-2.0, -3.0, -4.0, -5.0, -6.0]


def test_tokens_that_do_not_join_to_what_was_sent_are_a_failure_not_a_number() -> None:
    changed = tokens_of(echo(("Say:", None), (" he", -1.0)), Likelihood("Say:", "hi"))
    unknown = tokens_of(echo(("Say:", None), (" hi", None)), Likelihood("Say:", "hi"))

    assert isinstance(changed, Failure)
    assert isinstance(unknown, Failure)
    assert changed.reason == unknown.reason == "tokens"
    assert "do not join" in changed.detail
    assert unknown.detail == "The endpoint gave no log-probability of “ hi”."


def test_the_score_is_the_mean_or_the_sum_of_the_outputs_log_probabilities() -> None:
    texts = Texts("source", "abc.")

    mean = scored(GptScore(), texts, by_letter)
    total = scored(GptScore({"reduce": "sum"}), texts, by_letter)
    without_marks = scored(GptScore({"reduce": "sum", "punctuation_weight": 0}), texts, by_letter)

    # The last four characters: -0.4, -0.3, -0.2 and -0.1 for the full stop.
    assert mean == Scored.plain(pytest.approx(-0.25))
    assert total == Scored.plain(pytest.approx(-1.0))
    assert without_marks == Scored.plain(pytest.approx(-0.9))


def test_directions_condition_on_source_or_references_and_both_are_averaged() -> None:
    asked: list[str] = []

    def reply(text: str) -> tuple[EchoedToken, ...]:
        asked.append(text)
        return by_letter(text)

    texts = Texts("src", "out", references=("r1", "ref22"))
    precision = scored(
        GptScore({"direction": "reference_to_output", "prompting": "vanilla"}), texts, reply
    )
    assert asked == ["Text: r1\nSummary: out", "Text: ref22\nSummary: out"]
    recall = scored(
        GptScore({"direction": "output_to_reference", "prompting": "vanilla"}), texts, reply
    )
    assert asked[2:] == ["Text: out\nSummary: r1", "Text: out\nSummary: ref22"]
    both = scored(GptScore({"direction": "both"}), texts, reply)

    # Means of 0.3, 0.2, 0.1 for "out"; of 0.2, 0.1 for "r1", the better of the references.
    assert precision == Scored.plain(pytest.approx(-0.2))
    assert recall == Scored.plain(pytest.approx(-0.15))
    assert both == Scored.plain(pytest.approx(-0.175))


def instruction_of(evaluator: GptScore, criterion: str, definition: str = "") -> str:
    return evaluator.template(PromptParts(criterion, SCALE, definition)).partition("\n\n")[0]


def sent(evaluator: GptScore, criterion: str = "coherence", source: str = "S") -> str:
    """What is sent about an output “O”."""
    template = evaluator.template(PromptParts(criterion, SCALE))
    question = evaluator.question(Item(Texts(source, "O"), criterion, template), SCALE, ASKING)
    assert not isinstance(question, Failure)
    return evaluator.requests(question, ASKING)[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize("criterion", ["Punch", "Interest"])
def test_a_criterion_keeps_its_own_definition_even_if_an_aspect_has_its_name(
    criterion: str,
) -> None:
    assert (
        instruction_of(GptScore(), criterion, "Whether it pays 5 %.")
        == f"Write a summary of the text below of high {criterion.lower()} (Whether it pays 5 %)."
    )


def test_a_template_of_ones_own_is_sent_to_the_letter() -> None:
    tl_dr = GptScore({"prompting": "vanilla", "template": "{{Given}}\n\nTl;dr\n{{Scored}}"})

    assert sent(tl_dr) == "S\n\nTl;dr\nO"
    assert sent(tl_dr, source="{{Scored}}") == "{{Scored}}\n\nTl;dr\nO"
    assert sent(GptScore({"prompting": "vanilla"})) == "Text: S\nSummary: O"


def test_after_a_line_break_the_outputs_tokens_count_and_no_others() -> None:
    evaluator = GptScore({"template": "{{Given}}\n\nTl;dr\n{{Scored}}", "reduce": "sum"})

    # "abc": -0.3, -0.2 and -0.1.
    assert scored(evaluator, Texts("S", "abc"), by_letter) == Scored.plain(pytest.approx(-0.6))


def test_demonstrations_stand_between_instruction_and_text_as_the_template_writes_them() -> None:
    settings = {
        "prompting": "demonstrations",
        "instruction": "Do it.",
        "examples": "long a => short a\nlong b => short b",
    }

    assert (
        sent(GptScore(settings))
        == "Do it.\n\nText: long a\nSummary: short a\n\nText: long b\nSummary: short b\n\nText:"
        " S\nSummary: O"
    )
    assert (
        sent(GptScore({**settings, "template": "{{Given}}\nTl;dr\n{{Scored}}"}))
        == "Do it.\n\nlong a\nTl;dr\nshort a\n\nlong b\nTl;dr\nshort b\n\nS\nTl;dr\nO"
    )


def test_a_run_frozen_by_an_earlier_version_is_continued_with_the_same_prompts() -> None:
    evaluator = GptScore()

    question = evaluator.question(Item(Texts("S", "O"), "coherence", "Do it."), SCALE, ASKING)

    assert evaluator.requests(question, ASKING)[0].text == "Do it.\n\nText: S\nSummary: O"


@pytest.mark.django_db(transaction=True)
def test_a_run_against_the_stand_in_scores_every_output_and_pays_once(
    small_project: Project, start_standin: Callable[..., object]
) -> None:
    endpoint = small_project.endpoints.create(name="e", base_url=start_standin().base_url)  # type: ignore[attr-defined]
    draft = JudgeDraft(
        name="GPTScore", kind="gptscore", endpoint=endpoint, model="offline-stand-in"
    )
    judge, _ = create_judge(small_project, draft)

    first = start_run(judge, list(small_project.criteria.all()))
    work_on_run(first.pk, "tester")
    again = start_run(judge, list(small_project.criteria.all()), RunRequest(fresh=False))
    work_on_run(again.pk, "tester")

    first.refresh_from_db()
    assert first.state == EvaluationRun.objects.get(pk=again.pk).state == RunState.DONE
    assert first.scores.count() == 12
    assert all(score.value < 0 for score in first.scores.all())
    assert again.items.count() == 0
    assert first.calls == 12
    stored = ModelReply.objects.filter(items__run=first).first()
    assert stored is not None
    assert stored.choices[0]["echoed"][0][1] is None
