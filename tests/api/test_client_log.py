"""A program logs an output of its model in one request."""

import os

import pytest

from evaluations.models import CandidateOutput, Project
from geval.client import ApiError, Client, requests
from tests.processes import free_port


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_a_logged_output_is_in_the_project(site_address: str, project: Project) -> None:
    site = Client(site_address, token=os.environ["GEVAL_TOKEN"])

    site.log("small", doc_id="q1", system="bot", source="When?", output="At 8.", context="Ferry")
    with pytest.raises(ApiError, match="404 Not found"):
        site.log("hidden", system="bot", source="When?", output="At 8.")

    [output] = CandidateOutput.objects.of_project(project).select_related("document", "system")
    assert (output.document.doc_id, output.system.name, output.text) == ("q1", "bot", "At 8.")


def test_a_site_that_cannot_be_reached_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "ATTEMPTS", 1)

    with pytest.raises(ConnectionError):
        Client(f"http://127.0.0.1:{free_port()}", token="t").log("small", system="bot", output="o")
