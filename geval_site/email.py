"""Django's e-mail settings from one address, such as
`smtp+tls://user:password@mail.example.org:587`."""

from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from geval_site.databases import ENCODED

PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def email_settings(url: str, *, sender: str = "", backend: str = "") -> dict[str, Any]:
    """Return the settings for a mail server's address, or another Django backend. Without either,
    password resets are printed to the terminal and no other mails are written.

    Raises:
        ImproperlyConfigured: the address has a different form.
    """
    common = {"DEFAULT_FROM_EMAIL": sender} if sender else {}
    if backend and not url:
        return common | {"EMAIL_BACKEND": backend}
    if not url:
        return common | {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    try:
        parts = urlsplit(url)
        port, is_address = parts.port, parts.scheme in PORTS and bool(parts.hostname)
    except ValueError:  # the error quotes a part of the URL, which may be the password's
        port, is_address = None, False
    if not is_address:
        raise ImproperlyConfigured(
            "GEVAL_EMAIL_URL cannot be read; write smtp+tls://user:password@host:587 (or smtps://,"
            f" or smtp:// for a server that needs no encryption). {ENCODED}"
        )
    return common | {
        "EMAIL_BACKEND": backend or "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": 20,
    }
