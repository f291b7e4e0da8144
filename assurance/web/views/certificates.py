"""Pages of certificates: make one, see what it says and whether it still fits, download it."""

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from assurance.certifying.bindings import bound_rows
from assurance.certifying.certificates import COMMANDS, certify, in_words, what_changed
from assurance.certifying.sealed import badge, sealed
from assurance.web.forms import CertificateForm
from evaluations.models import Certificate, Judge, Project
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.reports.serving.live import too_large_for_page
from evaluations.web.notices import refuse


@project_view(READERS)
def judge_certificates(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge, project=project, pk=pk)
    form = CertificateForm(project=project) if project.criteria.exists() else None
    return render(request, "assurance/judge_certificates.html", _context(judge, form))


def _context(judge: Judge, form: CertificateForm | None) -> dict[str, Any]:
    made = judge.certificates.select_related("criterion", "project")
    return {
        "project": judge.project,
        "tab": "judges",
        "judge": judge,
        "certificates": [(certificate, sealed(certificate)) for certificate in made],
        "form": form,
    }


@project_action(EDITORS)
def judge_certify(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Check a judge, and open the certificate."""
    judge = get_object_or_404(Judge, project=project, pk=pk)
    form = CertificateForm(request.POST, project=project)
    if problem := too_large_for_page(project, *COMMANDS):
        refuse(request, problem)
        return redirect("evaluations:judge_certificates", project.slug, judge.pk)
    if not form.is_valid():
        template = "assurance/judge_certificates.html"
        return render(request, template, _context(judge, form), status=422)
    about = form.cleaned_data
    made = certify(
        judge,
        about["criterion"],
        about["requirements"],
        epsilon=about["epsilon"],
        human_score=about["human_score"],
        by=request.user,
    )
    return redirect(made)


@project_view(READERS)
def certificate_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    made = _certificate(project, pk)
    seal = sealed(made)
    if seal.outcome is None:
        context = {"project": project, "tab": "judges", "certificate": made, "seal": seal}
        return render(request, "assurance/certificate_detail.html", context)
    # For a project too large for a page, only the command checks whether it still fits.
    changed = None if too_large_for_page(project, *COMMANDS) else what_changed(made)
    context = {
        "project": project,
        "tab": "judges",
        "certificate": made,
        "seal": seal,
        "sentences": [(requirement, in_words(requirement)) for requirement in made.requirements],
        "changed": changed,
        "bound": made.content["bound_to"],
        "bound_rows": bound_rows(made.content["bound_to"]),
    }
    return render(request, "assurance/certificate_detail.html", context)


@project_view(READERS)
def certificate_json(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The certificate as a file, as it was signed."""
    made = _certificate(project, pk)
    # Not orjson: unsigned content may hold numbers beyond 64 bits.
    content = f"{json.dumps(made.content, indent=2, ensure_ascii=False)}\n"
    response = HttpResponse(content, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="certificate-{made.pk}.json"'
    return response


@project_view(READERS)
def certificate_badge(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    made = _certificate(project, pk)
    seal = sealed(made)
    if seal.outcome and not seal.is_ours:
        raise Http404  # anybody can sign with a key of their own
    fits = seal.outcome is None or (
        bool(too_large_for_page(project, *COMMANDS)) or not what_changed(made)
    )
    drawn = badge(made.judge.label, made.criterion.name, seal.said, fits=fits)
    return HttpResponse(drawn, content_type="image/svg+xml")


def _certificate(project: Project, pk: int) -> Certificate:
    rows = project.certificates.select_related("judge__project", "criterion", "made_by")
    return get_object_or_404(rows, pk=pk)
