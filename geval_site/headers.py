"""Headers of every answer, whatever made it: a page, a redirect, a static file, an error, the
API."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# Nothing of the site uses any of these; a page that somebody smuggled a script into may not either.
UNUSED = (
    "accelerometer", "autoplay", "bluetooth", "camera", "display-capture", "encrypted-media", "fullscreen",
    "geolocation", "gyroscope", "hid", "magnetometer", "microphone", "midi", "payment", "picture-in-picture",
    "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
PERMISSIONS = ", ".join(f"{name}=()" for name in UNUSED)


class HeadersMiddleware:
    """The outermost one. Django's and django-csp's own come right behind it, before anything that
    answers by itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response
