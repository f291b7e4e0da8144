"""A project's data are published with a card: its licence, languages, people, agreement, guidelines
and consent, and what was left out."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from annotations.models import Campaign, GuidelinesVersion, OpenLink
from evaluations.models import Project
from evaluations.reports.data import usual_options
from evaluations.reports.ratings.exported import dataset_of
from evaluations.reports.serving.view import report_view
from geval.files.hugging_face import card_of
from geval.texts.numbers import with_decimals
from tests.archive.test_the_record_of_answers import recorded  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)
EXPORT = "/p/small/annotate/export/{}"


@pytest.fixture
def published(recorded: Project) -> Project:  # noqa: F811
    recorded.guidelines = "Read the source first."
    recorded.save()
    GuidelinesVersion.objects.current(recorded)
    OpenLink.objects.create(
        campaign=Campaign.objects.first(), title="Rate", consent="I am 18.\nI agree."
    )
    return recorded


def part_of(card: str, title: str) -> str:
    return card.split(f"## {title}\n")[1].split("\n## ", maxsplit=1)[0]


def test_a_card_has_people_agreement_guidelines_and_consent(published: Project) -> None:
    card = card_of(dataset_of(published))

    assert "by 2 people" in part_of(card, "People")
    assert "pseudonyms" in part_of(card, "People")
    criteria = report_view(published, usual_options(published)).numbers().report.criteria
    shown = [
        f"{each.criterion}: Krippendorff's alpha ({kind}) {with_decimals(alpha.value)}"
        for each in criteria
        for kind, alpha in each.agreement.alpha.items()
        if alpha.value is not None
    ]
    assert shown
    for line in shown:
        assert line in part_of(card, "Agreement")
    assert "> Read the source first." in part_of(card, "Guidelines")
    assert "> I am 18.\n> I agree." in part_of(card, "Consent")
    left_out = part_of(card, "Left out")
    assert "2 rejected answers" in left_out or "1 rejected answer" in left_out
    assert "panels" in left_out
    assert "They are named." in card_of(dataset_of(published, pseudonyms=False))


def test_the_file_has_the_licence_that_was_chosen(
    published: Project, as_role: Callable[[str], Client]
) -> None:
    client = as_role("viewer")
    page = client.get("/p/small/annotate/publish/").content.decode()
    assert 'value="cc-by-4.0"' in page
    assert "Read the source first." in page

    answer = client.get(EXPORT.format("hugging-face.zip"), {"licence": "cc-by-4.0"})

    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        header = yaml.safe_load(archive.read("README.md").decode().split("---\n")[1])
    assert header["license"] == "cc-by-4.0"
    assert [each["config_name"] for each in header["configs"]][:2] == ["outputs", "ratings"]


def test_the_command_writes_a_licence(published: Project, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    how = ["--as", "hugging-face", "--licence", "odc-by"]
    call_command("export_project", "small", str(folder), *how, stdout=io.StringIO())

    assert "license: odc-by" in (folder / "README.md").read_text()
    with pytest.raises(CommandError, match="--as hugging-face"):
        call_command("export_project", "small", str(tmp_path / "b"), "--licence", "odc-by")
