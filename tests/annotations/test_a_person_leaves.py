"""A person leaves: nothing of them is in the database afterwards, and their ratings stay."""

import hashlib
import json
import re
from collections.abc import Callable
from io import StringIO

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from annotations.models import (
    Annotator,
    Assignment,
    Campaign,
    OpenLink,
    Participant,
    Rating,
    Seat,
)
from annotations.results.leaving import ACTED, forget, person_named
from annotations.results.reviewing import exclude, lift, reject
from evaluations.models import ApiToken, AuditEntry, Invitation, LockEvent, Membership, Project
from evaluations.models.tokens import new_token
from evaluations.models.uploads import Upload
from tests.annotations import test_open_links
from tests.annotations.test_open_links import Person

pytestmark = pytest.mark.django_db
link = test_open_links.link
NAME, WORDS, ADDRESS = "quirinus", "wistful remark", "quirinus@example.org"


@pytest.fixture
def quirinus(small_project: Project, owner: User, make_user: Callable[..., User]) -> User:
    user = make_user(NAME, email=ADDRESS)
    Membership.objects.create(project=small_project, user=user, role="annotator")
    return user


@pytest.fixture
def traces(
    quirinus: User,
    owner: User,
    small_project: Project,
    make_campaign: Callable[..., Campaign],
    ratings_for: Callable[..., dict[str, str]],
) -> Campaign:
    """A campaign with an answer, a changed answer, a rejected one, a skipped item and a draft."""
    made = make_campaign(users=[quirinus], overlap=1)
    browser = Client()
    browser.force_login(quirinus)
    base = f"/p/small/annotate/{made.pk}/task/"
    browser.get(base)
    queue = Assignment.objects.filter(campaign=made).order_by("pk")
    for score in "34":
        answer = ratings_for(made, score, comment=WORDS, version="0" if score == "3" else "1")
        browser.post(f"{base}{queue[0].pk}/submit/", answer)
    browser.post(f"{base}{queue[1].pk}/submit/", ratings_for(made, "2", comment=WORDS, version="0"))
    browser.get(base)
    browser.post(f"{base}{queue[2].pk}/skip/", {"reason": WORDS})
    browser.get(base)
    Assignment.objects.filter(state="reserved").update(draft={"comment": WORDS})
    reject(queue[1].pk, user=owner, reason=f"By {NAME}, too fast")
    ApiToken.objects.create(
        user=quirinus, name="notebook", digest=new_token()[1], project=small_project
    )
    Invitation.objects.create(
        project=small_project, role="annotator", digest="d", note=ADDRESS, address=ADDRESS,
        made_by=owner, accepted_by=quirinus,
    )  # fmt: skip
    AuditEntry.objects.create(
        project=small_project, user=quirinus, user_name=NAME, action="a", path="/", address="::1"
    )
    AuditEntry.objects.create(
        project=small_project, user=owner, user_name="olga", action="a", path="/",
        detail=f"{NAME} is viewer",
    )  # fmt: skip
    LockEvent.objects.create(
        draw="d", kind="look", at="2026-01-01T00:00Z", by=NAME, project=small_project.slug
    )
    return made


def rows_with(*texts: str) -> list[str]:
    """Where a text is, anywhere in the database."""
    traces = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            for text in texts:
                cursor.execute(
                    f"SELECT t::text FROM {table} t WHERE t::text ILIKE %s", [f"%{text}%"]
                )
                traces += [f"{table}: {row}" for (row,) in cursor.fetchall()]
    return traces


