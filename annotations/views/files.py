"""Downloads of ratings and preferences."""

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse

from annotations.results.exports import COLUMNS, as_csv, as_jsonl
from evaluations.models import Project
from evaluations.people.access import READERS, project_view

TYPES = {"csv": ("text/csv; charset=utf-8", as_csv), "jsonl": ("application/x-ndjson", as_jsonl)}


@project_view(READERS)
def export(request: HttpRequest, project: Project, name: str) -> HttpResponse:  # noqa: ARG001
    """`ratings.csv`, `ratings.jsonl`, `preferences.csv` or `preferences.jsonl`."""
    kind, _, ending = name.partition(".")
    if kind not in COLUMNS or ending not in TYPES:
        raise Http404(f"There is no export {name}.")
    content_type, write = TYPES[ending]
    response = StreamingHttpResponse(write(project, kind), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{name}"'
    return response  # type: ignore[return-value]
