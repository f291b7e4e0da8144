"""Addresses of the whole site."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from evaluations.api.app import api

urlpatterns = [
    path("sign-in/", LoginView.as_view(template_name="registration/login.html"), name="login"),
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("", include("annotations.urls")),
    path("", include("evaluations.urls")),
]
