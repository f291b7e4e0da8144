"""Names that a user types on an upload's page apply, whichever button is pressed."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Rating
from evaluations.models import Project, Upload, UploadState
from tests.pages.test_upload_that_asks import Page, table

pytestmark = pytest.mark.django_db
BESIDE = "doc_id,system_id,annotator,score\n" + "".join(
    f"d{row // 3},s{row % 3},Anna,{1 + row % 5}\n" for row in range(12)
)


@pytest.fixture
def page(owner: User, project: Project) -> Page:
    client = Client()
    client.force_login(owner)
    outputs = "doc_id,system_id,source,output\n" + "".join(
        f"d{row // 3},s{row % 3},Text {row // 3},Output {row}\n" for row in range(12)
    )
    Page(client, outputs).press("load")
    return Page(client, BESIDE)


def form_of(upload: Upload, **more: str) -> dict[str, str]:
    """What a browser sends of the page's form, with some fields changed."""
    file = upload.files.get()
    fields = {name: value for name, value in upload.about.items() if isinstance(value, str)}
    for number, column in enumerate(file.preview["columns"]):
        base, _, names = file.columns.get(column["name"], "").partition("[")
        fields[f"column-{file.pk}-{number}"] = base
        if names:
            criterion, rater = names.rstrip("]").replace('"', "").split(",")
            fields[f"column-{file.pk}-{number}-criterion"] = criterion
            fields[f"column-{file.pk}-{number}-rater"] = rater
    number = next(i for i, c in enumerate(file.preview["columns"]) if c["name"] == "score")
    own = {f"column-{file.pk}-{number}-criterion": more.pop("typed")} if "typed" in more else {}
    return fields | own | more


@pytest.mark.parametrize("changed", [{"typed": "Kohärenz"}, {"criterion": "Kohärenz"}])
def test_loading_checks_a_changed_form_first_and_then_loads_it(
    page: Page, changed: dict[str, str]
) -> None:
    page.press("load", **form_of(page.upload, **changed), **{"scale-0": "0-10"})

    assert "Your changes to the columns and defaults were checked first" in page.text
    assert page.upload.state == UploadState.CHECKED
    assert "Kohärenz" in page.upload.contents["criteria"][0]["name"]
    page.press("load", **form_of(page.upload))
    assert page.upload.state == UploadState.DONE
    assert set(Rating.objects.values_list("criterion__name", flat=True)) == {"Kohärenz"}


@pytest.mark.parametrize(
    ("name", "criteria"), [("Lesbarkeit", {"Lesbarkeit"}), (" ", set()), ("x" * 101, set())]
)
def test_the_question_for_a_criterion_takes_another_name(
    page: Page, name: str, criteria: set[str]
) -> None:
    asking = Page(page.client, table("Anna;Bert"))
    assert "Or another criterion" in asking.text

    asking.press("answer", answer=f"{asking.upload.files.get().pk}-0", criterion=name)

    contents = asking.upload.contents or {"criteria": ()}
    assert {criterion["name"] for criterion in contents["criteria"]} == criteria
