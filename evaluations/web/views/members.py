"""Pages of a project's members, invitation links, and the audit log."""

from functools import partial

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from evaluations.models import AuditEntry, Membership, Project, Role
from evaluations.people.access import EDITORS, OWNERS, READERS, project_action, project_view
from evaluations.people.activity import actions_with, in_words
from evaluations.people.audit import note_detail
from evaluations.people.languages import in_language
from evaluations.people.members import (
    MemberError,
    TooManyInvitationsError,
    accept,
    change_role,
    invitation_for,
    invitation_link,
    invite,
    invite_by_mail,
    remove,
    revoke,
    send_new_password,
)
from evaluations.web.forms.members import InvitationForm, JoinForm, MailedInvitationsForm, RoleForm
from evaluations.web.notices import noticing, refuse
from evaluations.web.parameters import reads
from geval.texts.spelling import storable

PAGE_SIZE = 100


@project_view(READERS)
def member_list(request: HttpRequest, project: Project) -> HttpResponse:
    return render(request, "evaluations/member_list.html", _context(project, InvitationForm()))


@project_action(OWNERS)
def invitation_create(request: HttpRequest, project: Project) -> HttpResponse:
    """Create an invitation; its link is shown only in this response."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return render(request, "evaluations/member_list.html", _context(project, form), status=422)
    assert isinstance(request.user, User)
    data = form.cleaned_data
    asked = {"by": request.user, "note": data["note"], "days": data["days"]}
    try:
        invited = invite(project, data["role"], **asked)
    except TooManyInvitationsError as error:
        form.add_error(None, str(error))
        return render(request, "evaluations/member_list.html", _context(project, form), status=422)
    note_detail(request, f"as {data['role']}")
    context = _context(project, InvitationForm()) | {
        "link": invitation_link(request, invited.token),
        "link_role": Role(data["role"]).label,
    }
    return render(request, "evaluations/member_list.html", context)


@project_action(OWNERS)
def invitations_mail(request: HttpRequest, project: Project) -> HttpResponse:
    """Invite people by mail, skipping members and those already invited."""
    form = MailedInvitationsForm(request.POST, request.FILES)
    if not form.is_valid():
        context = _context(project, InvitationForm()) | {"mailed_form": form}
        return render(request, "evaluations/member_list.html", context, status=422)
    assert isinstance(request.user, User)
    data = form.cleaned_data
    try:
        invited = invite_by_mail(
            project,
            data["addresses"],
            data["role"],
            by=request.user,
            days=data["days"],
            language=data["language"],
            link_of=partial(invitation_link, request),
        )
    except TooManyInvitationsError as error:
        form.add_error(None, str(error))
        context = _context(project, InvitationForm()) | {"mailed_form": form}
        return render(request, "evaluations/member_list.html", context, status=422)
    if invited.lost_from:
        messages.error(request, f"No mail can be sent at the moment, from {invited.lost_from} on.")
    note_detail(request, f"{invited.mailed} as {data['role']}")
    skipped = f" Members or invited already: {invited.left_out}." if invited.left_out else ""
    messages.success(request, f"Invitations to be mailed: {invited.mailed}.{skipped}")
    return redirect("evaluations:member_list", project.slug)


@project_action(OWNERS)
def member_password(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Give a member a link for a new password: by mail, or shown once if they have no address."""
    member = get_object_or_404(Membership.objects.select_related("user"), project=project, pk=pk)
    note_detail(request, str(member.user))
    try:
        path = send_new_password(member, domain=request.get_host(), use_https=request.is_secure())
    except MemberError as error:
        refuse(request, str(error))
        return redirect("evaluations:member_list", project.slug)
    if not path:
        messages.success(request, f"{member.user} gets a link for a new password by mail.")
        return redirect("evaluations:member_list", project.slug)
    link = request.build_absolute_uri(path)
    context = _context(project, InvitationForm()) | {"link": link, "link_for": member.user}
    return render(request, "evaluations/member_list.html", context)


@project_action(OWNERS)
def invitation_revoke(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    revoke(project, pk)
    return redirect("evaluations:member_list", project.slug)


@project_action(OWNERS)
def member_change(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Change a member's role, or with the button "Remove" remove the member."""
    member = get_object_or_404(Membership.objects.select_related("user"), project=project, pk=pk)
    form = RoleForm(request.POST)
    with noticing(request, MemberError):
        if "remove" in request.POST:
            remove(member)
            note_detail(request, f"{member.user} removed")
            messages.success(
                request, f"{member.user} is no longer a member; their ratings are kept."
            )
        elif form.is_valid():
            change_role(member, form.cleaned_data["role"])
            note_detail(request, f"{member.user} is {member.role}")
            messages.success(request, f"{member.user} is now {member.get_role_display().lower()}.")
        else:
            refuse(request, "This role does not exist.")
    if not project.memberships.filter(user=request.user.pk).exists():
        return redirect("evaluations:project_list")
    return redirect("evaluations:member_list", project.slug)


@reads("search", "page")
@project_view(EDITORS)
def audit_list(request: HttpRequest, project: Project) -> HttpResponse:
    search = storable(request.GET.get("search", "").strip())
    rows = AuditEntry.objects.filter(project=project)
    for word in search.split():
        rows = rows.containing(word, actions_with(word))
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(
        request,
        "evaluations/audit_list.html",
        {
            "project": project,
            "tab": "members",
            "page": page,
            "search": search,
            "entries": [(entry, in_words(entry.action)) for entry in page],
            "kept_days": settings.KEEP_AUDIT_DAYS,
        },
    )


def invitation_accept(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation: signed-in users join with a click, others sign in first."""
    return in_language(request, lambda: _accept(request, token))


def _accept(request: HttpRequest, token: str) -> HttpResponse:
    invitation = invitation_for(token)
    if invitation is None:
        return render(request, "evaluations/invitation.html", {"invitation": None}, status=410)
    form: JoinForm | None = None
    if not request.user.is_authenticated:
        form = JoinForm(request.POST or None)
        if request.method != "POST" or not form.is_valid():
            context = {"invitation": invitation, "form": form}
            return render(
                request, "evaluations/invitation.html", context, status=422 if form.errors else 200
            )
        login(request, form.save(), backend="geval_site.sessions.UserBackend")
    elif request.method != "POST":
        return render(request, "evaluations/invitation.html", {"invitation": invitation})
    assert isinstance(request.user, User)
    try:
        member = accept(token, request.user)
    except MemberError as error:
        messages.error(request, str(error))
        return redirect("evaluations:project_list")
    joined = _("You have joined %(project)s.") % {"project": member.project}
    messages.success(request, f"{joined} {_('Your role:')} {_(member.get_role_display())}")
    return redirect(member.project)


def _context(project: Project, form: InvitationForm) -> dict[str, object]:
    return {
        "project": project,
        "tab": "members",
        "members": project.memberships.select_related("user").order_by("user__username"),
        "invitations": project.invitations.open().select_related("made_by"),
        "form": form,
        "mailed_form": MailedInvitationsForm() if settings.SENDS_MAIL else None,
        "roles": Role.choices,
    }
