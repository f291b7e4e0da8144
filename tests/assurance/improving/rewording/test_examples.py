"""Rated outputs of training documents are tried as examples in the prompt."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from assurance.improving.adopting import adopt
from assurance.improving.rewording import wording_of
from assurance.improving.work import SearchLimits
from evaluations.judging.judges.criteria import prompt_parts
from evaluations.models import (
    Candidate,
    CandidateOutput,
    Change,
    Criterion,
    ErrandState,
    Judge,
    LockedDocuments,
)
from geval.evaluators.geval import GEval
from geval.evaluators.wording import Wording, as_setting
from geval.llm.item_texts import Texts
from geval.llm.prompt_examples import example_block
from geval.llm.prompts import render
from geval.statistics.locked_rule import is_locked
from tests.assurance.improving.rewording.doing import reworded

LIMITS = SearchLimits(most_calls=400)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_sets_of_training_documents_are_tried_and_kept(
    judge: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
    as_role: Callable[[str], Client],
) -> None:
    search = reworded(judge, criterion, LIMITS, change=Change.EXAMPLES)
    assert search.state == ErrandState.DONE, search.message
    tried = list(search.proposals.exclude(number=0))
    assert [row.texts["examples"].count("<example>") for row in tried] == [3, 6, 6, 14]
    assert [row.texts["nearest"] for row in tried] == ["0", "0", "0", "3"]
    assert all(row.on_selection for row in tried)
    choosing = {int(at) for at in tried[0].on_selection}
    for row in tried:
        sources = re.findall(r"<source>\n(.*?)\n</source>", row.texts["examples"], re.S)
        assert len(set(sources)) == len(sources)  # each of another document
        shown = CandidateOutput.objects.filter(
            document__project=judge.project, document__source__in=sources
        ).values_list("document__doc_id", flat=True)
        assert shown
        for doc_id in shown:
            assert not is_locked(doc_id, seed=locked.seed, share=locked.share)
        positions = list(judge.project.documents.order_by("pk").values_list("doc_id", flat=True))
        assert not choosing & {positions.index(doc_id) for doc_id in shown}
    run = search.runs.get(run_criteria__template__contains="<nearest")
    item = run.items.earliest("pk")
    address = reverse("evaluations:item_detail", args=["small", run.pk, item.pk])
    # Its prompt, with the examples that it had.
    assert as_role("viewer").get(address).content.decode().count("&lt;example&gt;") == 3


@pytest.mark.slow
def test_examples_that_are_used_are_in_the_next_versions_prompt(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    search = reworded(judge, criterion, LIMITS, change=Change.EXAMPLES)
    row = search.proposals.get(number=1)
    candidate = search.candidates.filter(change=Change.EXAMPLES).first()
    if candidate is None:
        candidate = Candidate.objects.create(
            search=search, change=Change.EXAMPLES, title="3", proposal=row, training={"gain": 0}
        )
    new, _run = adopt(candidate)
    template = GEval(new.settings).template(prompt_parts(criterion))
    assert template.count("<example>") == wording_of(candidate.proposal.texts).examples.count(
        "<example>"
    )


def test_a_documents_own_example_is_not_shown_with_it() -> None:
    own = example_block("Its source.", "A text.", "4")
    other = example_block("Another source.", "B text.", "2")
    judge = GEval({"wording": as_setting({"q": Wording(examples=f"{own}\n\n{other}")})})
    assert judge.settings.wording
    template = (
        f"Rate.\n\nExamples, rated by people:\n\n{own}\n\n{other}\n\n{{{{Document}}}}"
        "\n\n{{Summary}}"
    )
    prompt = render(template, Texts(source="Its source.", output="C text."))
    assert "A text." not in prompt
    assert "B text." in prompt
    both = render(template, Texts(source="A third source.", output="C text."))
    assert "A text." in both
    assert "B text." in both
