"""Columns are recognised again by the names that they had in a project's earlier uploads."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import Project, UploadState
from geval.files.rater_names import KnownNames
from geval.files.recognition import recognise
from tests.pages.test_upload_page import choose, load

pytestmark = pytest.mark.django_db
NAMES = {"Dokument": "doc_id", "Quelltext": "source", "Zusammenfassung": "output"}
SYSTEM = {"Modell": "system_id"}
SHORT = "Dokument;Modell;Kohaerenz_Anna\n" + "".join(
    f"d{row};m1;{1 + row % 5}\n" for row in range(10)
)


def test_a_short_file_is_read_like_the_project_s_earlier_one(owner: User, project: Project) -> None:
    client = Client()
    client.force_login(owner)
    rows = (
        f"d{row // 2};m{row % 2};Die Fähre {row // 2} fährt heute wieder nach Sandvik.;"
        f"Fähre {row // 2} fährt, sagt Modell {row % 2} dazu.\n"
        for row in range(40)
    )
    upload, before = choose(client, {"short.csv": SHORT})
    assert upload is not None
    assert "Choose the column with the document&#x27;s name: ratings in columns need it." in before
    load(client, {"large.csv": "Dokument;Modell;Quelltext;Zusammenfassung\n" + "".join(rows)})

    again, _page = choose(client, {"short.csv": SHORT})

    assert again is not None
    assert again.files.get().columns["Dokument"] == "doc_id"
    assert again.state == UploadState.CHECKED


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("dokument,Quelltext,Zusammenfassung,Modell", {"dokument": "doc_id"} | SYSTEM),
        ("doc_id,Dokument,source,output", {"Dokument": "metadata", "doc_id": "doc_id"}),
        ("Dokument,system_id,criterion,annotator,score", {"Dokument": "doc_id"}),
        ("Dokument,Zusammenfassung,system_id,criterion,annotator,score", {"Dokument": "doc_id"}),
    ],
)
def test_an_earlier_meaning_fills_only_what_no_column_has(
    header: str, expected: dict[str, str]
) -> None:
    names = header.split(",")
    rows = [{name: f"{name[:3]} {row}" for name in names} for row in range(4)]
    earlier = {name.lower(): target for name, target in (NAMES | SYSTEM).items()}

    columns = recognise(names, rows, KnownNames(columns=earlier)).columns

    assert {name: columns.get(name) for name in expected} == expected
