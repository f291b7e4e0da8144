"""Variables available in every template."""

from django.conf import settings
from django.http import HttpRequest


def sign_in(_request: HttpRequest) -> dict[str, str]:
    """The name of the OpenID Connect provider, empty without one."""
    return {"openid_name": settings.OPENID_NAME}
