"""Settings for signing in through an OpenID Connect provider with django-allauth."""

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

PROVIDER = "oidc"
INSTALL = (
    "GEVAL_OIDC_URL is set, but django-allauth is not installed: pip install 'geval-site[oidc]'."
)


def openid_settings(
    url: str, *, client: str, secret: str, name: str, behind_https: bool
) -> dict[str, Any]:
    """Return settings to be merged into the site's: `apps`, `middleware`, `backends`, and allauth's
    own under `own`.

    `name` is empty without a provider; `origin` is where its pages are.

    Args:
        url: the provider's issuer, which serves `.well-known/openid-configuration`. client, secret:
            the id and secret issued by the provider.
        name: the provider's name on the button.
        behind_https: whether the site is reached over HTTPS, which determines the callback address.

    Raises:
        ImproperlyConfigured: the address is not a URL, client or secret are missing, or allauth is
            not installed.
    """
    if not url:
        return {"name": "", "origin": "", "apps": [], "middleware": [], "backends": [], "own": {}}
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ImproperlyConfigured(
            f"GEVAL_OIDC_URL is {url!r}; write the provider's issuer, such as "
            "https://login.example."
        )
    if not client or not secret:
        raise ImproperlyConfigured(
            "GEVAL_OIDC_URL is set; set GEVAL_OIDC_CLIENT and GEVAL_OIDC_SECRET as well."
        )
    try:
        import allauth.socialaccount  # noqa: F401
    except ImportError:
        raise ImproperlyConfigured(INSTALL) from None
    app = {"provider_id": PROVIDER, "name": name, "client_id": client, "secret": secret}
    return {
        "name": name,
        "origin": f"{parts.scheme}://{parts.netloc}",
        "apps": [
            "allauth",
            "allauth.account",
            "allauth.socialaccount",
            "allauth.socialaccount.providers.openid_connect",
        ],
        "middleware": ["allauth.account.middleware.AccountMiddleware"],
        "backends": ["allauth.account.auth_backends.AuthenticationBackend"],
        "own": {
            "SOCIALACCOUNT_PROVIDERS": {
                "openid_connect": {
                    "APPS": [app | {"settings": {"server_url": url}}],
                    "OAUTH_PKCE_ENABLED": True,
                }
            },
            "SOCIALACCOUNT_ADAPTER": "geval_site.openid_pages.ProviderAdapter",
            # The site's own names and passwords are still handled by Django.
            "SOCIALACCOUNT_ONLY": True,
            "ACCOUNT_EMAIL_VERIFICATION": "none",
            "SOCIALACCOUNT_STORE_TOKENS": False,
            "ACCOUNT_DEFAULT_HTTP_PROTOCOL": "https" if behind_https else "http",
        },
    }
