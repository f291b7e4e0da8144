"""Paths of this app's pages; their names belong to `evaluations`."""

from django.urls import path

from assurance.web.views import certificates, improving, instrument

urlpatterns = [
    path(
        "p/<slug:slug>/judges/<int:pk>/certify/",
        certificates.judge_certify,
        name="judge_certify",
    ),
    path(
        "p/<slug:slug>/judges/<int:pk>/instrument/",
        instrument.judge_instrument,
        name="judge_instrument",
    ),
    path("p/<slug:slug>/judges/<int:pk>/study/", instrument.judge_study, name="judge_study"),
    path("p/<slug:slug>/studies/<int:pk>/stop/", instrument.study_stop, name="study_stop"),
    path(
        "p/<slug:slug>/certificates/<int:pk>/",
        certificates.certificate_detail,
        name="certificate_detail",
    ),
    path(
        "p/<slug:slug>/certificates/<int:pk>/certificate.json",
        certificates.certificate_json,
        name="certificate_json",
    ),
    path(
        "p/<slug:slug>/certificates/<int:pk>/badge.svg",
        certificates.certificate_badge,
        name="certificate_badge",
    ),
    path("p/<slug:slug>/improve/", improving.improve, name="improve"),
    path("p/<slug:slug>/improve/lock/", improving.lock_create, name="lock_create"),
    path("p/<slug:slug>/improve/unlock/", improving.lock_open, name="lock_open"),
    path("p/<slug:slug>/improve/search/", improving.search_create, name="search_create"),
    path("p/<slug:slug>/improve/search/<int:pk>/", improving.improve_state, name="improve_state"),
    path(
        "p/<slug:slug>/improve/search/<int:pk>/pause/", improving.search_pause, name="search_pause"
    ),
    path(
        "p/<slug:slug>/improve/search/<int:pk>/resume/",
        improving.search_resume,
        name="search_resume",
    ),
    path(
        "p/<slug:slug>/improve/search/<int:pk>/cancel/",
        improving.search_cancel,
        name="search_cancel",
    ),
    path("p/<slug:slug>/improve/<int:pk>/look/", improving.look_create, name="look_create"),
    path("p/<slug:slug>/improve/<int:pk>/look/state/", improving.look_state, name="look_state"),
    path("p/<slug:slug>/improve/<int:pk>/use/", improving.candidate_adopt, name="candidate_adopt"),
    path(
        "p/<slug:slug>/improve/certificate.json",
        improving.improve_certificate,
        name="improve_certificate",
    ),
]
