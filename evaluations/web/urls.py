"""URLs of projects and everything in them."""

from importlib import import_module

from django.urls import path

from evaluations.web.views import (
    annotators,
    compare,
    corpus,
    criteria,
    disagreements,
    drawings,
    endpoints,
    errands,
    freezing,
    items,
    judges,
    languages,
    mails,
    members,
    projects,
    reports,
    runs,
    sharing,
    site,
    systems,
    tokens,
    uploads,
    webhooks,
)
from geval_site.extensions import extensions

app_name = "evaluations"

urlpatterns = [
    path("", projects.project_list, name="project_list"),
    path("new/", projects.project_create, name="project_create"),
    path("p/<slug:slug>/", projects.project_detail, name="project_detail"),
    path("p/<slug:slug>/data/", corpus.document_list, name="document_list"),
    path("p/<slug:slug>/data/formats/", projects.project_formats, name="project_formats"),
    path("p/<slug:slug>/data/upload/", uploads.upload_create, name="upload_create"),
    path("p/<slug:slug>/data/upload/<int:pk>/", uploads.upload_detail, name="upload_detail"),
    path(
        "p/<slug:slug>/data/upload/<int:pk>/columns/", uploads.upload_columns, name="upload_columns"
    ),
    path("p/<slug:slug>/data/upload/<int:pk>/answer/", uploads.upload_answer, name="upload_answer"),
    path(
        "p/<slug:slug>/data/upload/<int:pk>/correct/", uploads.upload_correct, name="upload_correct"
    ),
    path("p/<slug:slug>/data/upload/<int:pk>/rest/", uploads.upload_rest, name="upload_rest"),
    path("p/<slug:slug>/data/upload/<int:pk>/scales/", uploads.upload_scales, name="upload_scales"),
    path(
        "p/<slug:slug>/data/upload/<int:pk>/left-out.csv",
        uploads.upload_refused,
        name="upload_refused",
    ),
    path("p/<slug:slug>/data/upload/<int:pk>/load/", uploads.upload_load, name="upload_load"),
    path(
        "p/<slug:slug>/data/upload/<int:pk>/discard/", uploads.upload_discard, name="upload_discard"
    ),
    path(
        "p/<slug:slug>/data/upload/<int:pk>/errors.csv", uploads.upload_errors, name="upload_errors"
    ),
    path(
        "p/<slug:slug>/data/columns/<int:pk>/forget/",
        uploads.saved_columns_forget,
        name="saved_columns_forget",
    ),
    path("p/<slug:slug>/data/<int:pk>/", corpus.document_detail, name="document_detail"),
    path("p/<slug:slug>/data/<int:pk>/remove/", corpus.document_remove, name="document_remove"),
    path("p/<slug:slug>/data/outputs/<int:pk>/remove/", corpus.output_remove, name="output_remove"),
    path(
        "p/<slug:slug>/criteria/<int:pk>/remove/",
        criteria.criterion_remove,
        name="criterion_remove",
    ),
    path("p/<slug:slug>/systems/", systems.system_list, name="system_list"),
    path("p/<slug:slug>/systems/change/", systems.system_change, name="system_change"),
    path("p/<slug:slug>/criteria/", criteria.criterion_list, name="criterion_list"),
    path("p/<slug:slug>/criteria/presets/", criteria.criterion_presets, name="criterion_presets"),
    path("p/<slug:slug>/criteria/new/", criteria.criterion_create, name="criterion_create"),
    path("p/<slug:slug>/criteria/<int:pk>/", criteria.criterion_edit, name="criterion_edit"),
    path("p/<slug:slug>/criteria/<int:pk>/steps/", criteria.steps_create, name="steps_create"),
    path(
        "p/<slug:slug>/criteria/<int:pk>/steps/<int:version>/",
        criteria.steps_compare,
        name="steps_compare",
    ),
    path("p/<slug:slug>/judges/", judges.judge_list, name="judge_list"),
    path("p/<slug:slug>/judges/new/", judges.judge_create, name="judge_create"),
    path("p/<slug:slug>/judges/<int:pk>/", judges.judge_detail, name="judge_detail"),
    path("p/<slug:slug>/judges/<int:pk>/standing/", judges.judge_standing, name="judge_standing"),
    path("p/<slug:slug>/judges/<int:pk>/edit/", judges.judge_edit, name="judge_edit"),
    path("p/<slug:slug>/judges/<int:pk>/try/", judges.judge_try, name="judge_try"),
    path("p/<slug:slug>/judges/<int:pk>/retire/", judges.judge_retire, name="judge_retire"),
    path("p/<slug:slug>/endpoints/new/", endpoints.endpoint_create, name="endpoint_create"),
    path("p/<slug:slug>/endpoints/<int:pk>/", endpoints.endpoint_detail, name="endpoint_detail"),
    path("p/<slug:slug>/endpoints/<int:pk>/edit/", endpoints.endpoint_edit, name="endpoint_edit"),
    path(
        "p/<slug:slug>/endpoints/<int:pk>/probe/", endpoints.endpoint_probe, name="endpoint_probe"
    ),
    path(
        "p/<slug:slug>/endpoints/<int:pk>/retire/",
        endpoints.endpoint_retire,
        name="endpoint_retire",
    ),
    path("p/<slug:slug>/asked/<slug:kind>/<int:pk>/", errands.errand_state, name="errand_state"),
    path("p/<slug:slug>/runs/", runs.run_list, name="run_list"),
    path("p/<slug:slug>/standing/", projects.project_standing, name="project_standing"),
    path("p/<slug:slug>/jobs/", runs.jobs, name="jobs"),
    path("p/<slug:slug>/runs/start/", runs.run_start, name="run_start"),
    path("p/<slug:slug>/runs/<int:pk>/", runs.run_detail, name="run_detail"),
    path("p/<slug:slug>/runs/<int:pk>/rest/", runs.run_rest, name="run_rest"),
    path("p/<slug:slug>/runs/<int:pk>/change/", runs.run_change, name="run_change"),
    path("p/<slug:slug>/runs/<int:pk>/pause/", runs.run_pause, name="run_pause"),
    path("p/<slug:slug>/runs/<int:pk>/resume/", runs.run_resume, name="run_resume"),
    path("p/<slug:slug>/runs/<int:pk>/cancel/", runs.run_cancel, name="run_cancel"),
    path("p/<slug:slug>/runs/<int:pk>/items/", items.item_list, name="item_list"),
    path("p/<slug:slug>/runs/<int:run>/items/<int:pk>/", items.item_detail, name="item_detail"),
    path(
        "p/<slug:slug>/runs/<int:run>/items/<int:pk>/explain/",
        items.item_explain,
        name="item_explain",
    ),
    path("p/<slug:slug>/report/", reports.report_detail, name="report_detail"),
    path("p/<slug:slug>/report/numbers/", reports.report_numbers, name="report_numbers"),
    path("p/<slug:slug>/report/paper/", reports.report_paper, name="report_paper"),
    path("p/<slug:slug>/report/live/", reports.report_piece, name="report_piece"),
    path("p/<slug:slug>/report/again/", reports.report_again, name="report_again"),
    path(
        "p/<slug:slug>/report/figure/<slug:kind>/<int:criterion>/",
        reports.report_figure,
        name="report_figure",
    ),
    path("p/<slug:slug>/report/drawings/", drawings.report_drawings, name="report_drawings"),
    path(
        "p/<slug:slug>/report/drawing/<slug:kind>/<int:criterion>/<int:judge>/<slug:ending>/",
        drawings.report_drawing,
        name="report_drawing",
    ),
    path(
        "p/<slug:slug>/report/bubble/<int:criterion>/<int:judge>/",
        drawings.report_bubble,
        name="report_bubble",
    ),
    path(
        "p/<slug:slug>/report/cell/<int:criterion>/<int:judge>/",
        reports.report_cell,
        name="report_cell",
    ),
    path("p/<slug:slug>/report/export/<slug:ending>/", reports.report_export, name="report_export"),
    path(
        "p/<slug:slug>/report/disagreements/",
        disagreements.disagreement_list,
        name="disagreement_list",
    ),
    path("p/<slug:slug>/report/compare/", compare.judge_compare, name="judge_compare"),
    path(
        "p/<slug:slug>/report/compare/probabilities/",
        compare.judge_probabilities,
        name="judge_probabilities",
    ),
    path(
        "p/<slug:slug>/report/annotators/",
        annotators.report_annotators,
        name="report_annotators",
    ),
    path(
        "p/<slug:slug>/report/compare/tests/",
        compare.judge_compare_tests,
        name="judge_compare_tests",
    ),
    path(
        "p/<slug:slug>/report/disagreements/export/",
        disagreements.gap_export,
        name="gap_export",
    ),
    path("p/<slug:slug>/report/causes/examples/", disagreements.examples_add, name="examples_add"),
    path("p/<slug:slug>/report/causes/give/", disagreements.cause_give, name="cause_give"),
    path("p/<slug:slug>/report/causes/remove/", disagreements.cause_remove, name="cause_remove"),
    path(
        "p/<slug:slug>/report/causes/export/<slug:ending>/",
        disagreements.cause_export,
        name="cause_export",
    ),
    path("p/<slug:slug>/report/share/", sharing.share_create, name="share_create"),
    path("p/<slug:slug>/report/share/<int:pk>/revoke/", sharing.share_revoke, name="share_revoke"),
    path("p/<slug:slug>/report/snapshots/", freezing.snapshot_list, name="snapshot_list"),
    path("p/<slug:slug>/report/snapshots/new/", freezing.snapshot_create, name="snapshot_create"),
    path(
        "p/<slug:slug>/report/snapshots/<int:pk>/", freezing.snapshot_detail, name="snapshot_detail"
    ),
    path(
        "p/<slug:slug>/report/snapshots/<int:pk>/page/",
        freezing.snapshot_page,
        name="snapshot_page",
    ),
    path("p/<slug:slug>/members/", members.member_list, name="member_list"),
    path("p/<slug:slug>/members/invite/", members.invitation_create, name="invitation_create"),
    path(
        "p/<slug:slug>/members/invitations/<int:pk>/revoke/",
        members.invitation_revoke,
        name="invitation_revoke",
    ),
    path("p/<slug:slug>/members/mail/", members.invitations_mail, name="invitations_mail"),
    path(
        "p/<slug:slug>/members/<int:pk>/password/",
        members.member_password,
        name="member_password",
    ),
    path("p/<slug:slug>/members/<int:pk>/", members.member_change, name="member_change"),
    path("p/<slug:slug>/members/log/", members.audit_list, name="audit_list"),
    path("p/<slug:slug>/webhooks/", webhooks.webhook_list, name="webhook_list"),
    path("p/<slug:slug>/webhooks/<int:pk>/remove/", webhooks.webhook_remove, name="webhook_remove"),
    path("p/<slug:slug>/webhooks/<int:pk>/test/", webhooks.webhook_test, name="webhook_test"),
    path(
        "p/<slug:slug>/webhooks/messages/<int:pk>/repeat/",
        webhooks.delivery_repeat,
        name="delivery_repeat",
    ),
    path("p/<slug:slug>/archive/", projects.project_export, name="project_export"),
    path("p/<slug:slug>/archived/", projects.project_archive, name="project_archive"),
    path("p/<slug:slug>/delete/", projects.project_delete, name="project_delete"),
    path("p/<slug:slug>/usage/", site.project_usage, name="project_usage"),
    path("site/", site.site_overview, name="site_overview"),
    path("site/limits/<int:pk>/", site.limits_edit, name="limits_edit"),
    path("tokens/", tokens.token_list, name="token_list"),
    path("tokens/<int:pk>/revoke/", tokens.token_revoke, name="token_revoke"),
    path("mails/", mails.mail_settings, name="mail_settings"),
    path("language/", languages.language_choose, name="language_choose"),
    path("invitation/<str:token>/", members.invitation_accept, name="invitation_accept"),
    path("new/archive/", projects.project_import, name="project_import"),
    path("shared/<str:token>/", sharing.shared_report, name="shared_report"),
    path("shared/<str:token>/numbers/", sharing.shared_numbers, name="shared_numbers"),
    path("shared/<str:token>/paper/", sharing.shared_paper, name="shared_paper"),
    path("shared/<str:token>/live/", sharing.shared_piece, name="shared_piece"),
    path(
        "shared/<str:token>/figure/<slug:kind>/<int:criterion>/",
        sharing.shared_figure,
        name="shared_figure",
    ),
    path("shared/<str:token>/drawings/", sharing.shared_drawings, name="shared_drawings"),
    path(
        "shared/<str:token>/drawing/<slug:kind>/<int:criterion>/<int:judge>/<slug:ending>/",
        sharing.shared_drawing,
        name="shared_drawing",
    ),
    path(
        "shared/<str:token>/cell/<int:criterion>/<int:judge>/",
        sharing.shared_cell,
        name="shared_cell",
    ),
    path(
        "shared/<str:token>/cell/<int:criterion>/<int:judge>/<int:document>/",
        sharing.shared_document,
        name="shared_document",
    ),
    path("shared/<str:token>/export/<slug:ending>/", sharing.shared_export, name="shared_export"),
    *(
        pattern
        for extension in extensions()
        for pattern in import_module(extension.urls).urlpatterns
    ),
]
