"""Forms of every page, filled in with what they know, with what they do not, and with what does
harm: never a failure.

A short run, always the same, is part of `make test-hostile`; `make fuzz` goes on for ten minutes.
"""

import os

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations.models import Assignment, Campaign, CampaignItem
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.corpus.uploads.keeping import ChosenFile, keep_upload
from evaluations.models import (
    Criterion,
    Document,
    Endpoint,
    EvaluationRun,
    Judge,
    Project,
    RunItem,
    Upload,
)
from evaluations.web.forms.uploads import initial_options
from tests.conftest import OUTPUTS
from tests.fuzz.forms import address, filled, names_of_forms, names_on_page, routes

pytestmark = pytest.mark.django_db
EXAMPLES = os.environ.get("GEVAL_FUZZ_EXAMPLES")
# What the number in an address is of; others are documents'.
OF_ROUTES = (
    ("/upload/", Upload), ("/criteri", Criterion), ("/judges/", Judge), ("/endpoints/", Endpoint),
    ("items/", RunItem),
    ("/runs/", EvaluationRun), ("adjudicate/<int:item>", CampaignItem), ("/annotate/", Campaign),
    ("report/", Criterion),
)  # fmt: skip
OF_THE_SITE = names_of_forms()
PARAMETERS = {
    "slug": "small",
    "ending": "csv",
    "kind": "scatter",
    "name": "ratings.csv",
    "token": "none",
}


@pytest.fixture
def site(judged_project: Project, owner: User, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """An owner's browser, and one record of each kind."""
    path = tmp_path_factory.mktemp("fuzz") / "outputs.jsonl"
    path.write_text(OUTPUTS)
    keep_upload(
        judged_project, owner.pk, [ChosenFile(path, "o.jsonl")], initial_options(["o.jsonl"])
    )
    client = Client()
    client.force_login(owner)
    for is_open in (False, True):
        campaign = Campaign.objects.create(
            project=judged_project, name=f"open: {is_open}", overlap=1
        )
        campaign.criteria.set(judged_project.criteria.all())
        seat_annotators(campaign, [owner])
        if is_open:
            open_campaign(campaign)
            client.get(f"/p/small/annotate/{campaign.pk}/task/", follow=True)
    return client


@given(data=st.data())
@settings(
    max_examples=int(EXAMPLES or 60),
    derandomize=EXAMPLES is None,
    print_blob=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_no_form_breaks_a_page(site: Client, data: st.DataObject) -> None:
    route = data.draw(st.sampled_from(routes()))
    model = next((one for words, one in OF_ROUTES if words in route), Document)
    known_ids = [str(pk) for pk in model.objects.values_list("pk", flat=True)[:2]]
    given = PARAMETERS | {"assignment": str(Assignment.objects.values_list("pk", flat=True)[0])}
    path = address(
        route, given, data.draw(st.sampled_from([*known_ids * 4, "0", "9" * 19, "9" * 25]))
    )

    with transaction.atomic():
        shown = site.get(path)
        assert shown.status_code < 500, path
        known = names_on_page(shown.content.decode()) if not shown.streaming else []
        fields = data.draw(filled(known) | filled([*known, *OF_THE_SITE]))
        answer = site.post(path, fields, follow=True)
        assert answer.status_code < 500, (path, fields)
        transaction.set_rollback(True)
