"""An answer that says no: a page that says why, or problem details where a program asks."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluations.api.problems import problem
from geval_site.senders import is_for_api


def refused(request: HttpRequest, status: int, title: str, said: str) -> HttpResponse:
    """Args:
    said: what was wrong, and what to do.
    """
    if is_for_api(request):
        return problem(status, title, said)
    return render(request, "refused.html", {"title": title, "said": said}, status=status)
