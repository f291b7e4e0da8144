"""A refused sign-in leaves a line with the address, without name or password."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import Project
from tests.logs.conftest import Lines

pytestmark = pytest.mark.django_db
MakeUser = Callable[..., User]


def sign_in(name: str, password: str) -> Any:
    data = {"username": name, "password": password}
    return Client().post("/sign-in/", data, REMOTE_ADDR="10.1.2.3")


@pytest.mark.parametrize("name", ["kim-sentinel", "nobody-sentinel"])
def test_a_refused_sign_in_leaves_a_line(make_user: MakeUser, lines: Lines, name: str) -> None:
    make_user("kim-sentinel")

    sign_in(name, "guess-sentinel")

    (line,) = lines.all
    assert (line["event"], line["level"]) == ("sign-in refused", "warning")
    assert (line["address"], line["reason"]) == ("10.1.2.3", "wrong name or password")
    assert "sentinel" not in lines.text


def test_a_locked_name_leaves_one_line_per_attempt(
    make_user: MakeUser, lines: Lines, settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    make_user("kim-sentinel")

    for _ in range(3):
        sign_in("kim-sentinel", "guess-sentinel")

    reasons = [line["reason"] for line in lines.of("sign-in refused")]
    assert reasons == ["wrong name or password", "locked out", "locked out"]
    assert "sentinel" not in lines.text


def test_a_refused_change_leaves_a_line(
    as_role: Callable[[str], Client], project: Project, lines: Lines
) -> None:
    as_role("viewer").post("/p/small/archived/")

    line = lines.only("change refused")
    assert (line["reason"], line["project"]) == ("no right to do this", "small")
