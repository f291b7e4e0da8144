"""The menu of languages on annotators' pages."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from evaluations.people.languages import choose_language


@require_POST
def language_choose(request: HttpRequest) -> HttpResponse:
    """Store the chosen language, and redirect to the page."""
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = reverse("evaluations:project_list")
    response = HttpResponseRedirect(back)
    choose_language(request, response, request.POST.get("language", ""))
    return response
