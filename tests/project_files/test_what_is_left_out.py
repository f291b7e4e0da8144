"""What a new criterion, endpoint or campaign leaves out in a file is as on the site's pages, and
each setting is wherever settings are."""

import pytest
from django.db.models import NOT_PROVIDED, Model
from pydantic import BaseModel

from annotations.api import CampaignIn
from annotations.api_shapes import CampaignOut
from annotations.forms.campaigns import WRITTEN, CampaignForm
from annotations.models import Campaign
from evaluations.models import Criterion, Endpoint
from geval.files.archive.manifest import FILES
from geval.files.project_fields import CampaignFields, CriterionFields, EndpointFields


@pytest.mark.parametrize(
    ("fields", "row"),
    [(CampaignFields, Campaign), (CriterionFields, Criterion), (EndpointFields, Endpoint)],
)
def test_a_field_that_is_left_out_has_the_value_of_a_new_row(
    fields: type[BaseModel], row: type[Model]
) -> None:
    stored = {field.name: field for field in row._meta.fields}
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.model_fields.items()
        if name in stored and not field.is_required()
    }

    assert len(defaults) > 4
    assert {
        name: (value, stored[name].get_default())
        for name, value in defaults.items()
        if value != stored[name].get_default() and stored[name].default is not NOT_PROVIDED
    } == {}


def test_a_setting_of_a_campaign_is_at_every_door() -> None:
    declared = set(CampaignFields.model_fields)
    stored = {field.name for field in Campaign._meta.fields}
    (archived,) = (file for file in FILES if file.name == "campaigns")

    assert declared <= stored
    assert {WRITTEN.get(name, name) for name in declared} <= set(CampaignForm.base_fields)
    assert declared <= set(CampaignIn.model_fields)
    assert declared <= set(CampaignOut.model_fields)
    assert declared - {"gold"} <= set(archived.columns)
