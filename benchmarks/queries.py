"""`make bench-queries`: each query that is written in SQL beside Django's own, in turn.

A written query stays only where it is clearly faster: it has to be at least 1.3 times as fast.
"""

import statistics
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from benchmarks.site import temporary_site

ROUNDS = 400
GOAL = 1.3


def microseconds(work: Callable[[], Any], other: Callable[[], Any]) -> tuple[float, float]:
    """The median time of two ways to the same rows, which take turns."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for times, way in zip(found, (work, other), strict=True):
            began = time.perf_counter()
            way()
            times.append(time.perf_counter() - began)
    return statistics.median(found[0]) * 1e6, statistics.median(found[1]) * 1e6


def ways() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """By what is read: the written query, and Django's."""
    from django.contrib.auth.models import User
    from django.contrib.sessions.models import Session
    from django.utils import timezone

    from annotations.answering import access, submission, task_page
    from annotations.models import Annotator, Assignment, Campaign, Seat
    from annotations.planning import assignment
    from annotations.planning.campaigns import open_campaign, seat_annotators
    from evaluations.corpus.store import load_files
    from evaluations.management.demo import DATA
    from evaluations.models import Document, Membership, Project, Role
    from evaluations.pages import side_by_side
    from evaluations.people import access as people
    from geval.files.readers import InputFile
    from geval_site import sessions

    user = User.objects.create_user("ada")
    project = Project.objects.make("Demo", "", owner_id=user.pk)
    load_files(project, [InputFile(DATA / name, name) for name in ("outputs.jsonl", "ratings.csv")])
    campaign = Campaign.objects.create(project=project, name="c", overlap=1)
    campaign.criteria.set(project.criteria.all())
    Membership.objects.filter(project=project, user=user).update(role=Role.OWNER)
    seat_annotators(campaign, [user])
    open_campaign(campaign)
    seat = Seat.objects.get(campaign=campaign)
    item = campaign.items.all()[0]
    given = Assignment.objects.create(
        campaign=campaign,
        item=item,
        annotator=seat.annotator,
        shown=item.outputs,
        lease_until=timezone.now() + timedelta(days=1),
    )
    Session.objects.create(
        session_key="k", session_data="x", expire_date=timezone.now() + timedelta(days=1)
    )
    document = Document.objects.filter(project=project)[0]
    which = [given.pk, campaign.pk, seat.annotator_id]
    by_id = {"pk": given.pk, "campaign": campaign.pk, "annotator": seat.annotator_id}
    mine = {"user": user, "project": project}
    assert Annotator.objects.filter(**mine).exists()
    return {
        "session": (
            lambda: sessions._SESSIONS.first(["k", timezone.now()]),
            lambda: Session.objects.get(session_key="k", expire_date__gt=timezone.now()),
        ),
        "user": (
            lambda: sessions._USERS.first([user.pk]),
            lambda: User.objects.get(pk=user.pk),
        ),
        "member with project": (
            lambda: people._MEMBERS.first([project.slug, user.pk]),
            lambda: Membership.objects.select_related("project").get(
                project__slug=project.slug, user=user.pk
            ),
        ),
        "seat with campaign and project": (
            lambda: access._SEATS.first([campaign.pk, user.pk, project.slug]),
            lambda: Seat.objects.select_related("campaign__project").get(
                campaign=campaign.pk, annotator__user=user.pk, campaign__project__slug=project.slug
            ),
        ),
        "assignment with item": (
            lambda: assignment._ASSIGNMENTS.first(which),
            lambda: Assignment.objects.select_related("item").get(**by_id),
        ),
        "assignment with item and document": (
            lambda: task_page._ASSIGNMENTS.first(which),
            lambda: Assignment.objects.select_related("item__document").get(**by_id),
        ),
        "criteria of a campaign": (
            lambda: submission._CRITERIA.all([campaign.pk]),
            lambda: list(campaign.criteria.order_by("position", "pk")),
        ),
        "outputs of a document": (
            lambda: side_by_side._OUTPUTS.all([document.pk]),
            lambda: list(document.outputs.select_related("system").order_by("system")),
        ),
    }


def main() -> int:
    with temporary_site():
        missed = 0
        print(f"{'read':36}{'written':>10}{'ORM':>10}{'ratio':>8}   goal {GOAL} times")
        for name, (written, orm) in ways().items():
            assert written() is not None
            ours, theirs = microseconds(written, orm)
            missed += theirs / ours < GOAL
            print(f"{name:36}{ours:8.0f} µs{theirs:8.0f} µs{theirs / ours:8.1f}")
        print("all are worth it" if not missed else f"{missed} should be Django's")
        return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
