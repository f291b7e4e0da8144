"""Variables available in every template."""

from django.conf import settings
from django.http import HttpRequest

from geval.texts.program import PROGRAM


def about_the_site(_request: HttpRequest) -> dict[str, str]:
    """Return the name of the OpenID Connect provider, empty without one, and the name of the
    command."""
    return {"openid_name": settings.OPENID_NAME, "program": PROGRAM}
