"""Addresses of projects and all that is in them."""

from django.urls import path

from evaluations.views import corpus, criteria, endpoints, items, judges, projects, reports, runs

app_name = "evaluations"

urlpatterns = [
    path("", projects.project_list, name="project_list"),
    path("new/", projects.project_create, name="project_create"),
    path("p/<slug:slug>/", projects.project_detail, name="project_detail"),
    path("p/<slug:slug>/data/", corpus.document_list, name="document_list"),
    path("p/<slug:slug>/data/upload/", corpus.document_upload, name="document_upload"),
    path("p/<slug:slug>/data/<int:pk>/", corpus.document_detail, name="document_detail"),
    path("p/<slug:slug>/criteria/", criteria.criterion_list, name="criterion_list"),
    path("p/<slug:slug>/criteria/presets/", criteria.criterion_presets, name="criterion_presets"),
    path("p/<slug:slug>/criteria/new/", criteria.criterion_create, name="criterion_create"),
    path("p/<slug:slug>/criteria/<int:pk>/", criteria.criterion_edit, name="criterion_edit"),
    path("p/<slug:slug>/criteria/<int:pk>/steps/", criteria.steps_create, name="steps_create"),
    path("p/<slug:slug>/criteria/<int:pk>/steps/<int:version>/", criteria.steps_compare, name="steps_compare"),
    path("p/<slug:slug>/judges/", judges.judge_list, name="judge_list"),
    path("p/<slug:slug>/judges/new/", judges.judge_create, name="judge_create"),
    path("p/<slug:slug>/judges/<int:pk>/", judges.judge_detail, name="judge_detail"),
    path("p/<slug:slug>/judges/<int:pk>/edit/", judges.judge_edit, name="judge_edit"),
    path("p/<slug:slug>/judges/<int:pk>/retire/", judges.judge_retire, name="judge_retire"),
    path("p/<slug:slug>/endpoints/new/", endpoints.endpoint_create, name="endpoint_create"),
    path("p/<slug:slug>/endpoints/<int:pk>/", endpoints.endpoint_detail, name="endpoint_detail"),
    path("p/<slug:slug>/endpoints/<int:pk>/edit/", endpoints.endpoint_edit, name="endpoint_edit"),
    path("p/<slug:slug>/endpoints/<int:pk>/probe/", endpoints.endpoint_probe, name="endpoint_probe"),
    path("p/<slug:slug>/endpoints/<int:pk>/retire/", endpoints.endpoint_retire, name="endpoint_retire"),
    path("p/<slug:slug>/runs/", runs.run_list, name="run_list"),
    path("p/<slug:slug>/runs/start/", runs.run_start, name="run_start"),
    path("p/<slug:slug>/runs/<int:pk>/", runs.run_detail, name="run_detail"),
    path("p/<slug:slug>/runs/<int:pk>/pause/", runs.run_pause, name="run_pause"),
    path("p/<slug:slug>/runs/<int:pk>/resume/", runs.run_resume, name="run_resume"),
    path("p/<slug:slug>/runs/<int:pk>/cancel/", runs.run_cancel, name="run_cancel"),
    path("p/<slug:slug>/runs/<int:pk>/items/", items.item_list, name="item_list"),
    path("p/<slug:slug>/runs/<int:run>/items/<int:pk>/", items.item_detail, name="item_detail"),
    path("p/<slug:slug>/runs/<int:run>/items/<int:pk>/explain/", items.item_explain, name="item_explain"),
    path("p/<slug:slug>/report/", reports.report_detail, name="report_detail"),
]
