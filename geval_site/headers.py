"""Security headers of every response: pages, redirects, static files, errors, the API."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# The site uses none of these, so an injected script must not be able to either.
UNUSED = (
    "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media",
    "fullscreen",
    "geolocation", "gyroscope", "hid", "magnetometer", "microphone", "midi", "payment",
    "picture-in-picture",
    "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
PERMISSIONS = ", ".join(f"{name}=()" for name in UNUSED)


class HeadersMiddleware:
    """The outermost middleware; Django's and django-csp's follow."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response