def ratings() -> list[tuple[int, int, float]]:
    rows = Rating.objects.order_by("pk")
    return list(rows.values_list("output", "criterion", "score"))


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("forget_person", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("name", [NAME, ADDRESS])
def test_command_leaves_nothing_of_a_person_and_keeps_ratings(traces: Campaign, name: str) -> None:
    kept = ratings()
    assert kept
    assert rows_with(NAME)
    assert rows_with(WORDS)

    run(name, "--confirm", name)

    assert rows_with(NAME, WORDS) == []
    assert ratings() == kept
    assert not User.objects.filter(username=NAME).exists()
    annotator = Annotator.objects.get(name__startswith="person ")
    assert Seat.objects.get(annotator=annotator).removed_at is not None


def test_dry_run_counts_and_changes_nothing(traces: Campaign) -> None:
    before = rows_with(NAME, WORDS, "::1")

    shown = run(NAME)

    assert rows_with(NAME, WORDS, "::1") == before
    assert "tokens: 1" in shown
    assert f"--confirm '{NAME}'" in shown


def test_another_name_as_confirmation_removes_nothing(traces: Campaign) -> None:
    with pytest.raises(CommandError, match="another name"):
        run(NAME, "--confirm", "quirin")
    assert User.objects.filter(username=NAME).exists()


@pytest.mark.parametrize("name", ["nobody", ""])
def test_unknown_person_is_an_error(traces: Campaign, name: str) -> None:
    with pytest.raises(CommandError, match="nobody called"):
        run(name)


def test_last_owner_and_administrators_stay(project: Project, owner: User) -> None:
    with pytest.raises(CommandError, match="at least one owner"):
        run("olga", "--confirm", "olga")
    User.objects.filter(pk=owner.pk).update(is_superuser=True)
    with pytest.raises(CommandError, match="administers the site"):
        run("olga", "--confirm", "olga")
    assert User.objects.filter(username="olga").exists()


def test_owner_removes_a_person_from_one_project_alone(
    traces: Campaign, quirinus: User, owner: User
) -> None:
    other = Project.objects.create(name="Other", slug="other")
    Membership.objects.create(project=other, user=quirinus, role="viewer")
    named = Annotator.objects.create(project=other, name=NAME, user=quirinus)
    browser = Client()
    browser.force_login(owner)

    shown = browser.post("/p/small/members/forget/", {"name": NAME}).content.decode()
    assert "Tokens: 1" in shown
    assert Annotator.objects.filter(project__slug="small", name=NAME).exists()
    browser.post("/p/small/members/forget/", {"name": NAME, "confirm": NAME})

    left = {row.partition(":")[0] for row in rows_with(NAME, WORDS)}
    assert left == {"auth_user", "annotations_annotator"}
    named.refresh_from_db()
    assert (named.name, named.user) == (NAME, quirinus)
    assert list(quirinus.memberships.values_list("project__slug", flat=True)) == ["other"]
    assert AuditEntry.objects.filter(action="annotations:person_forget").count() == 1


def test_raters_of_files_and_lifted_exclusions_are_renamed(traces: Campaign, owner: User) -> None:
    annotator = Annotator.objects.get(name=NAME)
    exclude(annotator, user=owner, reason=f"{NAME} left")
    lift(annotator, user=owner)
    Annotator.objects.create(project=traces.project, name="Renate of the file")
    upload = Upload.objects.create(
        project=traces.project, state="done", contents={"raters": {"Renate of the file": 3}}
    )
    columns = {"q": 'ratings["quality","Renate of the file"]'}
    Upload.objects.create(project=traces.project, state="done").files.create(
        name="f.csv", size=1, columns=columns
    )
    kept = Upload.objects.create(project=traces.project, state="done", contents={"raters": {}})
    traces.project.saved_columns.create(name="as before", columns=columns, file_columns=[])

    run("Renate of the file", "--confirm", "Renate of the file")
    run(NAME, "--confirm", NAME)

    assert rows_with(NAME, "Renate") == []
    assert list(Upload.objects.all()) == [kept]
    assert not upload.files.exists()


@pytest.mark.parametrize(
    ("in_json", "page", "is_named"),
    [
        (NAME, "", True),
        ("Ann", f"<p>the ratings of {NAME} on every output</p>", True),
        ("Ann", f"<p>{NAME}ia</p>", False),
    ],
)
def test_frozen_reports_name_a_person_no_more(
    traces: Campaign, owner: User, in_json: str, page: str, is_named: bool
) -> None:
    content = json.dumps({"kept": [{"annotators": [in_json, "Bob"], "value": 0.50}]})
    digest = hashlib.sha256(content.encode()).hexdigest()
    frozen = traces.project.snapshots.create(sha256=digest, content=content, page=page)

    assert ("frozen reports with the name: 1" in run(NAME)) == is_named
    run(NAME, "--confirm", NAME)

    before = (frozen.content, frozen.page)
    frozen.refresh_from_db()
    assert frozen.is_intact
    assert frozen.sha256 == digest
    assert ((frozen.content, frozen.page) != before) == is_named
    assert (frozen.page == "") == (is_named or page == "")
    assert re.findall(f"(?i)\\b{NAME}\\b", frozen.content + frozen.page) == []
    if in_json == NAME:
        assert f'"{Annotator.objects.get(name__startswith="person ").name}"' in frozen.content
    browser = Client()
    browser.force_login(owner)
    shown = browser.get(frozen.get_absolute_url()).content.decode()
    assert ("of the report before" in shown) == is_named


def test_every_column_with_the_name_of_who_acted_is_known() -> None:
    endings = ("by_name", "user_name")
    columns = {
        (model, field.name)
        for model in apps.get_models()
        if model._meta.app_label in ("evaluations", "annotations", "assurance")
        for field in model._meta.get_fields()
        if field.name.endswith(endings) or field.name == "by"
    }

    assert columns <= {(model, column) for model, column, _user, _way in ACTED}


def test_participants_leave_with_comments_and_cookie(link: OpenLink) -> None:
    person = Person("p1").begin(q0="yes", q1="3")
    person.rate("3")
    Rating.objects.filter(annotator__participant__isnull=False).update(comment=WORDS)
    kept = ratings()

    forget(person_named("p1"))

    assert rows_with(WORDS) == []
    assert ratings() == kept
    assert not Participant.objects.filter(external_id="p1").exists()
    ended = person.client.get("/c/ferries/end")
    assert (ended.status_code, ended["Location"]) == (302, "/c/ferries")
