"""Which settings of a judge a certificate is bound to."""

from assurance.certifying.bindings import settings_bound
from evaluations.models import Endpoint, Judge

NONE = {"reasoning_effort": "none"}


def test_a_judge_without_request_options_is_bound_to_what_it_was() -> None:
    judge = Judge(endpoint=Endpoint(base_url="http://127.0.0.1:1/v1"))

    assert "request_options" not in settings_bound(judge)
    judge.request_options = NONE
    assert settings_bound(judge)["request_options"] == NONE
