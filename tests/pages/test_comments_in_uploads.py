"""Comments in a column of their own beside columns of ratings are stored with the ratings."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Rating
from evaluations.models import Project
from tests.pages.test_upload_page import choose, say

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("columns", "name", "commented", "count"),
    [
        ("Kohaerenz_Anna,Kohaerenz_Bert", "Kommentar Anna", {"Anna"}, 1),
        ("Kohaerenz_Anna,Kohaerenz_gpt-4o", "Anmerkungen", {"Anna"}, 1),
        ("coherence,fluency", "Anmerkungen", {"annotator"}, 2),
    ],
)
def test_a_chosen_column_of_comments_is_read(
    owner: User, project: Project, columns: str, name: str, commented: set[str], count: int
) -> None:
    client = Client()
    client.force_login(owner)
    rows = [
        f"d{row // 2},s{row % 2},Text {row // 2},Output {row},{1 + row % 5},{5 - row % 5},"
        + ("Zu knapp" if row == 6 else "")
        for row in range(8)
    ]
    table = "\n".join([f"doc_id,system_id,source,output,{columns},{name}", *rows])
    upload, page = choose(client, {"ratings.csv": table})
    assert upload is not None
    assert "later: Zu knapp" in " ".join(page.split())

    upload = say(client, upload, {name: "comment"})
    client.post(f"{upload.get_absolute_url()}load/")

    ratings = Rating.objects.exclude(comment="").filter(output__document__doc_id="d3")
    assert set(ratings.values_list("annotator__name", flat=True)) == commented
    assert Rating.objects.exclude(comment="").count() == count
    assert not (upload.result or {})["unused"]
