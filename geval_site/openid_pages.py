"""The pages of django-allauth that signing in through the provider needs; all others are closed."""

from collections.abc import Callable

import structlog
from allauth.account.views import account_inactive
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.openid_connect import views
from allauth.socialaccount.views import login_cancelled, signup
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.generic import RedirectView
from requests import RequestException

from geval_site.openid import PROVIDER

log = structlog.stdlib.get_logger(__name__)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Refuses people whose id is null: allauth reads it as a text, and they would share an
    account."""

    def pre_social_login(self, _request: HttpRequest, sociallogin: SocialLogin) -> None:
        if sociallogin.account.uid == "None":
            raise KeyError("sub")


def _explained(view: Callable[[HttpRequest, str], HttpResponse]) -> Callable[..., HttpResponse]:
    """Return a view that has words for an answer of the provider that allauth cannot read."""

    def explained(request: HttpRequest, provider_id: str) -> HttpResponse:
        # Connecting an account to another is allauth's, and not offered here.
        if provider_id != PROVIDER or "process" in {*request.GET, *request.POST}:
            raise Http404
        try:
            return view(request, provider_id)
        except (AttributeError, KeyError, RequestException, TypeError, ValueError) as error:
            log.warning("the provider's answer cannot be read", exc_info=True)
            lacks = f" It has no “{error.args[0]}”." if isinstance(error, KeyError) else ""
            message = (
                f"{settings.OPENID_NAME} did not answer as OpenID Connect asks.{lacks} Try again"
                " later, or ask those who run it; the site's log has the details."
            )
            context = {"title": "You could not be signed in", "message": message}
            return render(request, "refused.html", context, status=502)

    return explained


def closed(_request: HttpRequest) -> HttpResponse:
    raise Http404


# The names are allauth's, which reverses them.
urlpatterns = [
    path("login/", RedirectView.as_view(pattern_name="login"), name="account_login"),
    path("inactive/", account_inactive, name="account_inactive"),
    path("3rdparty/", closed, name="socialaccount_connections"),
    path("3rdparty/signup/", signup, name="socialaccount_signup"),
    path("3rdparty/login/cancelled/", login_cancelled, name="socialaccount_login_cancelled"),
    path("<provider_id>/login/", _explained(views.login), name="openid_connect_login"),
    path(
        "<provider_id>/login/callback/", _explained(views.callback), name="openid_connect_callback"
    ),
]
