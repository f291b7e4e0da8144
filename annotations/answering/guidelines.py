"""What annotators of a campaign read before and while they work."""

from typing import Any

from annotations.models import Campaign
from evaluations.people.languages import own_words
from geval.texts.formatting.safe_html import as_html


def guidelines_of(campaign: Campaign) -> dict[str, Any]:
    """Return the project's and each criterion's guidelines as HTML, in the page's language, as
    template variables."""
    return {
        "guidelines": as_html(own_words(campaign.project.guidelines)),
        "criteria_guidelines": [
            (criterion, as_html(own_words(criterion.guidelines)))
            for criterion in campaign.criteria.all()
        ],
    }
