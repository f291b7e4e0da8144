"""URLs of the whole site."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import (
    LoginView,
    LogoutView,
    PasswordChangeDoneView,
    PasswordChangeView,
    PasswordResetCompleteView,
    PasswordResetConfirmView,
    PasswordResetDoneView,
)
from django.urls import include, path

from evaluations.web.api.app import api
from evaluations.web.views.account import ResetView
from geval_site.docs import docs_page

urlpatterns = [
    path("sign-in/", LoginView.as_view(template_name="registration/login.html"), name="login"),
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("password/", PasswordChangeView.as_view(), name="password_change"),
    path("password/changed/", PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("password/forgotten/", ResetView.as_view(), name="password_reset"),
    path("password/sent/", PasswordResetDoneView.as_view(), name="password_reset_done"),
    path(
        "password/new/<uidb64>/<token>/",
        PasswordResetConfirmView.as_view(),
        name="password_reset_confirm",
    ),
    path("password/set/", PasswordResetCompleteView.as_view(), name="password_reset_complete"),
    *([path("sign-in/with/", include("geval_site.openid_pages"))] if settings.OPENID_NAME else []),
    path("docs/", docs_page, name="docs"),
    path("docs/<path:page>", docs_page, name="docs_page"),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("", include("annotations.urls")),
    path("", include("evaluations.web.urls")),
]
