"""The versions of the guidelines of a campaign, and which answers were given under which."""

from dataclasses import dataclass

from annotations.answering.guidelines import campaign_names, guidelines_change
from annotations.models import Campaign, GuidelinesVersion
from geval.texts.word_differences import MarkedLine


@dataclass(frozen=True)
class CampaignVersion:
    """A version, with what it changed since the one before in what the campaign's annotators
    read."""

    version: GuidelinesVersion
    parts: tuple[tuple[str, tuple[MarkedLine, ...]], ...]


def campaign_versions(campaign: Campaign) -> list[CampaignVersion]:
    """Return the versions that changed what the campaign's annotators read, oldest first; the first
    version is always among them."""
    names, before = campaign_names(campaign), None
    versions: list[CampaignVersion] = []
    for version in GuidelinesVersion.objects.filter(project=campaign.project_id):
        parts = guidelines_change(before or {}, version.texts, names)
        if before is None or parts:
            versions.append(CampaignVersion(version, parts))
        before = version.texts
    return versions


def version_read(number: int | None, versions: list[int]) -> int | None:
    """Return the last of these versions up to the number that an answer has: later ones did not
    change what its campaign's annotators read. None for an answer without a version.

    Args:
        versions: numbers in ascending order.
    """
    return max((version for version in versions if version <= (number or 0)), default=None)
