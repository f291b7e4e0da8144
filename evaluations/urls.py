"""Addresses of projects and all that is in them."""

from django.urls import path

from evaluations.views import corpus, judges, projects, reports, runs

app_name = "evaluations"

urlpatterns = [
    path("", projects.project_list, name="project_list"),
    path("new/", projects.project_create, name="project_create"),
    path("p/<slug:slug>/", projects.project_detail, name="project_detail"),
    path("p/<slug:slug>/data/", corpus.document_list, name="document_list"),
    path("p/<slug:slug>/data/upload/", corpus.document_upload, name="document_upload"),
    path("p/<slug:slug>/data/<int:pk>/", corpus.document_detail, name="document_detail"),
    path("p/<slug:slug>/criteria/", judges.criterion_list, name="criterion_list"),
    path("p/<slug:slug>/judges/", judges.judge_list, name="judge_list"),
    path("p/<slug:slug>/judges/new/", judges.judge_create, name="judge_create"),
    path("p/<slug:slug>/runs/", runs.run_list, name="run_list"),
    path("p/<slug:slug>/runs/start/", runs.run_start, name="run_start"),
    path("p/<slug:slug>/runs/<int:pk>/", runs.run_detail, name="run_detail"),
    path("p/<slug:slug>/runs/<int:pk>/pause/", runs.run_pause, name="run_pause"),
    path("p/<slug:slug>/runs/<int:pk>/resume/", runs.run_resume, name="run_resume"),
    path("p/<slug:slug>/report/", reports.report_detail, name="report_detail"),
]
