"""No cell of a CSV file is a formula to a spreadsheet, wherever the file comes from; numbers stay
numbers."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import Project, Upload, UploadState
from geval.texts.spreadsheets import csv_line


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_text_that_begins_like_a_formula_is_a_text(begins: str) -> None:
    (cells,) = csv.reader(
        io.StringIO(csv_line([f"{begins}cmd|' /C calc'!A0", "plain"]), newline="")
    )

    assert cells == [f"'{begins}cmd|' /C calc'!A0", "plain"]


def test_numbers_and_nothing_are_as_they_were() -> None:
    assert csv_line([-0.25, -3, None, 1e-12]) == "-0.25,-3,,1e-12\n"
    assert csv_line([4.0, -0.5], number="{:.12g}".format) == "4,-0.5\n"


@pytest.mark.django_db
def test_no_cell_of_the_errors_of_an_upload_is_a_formula(owner: User, project: Project) -> None:
    error = {"file": "=a.csv", "line": 3, "column": "+x", "message": "@SUM(A1) is not a number"}
    upload = Upload.objects.create(
        project=project, state=UploadState.INVALID, errors=[error], error_count=1
    )
    client = Client()
    client.force_login(owner)

    content = client.get(f"{upload.get_absolute_url()}errors.csv").content.decode()

    assert content == "file,line,column,message\n'=a.csv,3,'+x,'@SUM(A1) is not a number\n"
