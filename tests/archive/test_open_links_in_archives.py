"""Open links and participants travel in a project's archive, without ids, codes and addresses."""

import io
import zipfile
from decimal import Decimal

import pytest

from annotations.models import Campaign, OpenLink, Participant
from annotations.planning.campaigns import open_campaign
from evaluations.models import Project
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from geval.files.archive.record_file import ArchiveError
from tests.annotations.test_open_links import Person
from tests.archive.test_hostile_archives import edited, setting

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = {"text": "Lang?", "kind": "choice", "options": ["a", "b"], "quotas": {"a": 2}}


@pytest.fixture
def opened(small_project: Project) -> Project:
    """One participant is done, another works."""
    campaign = Campaign.objects.create(project=small_project, name="Open", overlap=2)
    campaign.criteria.set(small_project.criteria.all())
    OpenLink.objects.create(
        campaign=campaign, address="ferries", title="Rate texts", consent="Agree?", people=7,
        items_each=2, before=[BEFORE], banned=["secret-ban"], done_code="SECRET-CODE",
    )  # fmt: skip
    open_campaign(campaign)
    done = Person("secret-id").begin(q0="a")
    while done.rate():
        pass
    done.finish()
    Person("other-id").begin(q0="b")
    return small_project


def archived(project: Project, *, pseudonyms: bool = False) -> io.BytesIO:
    content = io.BytesIO()
    write_archive(project, content, pseudonyms=pseudonyms)
    content.seek(0)
    return content


def test_a_copy_has_the_link_and_who_took_part(opened: Project) -> None:
    copy = read_archive(archived(opened), slug="copy", name="Copy")

    link = OpenLink.objects.get(campaign__project=copy)
    assert (link.title, link.people, link.before, link.is_open) == (
        "Rate texts",
        7,
        [BEFORE],
        False,
    )
    assert link.address is None
    people = list(Participant.objects.filter(link=link).order_by("pk"))
    assert [(person.state, person.before) for person in people] == [
        ("done", {"Lang?": "a"}),
        ("returned", {"Lang?": "b"}),
    ]
    done = Participant.objects.get(external_id="secret-id")
    assert people[0].annotator
    assert done.annotator
    assert people[0].annotator.name == done.annotator.name
    assert people[0].annotator.project == copy
    assert people[0].consented_at == done.consented_at


# The address belongs to the original, codes and addresses are secrets, ids are personal data.
ENDS = ("done", "incomplete", "screened", "returned")
LEFT_OUT = {"address", "is_open", "banned", *(f"{end}_code" for end in ENDS)}
LEFT_OUT |= {f"{end}_url" for end in ENDS}
SETTINGS = {
    "title": "T", "consent": "C", "people": 8, "items_each": 3, "minutes": 61, "skip_percent": 35,
    "per_address": 7, "before": [BEFORE], "after": [BEFORE | {"quotas": {}}],
    "amount": Decimal("1.50"), "pays_by_item": True, "amount_screened": Decimal("0.25"),
    "bonus": Decimal("0.75"), "bonus_percent": 90,
}  # fmt: skip


def test_every_setting_of_a_link_travels_or_is_left_out_on_purpose(opened: Project) -> None:
    settings = {field.name for field in OpenLink._meta.concrete_fields} - {"id", "campaign"}
    assert settings == SETTINGS.keys() | LEFT_OUT
    for name, value in SETTINGS.items():
        assert OpenLink._meta.get_field(name).get_default() != value, name
    OpenLink.objects.update(**SETTINGS)

    read_archive(archived(opened), slug="copy", name="Copy")

    copied = OpenLink.objects.filter(campaign__project__slug="copy").values(*SETTINGS).get()
    assert copied == SETTINGS


def test_with_pseudonyms_those_who_took_part_have_them_too(opened: Project) -> None:
    copy = read_archive(archived(opened, pseudonyms=True), slug="copy", name="Copy")

    people = Participant.objects.filter(link__campaign__project=copy).order_by("pk")
    names = [person.annotator.name for person in people if person.annotator]
    assert names
    assert all(name.startswith("annotator ") for name in names)


def test_nothing_says_who_they_are(opened: Project) -> None:
    with zipfile.ZipFile(archived(opened)) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            for secret in (b"secret-id", b"other-id", b"study9", b"secret-ban", b"SECRET-CODE"):
                assert secret not in content, name


def test_an_archive_whose_participants_work_is_refused(opened: Project) -> None:
    wrong = edited(opened, "participants", setting(state="active"))

    with pytest.raises(ArchiveError, match="nobody works in a copy"):
        read_archive(wrong, slug="copy", name="Copy")
