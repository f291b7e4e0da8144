"""A person leaves: what names them or is in their own words is removed, and their ratings stay
under a pseudonym. An owner does it in a project, the command on the whole site."""

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from typing import Any

from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import CharField, F, Func, Model, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from django.utils.crypto import get_random_string

from annotations.errors import AnnotationError
from annotations.models import (
    Annotator,
    AnswerChange,
    Decision,
    Exclusion,
    GuidelinesVersion,
    Participant,
    Review,
    Seat,
)
from annotations.open_links.arrival import CODE_CHARACTERS, CODE_LENGTH
from annotations.open_links.places import remove_personal_data
from annotations.planning.assignment import end_leases
from annotations.planning.free_texts import empty_free_texts
from annotations.planning.places import count_places, keep_items_of
from evaluations.models import (
    ApiToken,
    AuditEntry,
    EvaluationRun,
    GapCause,
    Invitation,
    LockEvent,
    Look,
    Membership,
    Project,
    ReportSnapshot,
    Search,
)
from evaluations.models.changes import note_change
from evaluations.models.kept_reports import KeptReport
from evaluations.models.uploads import ACTIVE, SavedColumns, Upload, UploadFile
from evaluations.people.members import remove
from evaluations.reports.ratings.pseudonyms import download_renamed

# Who did something: the columns of the name as it was then and of the user ("": none), and the way
# to the project. A test finds columns that are missing here.
ACTED: tuple[tuple[type[Model], str, str, str], ...] = (
    (AuditEntry, "user_name", "user", "project"),
    (GapCause, "given_by_name", "given_by", "judge__project"),
    (Look, "looked_by_name", "looked_by", "locked__project"),
    (LockEvent, "by", "", ""),
    (GuidelinesVersion, "by_name", "user", "project"),
    (Decision, "by_name", "user", "item__campaign__project"),
    (Review, "by_name", "user", "assignment__campaign__project"),
    (AnswerChange, "", "user", "assignment__campaign__project"),
    (Exclusion, "by_name", "user", "annotator__project"),
    (Exclusion, "lifted_by_name", "", "annotator__project"),
)
# Sentences that may name somebody.
SENTENCES: tuple[tuple[type[Model], str, str], ...] = (
    (AuditEntry, "detail", "project"),
    (EvaluationRun, "message", "project"),
    (Search, "message", "project"),
    (Exclusion, "reason", "annotator__project"),
    (Review, "reason", "assignment__campaign__project"),
)

# Columns of uploads and their files that may have names of raters.
LOADED, UPLOADED = ("about", "result", "errors", "contents"), ("columns", "preview", "refused")


@dataclass(frozen=True)
class Person:
    """Everybody whom a name finds, in a project or (None) on the whole site."""

    project: Project | None
    name: str
    users: list[Any]
    annotators: list[Annotator]
    participants: list[Participant]
    pseudonym: str = field(
        default_factory=lambda: f"person {get_random_string(CODE_LENGTH, CODE_CHARACTERS)}"
    )

    @property
    def accounts(self) -> set[str]:
        return {user.get_username() for user in self.users}


def person_named(name: str, project: Project | None = None) -> Person:
    """Find a person by the name of an account or annotator, an e-mail address, or a panel's id.

    Raises:
        AnnotationError: there is nobody of that name, or an administrator of the site is.
    """
    nobody = AnnotationError(f"There is nobody called {name!r} here.")
    if not name:  # as the address of many accounts is
        raise nobody
    users = get_user_model().objects.filter(Q(username=name) | Q(email__iexact=name))
    people = Annotator.objects.filter(kind=Annotator.Kind.PERSON)
    participants = Participant.objects.select_related("link__campaign")
    if project is not None:
        log = AuditEntry.objects.filter(project=project).values("user")
        linked = Q(memberships__project=project) | Q(annotators__project=project) | Q(pk__in=log)
        users = users.filter(linked).distinct()
        people = people.filter(project=project)
        participants = participants.filter(link__campaign__project=project)
    annotators = people.filter(
        Q(name=name) | Q(user__in=users) | Q(participant__external_id=name)
    ).distinct()
    places = participants.filter(Q(external_id=name) | Q(annotator__in=annotators))
    person = Person(project, name, list(users), list(annotators), list(places))
    traces = person.users or person.annotators or person.participants
    if not traces and not _invitations(person).exists():
        raise nobody
    if project is None and any(user.is_superuser for user in person.users):
        raise AnnotationError(f"{name} administers the site; take that right away first.")
    return person


@transaction.atomic
def forget(person: Person, *, dry_run: bool = False) -> dict[str, int]:
    """Remove all that names a person, for good, and return how much of each kind there was.

    Raises:
        MemberError: a project would be left without an owner.
    """
    ids = [annotator.pk for annotator in person.annotators]
    seats = Seat.objects.filter(annotator__in=ids)
    count_places(end_leases(seats.lock()))
    seats.filter(removed_at=None).update(removed_at=timezone.now())
    keep_items_of(ids)
    comments, drafts = empty_free_texts(ids)
    removed = Counter({"comments": comments, "drafts": drafts})
    removed["places in open links"] = remove_personal_data(person.participants)
    removed["invitations"] = _invitations(person).delete()[0]
    removed["entries of logs"] = _rename_in_logs(person)
    for user in person.users:
        removed.update(_leave(user, person.project))
    removed["records of uploads"] = _forget_uploads(person)
    removed["frozen reports with the name"] = _rename_in_frozen(person)
    removed["annotators' names"] = _rename(person.annotators, person.pseudonym)
    if dry_run:
        transaction.set_rollback(True)
    return dict(removed)


