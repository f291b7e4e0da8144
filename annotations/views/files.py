"""Downloads of texts, ratings and preferences."""

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse

from evaluations.models import Project
from evaluations.people.access import READERS, project_view
from evaluations.reports.ratings.downloads import DOWNLOADS
from evaluations.web.parameters import PSEUDONYMS, reads, wants_pseudonyms


@reads(PSEUDONYMS)
@project_view(READERS)
def export(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    """Return one of `DOWNLOADS` by its name, with names or pseudonyms of annotators."""
    if name not in DOWNLOADS:
        raise Http404(f"There is no export {name}.")
    download = DOWNLOADS[name]
    pseudonyms = wants_pseudonyms(request, usually=download.is_published)
    content = download.write(project, pseudonyms=pseudonyms)
    response = StreamingHttpResponse(content, content_type=download.content_type)
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{name}"'
    return response  # type: ignore[return-value]
