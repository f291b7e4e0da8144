"""What annotators of a campaign read before and while they work, and what changed meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotations.models import Campaign, GuidelinesVersion, Seat
from evaluations.people.languages import own_words
from geval.texts.formatting.safe_html import as_html
from geval.texts.word_differences import MarkedLine, line_differences


@dataclass(frozen=True)
class GuidelinesChange:
    """Lines removed from and added to what annotators of a campaign read, from the version before
    (for an annotator: the one they were shown) up to a version, by the name of the criterion (""
    for the project)."""

    version: GuidelinesVersion
    parts: tuple[tuple[str, tuple[MarkedLine, ...]], ...]


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


def unread_change(seat: Seat) -> GuidelinesChange | None:
    """Return what the annotator of a seat has to read before the next answer; None if nothing in
    their language changed since they were shown the guidelines. Then the seat moves on to the
    newest version by itself."""
    newest = GuidelinesVersion.objects.newest_number(seat.campaign.project_id)
    if newest is not None and newest == seat.guidelines_seen:
        return None
    versions = {
        version.number: version
        for version in GuidelinesVersion.objects.filter(
            project=seat.campaign.project_id,
            number__in=[number for number in (newest, seat.guidelines_seen) if number],
        )
    }
    now = versions.get(newest or 0) or GuidelinesVersion.objects.current(seat.campaign.project)
    before = versions.get(seat.guidelines_seen or 0)
    if before is not None:
        names = campaign_names(seat.campaign)
        change = guidelines_change(_in_own_words(before), _in_own_words(now), names)
        if change:
            return GuidelinesChange(now, change)
    read_guidelines(seat, now.number)
    return None


def read_guidelines(seat: Seat, number: int) -> None:
    """Note that an annotator was shown a version; an older one than before changes nothing."""
    if number > (seat.guidelines_seen or 0):
        Seat.objects.filter(pk=seat.pk).update(guidelines_seen=number)
        seat.guidelines_seen = number


def campaign_names(campaign: Campaign) -> list[str]:
    """Return the keys of the texts that a campaign's annotators read, in order."""
    return ["", *campaign.criteria.values_list("name", flat=True)]


def guidelines_change(
    before: Mapping[str, str], now: Mapping[str, str], names: list[str]
) -> tuple[tuple[str, tuple[MarkedLine, ...]], ...]:
    """Return the lines that only one of two versions has, by name; blank lines, and names without
    any, are left out."""
    parts = []
    for name in names:
        lines = line_differences(before.get(name, ""), now.get(name, ""))
        if changed := tuple(line for line in lines if line[0] and line[1].strip()):
            parts.append((name, changed))
    return tuple(parts)


def _in_own_words(version: GuidelinesVersion) -> dict[str, str]:
    return {name: own_words(text) for name, text in version.texts.items()}


def campaign_versions(campaign: Campaign) -> list[GuidelinesChange]:
    """Return the versions that changed what the campaign's annotators read, oldest first; the first
    version is always among them."""
    names, before = campaign_names(campaign), None
    versions: list[GuidelinesChange] = []
    for version in GuidelinesVersion.objects.filter(project=campaign.project_id):
        parts = guidelines_change(before or {}, version.texts, names)
        if before is None or parts:
            versions.append(GuidelinesChange(version, parts))
        before = version.texts
    return versions


def version_read(number: int | None, versions: list[int]) -> int | None:
    """Return the last of these versions up to the number that an answer has: later ones did not
    change what its campaign's annotators read. None for an answer without a version.

    Args:
        versions: numbers in ascending order.
    """
    return max((version for version in versions if version <= (number or 0)), default=None)
