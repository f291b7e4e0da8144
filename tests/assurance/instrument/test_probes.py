"""Probes change what is asked by rules, and find what a judge is sensitive to."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from annotations.models import StatedProbability
from assurance.instrument.sensitivity import sensitivities
from assurance.instrument.studies import PARTS, make_study
from evaluations.models import Criterion, Judge, Project, Study, StudyKind, StudyPart
from geval.evaluators.base import Item
from geval.evaluators.perturbing import INSTRUCTION, PROBES, perturbed
from geval.llm.item_texts import Texts
from geval.llm.prompts import PromptParts, compose_template, render
from geval.reports.samples import ASKED
from geval.statistics.scales import Scale
from tests.assurance.instrument.conftest import work

OUTPUT = "The morning ferry sails. It carries seventeen passengers across the harbour."
TEMPLATE = compose_template(PromptParts("fluency", Scale(1, 5)), steps="1. Read.")
PLAIN = Item(Texts("A source about ferries.", OUTPUT), "fluency", TEMPLATE)


def asked(probe: str) -> str:
    """The prompt under a probe."""
    item = perturbed(probe, PLAIN, model="gpt-x")
    return render(item.template, item.texts)


def test_each_probe_changes_the_prompt_and_is_the_same_each_time() -> None:
    prompts = {probe.name: asked(probe.name) for probe in PROBES}

    assert len({*prompts.values(), asked("unchanged")}) == len(PROBES) + 1
    assert prompts == {probe.name: asked(probe.name) for probe in PROBES}
    assert asked("repeated") == asked("unchanged")


def test_what_each_probe_does() -> None:
    assert "- The morning ferry sails.\n- It carries" in asked("bulleted")
    assert asked("padded").count("the text as a whole.") == 1
    assert "(Written by gpt-x)" in asked("named")
    assert INSTRUCTION in asked("instructed")
    assert "Bewerten Sie" in asked("german")
    assert asked("reworded").startswith("Below you find instructions")
    swapped = asked("swapped")
    assert swapped.index("Summary:") < swapped.index(OUTPUT) < swapped.index("Source Text:")
    assert sorted(swapped) == sorted(asked("unchanged"))
    words = zip(asked("misspelt").split(), asked("unchanged").split(), strict=True)
    other = [(one, plain) for one, plain in words if one != plain]
    assert other
    assert all(sorted(one) == sorted(plain) for one, plain in other)


def test_a_prompt_without_a_source_has_nothing_to_swap() -> None:
    item = Item(Texts("", OUTPUT), "fluency", "Rate it.\n\nText:\n\n{{Summary}}\n\nRating:")

    assert perturbed("swapped", item, model="m") == item


def ended(study: Study) -> None:
    """All of a study is asked, and every score is 3, but for those of the bullet list."""
    names = PARTS[StudyKind.PROBES]
    study.items.update(scores=[4.0 if name == "bulleted" else 3.0 for name in names])
    StudyPart.objects.bulk_create(
        StudyPart(study=study, number=at + 1, name=name, recorded_at=timezone.now())
        for at, name in enumerate(names)
    )
    Study.objects.filter(pk=study.pk).update(is_on=False)


@pytest.mark.django_db
def test_findings_beside_an_unequal_sample_say_of_what_they_speak(
    judge: Judge, criterion: Criterion
) -> None:
    study = make_study(judge, criterion, StudyKind.PROBES)
    ended(study)
    assert sensitivities(judge.project)[0].sample == ()
    output = study.items.exclude(rating=None)[0].output
    StatedProbability.objects.create(output=output, criterion=criterion, probability=0.25)

    assert sensitivities(judge.project)[0].sample == (ASKED,)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("leaning", "probe", "rated"),
    [
        # Criteria that the stand-in rates with little noise, and that padding does not lower.
        ("length", "padded", "fluency"),
        ("position", "swapped", "relevance"),
        ("family", "named", "relevance"),
    ],
)
def test_a_planted_defect_of_the_stand_in_is_found(
    leaning: str,
    probe: str,
    rated: str,
    asked_project: Project,
    criterion: Criterion,
    make_judge: Callable[..., Judge],
) -> None:
    Criterion.objects.update(name=rated)
    judge = make_judge(asked_project, "--leaning", leaning, use_steps=False)
    make_study(judge, criterion, "probes", items=60)

    work(len(PARTS[StudyKind.PROBES]))

    (one,) = sensitivities(asked_project)
    found = {shown.found.name: shown.found for shown in one.findings}
    assert found[probe].is_found
    assert (found[probe].value or 0) > 0.2
    assert not found["repeated"].is_found
    assert found["repeated"].value == 0
