"""Participants of open links, with their answers before and after, under their annotators' names.
Panel ids are personal data and are in no export."""

from collections.abc import Iterator
from typing import Any

import orjson

from annotations.models import Participant
from evaluations.models import Project
from geval.texts.spreadsheets import csv_line

COLUMNS = (
    "campaign", "annotator", "panel", "state", "screened_for", "consented_at", "started_at",
    "ended_at", "asked", "question", "answer",
)  # fmt: skip


def participants_as_csv(project: Project) -> Iterator[str]:
    """Yield a line per question that a participant was asked, or one line for a participant without
    any."""
    yield csv_line(COLUMNS)
    for participant in _participants(project):
        about = _about(participant).values()
        for answer in participant.answers() or [("", "", "")]:
            yield csv_line([*about, *answer])


def participants_as_jsonl(project: Project) -> Iterator[bytes]:
    """Yield a participant per line, with the answers by question."""
    for participant in _participants(project):
        answers = {"before": participant.before, "after": participant.after}
        yield orjson.dumps(_about(participant) | answers, option=orjson.OPT_APPEND_NEWLINE)


def _participants(project: Project) -> Iterator[Participant]:
    people = Participant.objects.filter(link__campaign__project=project)
    return people.select_related("link__campaign", "annotator").iterator()


def _about(participant: Participant) -> dict[str, Any]:
    annotator = participant.annotator
    return {
        "campaign": participant.link.campaign.name,
        "annotator": annotator.name if annotator else participant.name,
        "panel": participant.source,
        "state": participant.state,
        "screened_for": participant.screened_for,
        "consented_at": participant.consented_at,
        "started_at": participant.started_at,
        "ended_at": participant.ended_at,
    }
