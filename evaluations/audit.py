"""The audit log: every change that a page or the API made, by whom and of what; never what was typed."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from evaluations.models import ApiToken, AuditEntry, Project

CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# Answers of annotators have a history of their own, item by item; drafts and reading on are no changes.
LEFT_OUT = frozenset(
    f"annotations:task_{name}" for name in ("current", "next", "back", "list", "detail", "submit", "draft", "skip")
)
REFUSED = 400


class AuditMiddleware:
    """Notes every request that changed something in a project. A view may say more by `note_detail`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        match = request.resolver_match
        if request.method not in CHANGING or response.status_code >= REFUSED or match is None:
            return response
        if match.view_name in LEFT_OUT or not request.user.is_authenticated or "slug" not in match.kwargs:
            return response
        project = Project.objects.filter(slug=match.kwargs["slug"]).first()
        if project is not None:
            AuditEntry.objects.create(
                project=project,
                user_id=request.user.pk,
                user_name=request.user.get_username(),
                action=match.view_name[:100],
                path=request.path[:500],
                detail=getattr(request, "audit_detail", "")[:300],
                by_api=isinstance(getattr(request, "auth", None), ApiToken),
            )
        return response


def note_detail(request: HttpRequest, detail: str) -> None:
    """Say in the log what a request changed, in a few words."""
    request.audit_detail = detail  # type: ignore[attr-defined]
