"""The page on which an owner lets a person leave the project."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotations.errors import AnnotationError
from annotations.forms.people import LeavingForm
from annotations.results.leaving import forget, person_named
from evaluations.models import Project
from evaluations.people.access import OWNERS, project_view
from evaluations.people.members import MemberError


@project_view(OWNERS, archived=True)
def person_forget(request: HttpRequest, project: Project) -> HttpResponse:
    """Show what a person left in the project; with the name typed again, remove it."""
    form = LeavingForm(request.POST or None)
    removed: dict[str, int] = {}
    if form.is_valid():
        request.changes_nothing = form.is_dry_run  # type: ignore[attr-defined]
        try:
            person = person_named(form.cleaned_data["name"], project)
            removed = forget(person, dry_run=form.is_dry_run)
        except (AnnotationError, MemberError) as error:
            form.add_error(None, str(error))
    context = {
        "project": project,
        "tab": "members",
        "form": form,
        "removed": [(kind, count) for kind, count in removed.items() if count],
        "is_found": bool(removed),
        "pseudonym": "" if form.errors or not removed or form.is_dry_run else person.pseudonym,
    }
    status = 422 if form.errors else 200
    return render(request, "annotations/person_forget.html", context, status=status)