def _of(person: Person, way: str) -> Q:
    return Q() if person.project is None else Q(**{way: person.project})


def _invitations(person: Person) -> QuerySet[Invitation]:
    to_them = Q(accepted_by__in=person.users)
    for address in {person.name, *(user.email for user in person.users if user.email)}:
        to_them |= Q(address__iexact=address) | Q(note__iexact=address)
    return Invitation.objects.filter(to_them, _of(person, "project"))


def _rename(annotators: list[Annotator], pseudonym: str) -> int:
    """Name annotators by a pseudonym; participants are called by a number already."""
    Annotator.objects.filter(pk__in=[annotator.pk for annotator in annotators]).update(user=None)
    named = _pseudonyms(annotators, pseudonym)
    for annotator, name in named:
        Annotator.objects.filter(pk=annotator.pk).update(name=name)
    for project_id in {annotator.project_id for annotator in annotators}:
        # Their numbers are right, and their names are not.
        KeptReport.objects.done().filter(project=project_id).delete()
        note_change(project_id)
    return len(named)


def _pseudonyms(annotators: list[Annotator], pseudonym: str) -> list[tuple[Annotator, str]]:
    named = [annotator for annotator in annotators if not hasattr(annotator, "participant")]
    return [
        (annotator, pseudonym if number == 1 else f"{pseudonym}-{number}")
        for number, annotator in enumerate(named, 1)
    ]


def _rename_in_logs(person: Person) -> int:
    renamed = 0
    AuditEntry.objects.filter(_of(person, "project"), user__in=person.users).update(address="")
    for model, column, user, way in ACTED:
        rows: QuerySet[Any] = model._default_manager.all()
        if model is LockEvent and person.project is not None:
            rows = rows.filter(project=person.project.slug)
        elif way:
            rows = rows.filter(_of(person, way))
        if column:
            acted = rows.filter(**{f"{column}__in": person.accounts})
            renamed += acted.update(**{column: person.pseudonym})
        if user:
            rows.filter(**{f"{user}__in": person.users}).update(**{user: None})
    for model, column, way in SENTENCES:
        sentences = model._default_manager.filter(_of(person, way))
        for name in person.accounts:
            whole = Value(rf"(?<!\w){re.escape(name)}(?!\w)", CharField())
            new = Func(
                F(column), whole, Value(person.pseudonym), Value("g"), function="regexp_replace"
            )
            renamed += sentences.filter(**{f"{column}__contains": name}).update(**{column: new})
    return renamed


def _leave(user: Any, project: Project | None) -> dict[str, int]:
    """Take a user out of a project, or remove the account."""
    members = Membership.objects.filter(user=user)
    tokens = ApiToken.objects.filter(user=user)
    if project is not None:
        members, tokens = members.filter(project=project), tokens.filter(project=project)
    left = {"memberships": members.count(), "tokens": tokens.count(), "accounts": 0}
    for member in members:
        remove(member)
    tokens.delete()
    if project is None:
        AccessAttempt.objects.filter(username=user.get_username()).delete()
        of_users = ContentType.objects.get_for_model(type(user))
        LogEntry.objects.filter(content_type=of_users, object_id=str(user.pk)).delete()
        user.delete()
        left["accounts"] = 1
    return left


def _forget_uploads(person: Person) -> int:
    """Remove the site's records of uploads that name an annotator: in columns, first rows, errors,
    and what was counted."""
    removed = 0
    for name in {annotator.name for annotator in person.annotators}:
        quoted = f'"{re.escape(json.dumps(name, ensure_ascii=False)[1:-1])}\\\\?"'
        files = UploadFile.objects.annotate(
            text=Concat(*(Cast(f, TextField()) for f in UPLOADED), output_field=TextField())
        )
        naming = Q(text__regex=quoted) | Q(files__in=files.filter(text__regex=quoted))
        uploads = Upload.objects.annotate(
            text=Concat(*(Cast(f, TextField()) for f in LOADED), output_field=TextField())
        )
        uploads = uploads.filter(naming, _of(person, "project")).exclude(state__in=ACTIVE)
        saved = SavedColumns.objects.annotate(text=Cast("columns", TextField()))
        saved = saved.filter(_of(person, "project"), text__regex=quoted)
        removed += uploads.distinct().count() + saved.count()
        Upload.objects.filter(pk__in=uploads.values("pk")).delete()
        saved.delete()
    return removed


def _rename_in_frozen(person: Person) -> int:
    """Rename annotators in reports that were frozen with names, and remove the pages of these; the
    digest that publications cite stays beside that of the new content."""
    renamed = 0
    for annotator, pseudonym in _pseudonyms(person.annotators, person.pseudonym):
        whole = re.compile(rf"(?<!\w){re.escape(escape(annotator.name, quote=False))}(?!\w)")
        for frozen in ReportSnapshot.objects.filter(project=annotator.project_id):
            content = download_renamed(frozen.content, {annotator.name: pseudonym}, "json")
            is_in_page = re.search("[^\\W\\d_]", annotator.name) and whole.search(frozen.page)
            if is_in_page or json.loads(content) != json.loads(frozen.content):
                digest = hashlib.sha256(content.encode()).hexdigest()
                ReportSnapshot.objects.filter(pk=frozen.pk).update(
                    content=content, page="", renamed_sha256=digest
                )
                renamed += 1
    return renamed
