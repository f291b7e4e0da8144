"""Several outputs of a text, none of which names a system, are asked about before they are read."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Rating
from evaluations.models import CandidateOutput, Document, Project
from geval.files.recognition import recognise
from tests.pages.test_upload_that_asks import Page

pytestmark = pytest.mark.django_db
ROWS = [
    (f"The ferry {text} sails again after the storm.", f"Ferry {text} sails as {version}.",
     criterion, rater, 1 + (text + version + len(rater)) % 5)
    for criterion in ("coherence", "fluency")
    for text in range(4)
    for version in range(3)
    for rater in ("Anna", "Bert M.")
]  # fmt: skip
QUESTION = "Texts have up to 3 outputs, and no column names a system. What are they?"


def table(name: str = "") -> str:
    header = "text,output,criterion,rater,rating" + (name and f",{name}")
    more = ",m1" if name else ""
    return "\n".join([header, *(",".join(map(str, row)) + more for row in ROWS)]) + "\n"


@pytest.fixture
def client(owner: User) -> Client:
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


@pytest.mark.parametrize(
    ("answer", "documents", "systems"),
    [(0, 4, {"output 1", "output 2", "output 3"}), (1, 12, {"ratings"})],
)
def test_outputs_of_a_text_are_systems_or_documents(
    client: Client, project: Project, answer: int, documents: int, systems: set[str]
) -> None:
    page = Page(client, table())
    assert QUESTION in page.text

    page.press("answer", answer=f"{page.upload.files.get().pk}-0-{answer}")
    page.press("load")

    assert Document.objects.count() == documents
    outputs = CandidateOutput.objects.order_by("pk")
    assert set(outputs.values_list("system__name", flat=True)) == systems
    assert outputs.count() == 12
    assert Rating.objects.count() == len(ROWS)
    if answer == 0:
        assert outputs.get(text="Ferry 2 sails as 1.").system.name == "output 2"
    again = Page(client, table())
    assert "There is nothing to load" in again.text


@pytest.mark.parametrize(
    ("rows", "asks"),
    [
        ([{"text": "A long text of many words.", "output": f"Answer {n} to it."} for n in (1, 2)],
         True),
        ([{"text": f"A long text of words {n}.", "output": f"Answer {n} to it."} for n in (1, 2)],
         False),
        ([{"text": "word " * 300, "output": f"Answer {n} to it."} for n in (1, 2)], False),
        ([{"text": "A long text of words.", "output": f"Answer {n}.", "system": f"s{n}"}
          for n in (1, 2)], False),
    ],
)  # fmt: skip
def test_only_different_outputs_of_one_text_are_asked_about(
    rows: list[dict[str, str]], asks: bool
) -> None:
    questions = [question.text for question in recognise(list(rows[0]), rows).questions]

    assert any(text.startswith("Texts have up to 2 outputs") for text in questions) is asks
