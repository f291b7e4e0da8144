"""Django's e-mail settings from one address, such as
`smtp+tls://user:password@mail.example.org:587`."""

from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def email_settings(url: str, *, sender: str = "") -> dict[str, Any]:
    """The settings for a mail server's address; without one, e-mails are printed to the terminal.

    Raises:
        ImproperlyConfigured: the address has a different form.
    """
    common = {"DEFAULT_FROM_EMAIL": sender} if sender else {}
    if not url:
        return common | {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ImproperlyConfigured(
            f"GEVAL_EMAIL_URL begins with {parts.scheme or 'nothing'!r}; write"
            " smtp+tls://user:password@host:587 (or smtps://, or smtp:// for a server that needs"
            " no encryption)."
        )
    return common | {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": 20,
    }
