"""Paths of this app's pages; their names belong to `evaluations`."""

from assurance.web.views import certificates, compare, disagreements, improving, instrument
from evaluations.web.addresses import PROJECT, page

urlpatterns = [
    page(PROJECT + "judges/<int:pk>/certificates/", certificates.judge_certificates),
    page(PROJECT + "judges/<int:pk>/certify/", certificates.judge_certify),
    page(PROJECT + "judges/<int:pk>/instrument/", instrument.judge_instrument),
    page(PROJECT + "judges/<int:pk>/study/", instrument.judge_study),
    page(PROJECT + "studies/<int:pk>/stop/", instrument.study_stop),
    page(PROJECT + "certificates/<int:pk>/", certificates.certificate_detail),
    page(PROJECT + "certificates/<int:pk>/certificate.json", certificates.certificate_json),
    page(PROJECT + "certificates/<int:pk>/badge.svg", certificates.certificate_badge),
    page(PROJECT + "report/compare/", compare.judge_compare),
    page(PROJECT + "report/compare/probabilities/", compare.judge_probabilities),
    page(PROJECT + "report/disagreements/", disagreements.disagreement_list),
    page(PROJECT + "report/disagreements/export/", disagreements.gap_export),
    page(PROJECT + "report/causes/examples/", disagreements.examples_add),
    page(PROJECT + "report/causes/give/", disagreements.cause_give),
    page(PROJECT + "report/causes/remove/", disagreements.cause_remove),
    page(PROJECT + "report/causes/export/<slug:ending>/", disagreements.cause_export),
    page(PROJECT + "improve/", improving.improve),
    page(PROJECT + "improve/lock/", improving.lock_create),
    page(PROJECT + "improve/unlock/", improving.lock_open),
    page(PROJECT + "improve/search/", improving.search_create),
    page(PROJECT + "improve/search/<int:pk>/", improving.improve_state),
    page(PROJECT + "improve/search/<int:pk>/pause/", improving.search_pause),
    page(PROJECT + "improve/search/<int:pk>/resume/", improving.search_resume),
    page(PROJECT + "improve/search/<int:pk>/cancel/", improving.search_cancel),
    page(PROJECT + "improve/<int:pk>/look/", improving.look_create),
    page(PROJECT + "improve/<int:pk>/look/state/", improving.look_state),
    page(PROJECT + "improve/<int:pk>/use/", improving.candidate_adopt),
    page(PROJECT + "improve/certificate.json", improving.improve_certificate),
]
