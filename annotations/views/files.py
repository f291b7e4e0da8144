"""Downloads of texts, ratings and preferences."""

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse

from evaluations.models import Project
from evaluations.people.access import READERS, project_view
from evaluations.reports.ratings.downloads import DOWNLOADS


@project_view(READERS)
def export(request: HttpRequest, project: Project, name: str) -> HttpResponse:  # noqa: ARG001
    """Return one of `DOWNLOADS` by its name."""
    if name not in DOWNLOADS:
        raise Http404(f"There is no export {name}.")
    download = DOWNLOADS[name]
    response = StreamingHttpResponse(download.write(project), content_type=download.content_type)
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{name}"'
    return response  # type: ignore[return-value]
