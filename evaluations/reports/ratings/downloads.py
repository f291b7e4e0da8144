"""The downloads of a project's texts and ratings, by file name.

Participants of open links are under their annotators' names, with their answers before and after.
Panel ids are personal data and are in no download.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from annotations.models import Participant
from evaluations.models import Project
from evaluations.reports.ratings.exported import dataset_of, exported_outputs
from evaluations.reports.ratings.exports import as_csv, as_jsonl
from geval.files.hugging_face import write_zip
from geval.files.tool_forms import argilla_record, as_json_list, label_studio_task
from geval.texts.spreadsheets import csv_line

PARTICIPANT_COLUMNS = (
    "campaign", "annotator", "panel", "state", "screened_for", "consented_at", "started_at",
    "ended_at", "asked", "question", "answer",
)  # fmt: skip
CSV, LINES, JSON = "text/csv; charset=utf-8", "application/x-ndjson", "application/json"
CHUNK = 2**16
Content = Iterable[str] | Iterable[bytes]


def participants_as_csv(project: Project) -> Iterator[str]:
    """Yield a line per question that a participant was asked, or one line for a participant without
    any."""
    yield csv_line(PARTICIPANT_COLUMNS)
    for participant in _participants(project):
        about = _about_participant(participant).values()
        for answer in participant.answers() or [("", "", "")]:
            yield csv_line([*about, *answer])


def participants_as_jsonl(project: Project) -> Iterator[bytes]:
    """Yield a participant per line, with the answers by question."""
    for participant in _participants(project):
        answers = {"before": participant.before, "after": participant.after}
        yield orjson.dumps(
            _about_participant(participant) | answers, option=orjson.OPT_APPEND_NEWLINE
        )


def _participants(project: Project) -> Iterator[Participant]:
    people = Participant.objects.filter(link__campaign__project=project)
    return people.select_related("link__campaign", "annotator").iterator()


def _about_participant(participant: Participant) -> dict[str, Any]:
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


@dataclass(frozen=True)
class Download:
    """A download: its content type, and the function that writes it."""

    content_type: str
    write: Callable[[Project], Content]


def _label_studio(project: Project) -> Content:
    return as_json_list(map(label_studio_task, exported_outputs(project)))


def _argilla(project: Project) -> Content:
    return as_json_list(map(argilla_record, exported_outputs(project)))


def _hugging_face(project: Project) -> Content:
    with tempfile.TemporaryFile() as file:
        write_zip(dataset_of(project), file)
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk


DOWNLOADS = {
    "ratings.csv": Download(CSV, lambda project: as_csv(project, "ratings")),
    "ratings.jsonl": Download(LINES, lambda project: as_jsonl(project, "ratings")),
    "preferences.csv": Download(CSV, lambda project: as_csv(project, "preferences")),
    "preferences.jsonl": Download(LINES, lambda project: as_jsonl(project, "preferences")),
    "answers.csv": Download(CSV, lambda project: as_csv(project, "answers")),
    "answers.jsonl": Download(LINES, lambda project: as_jsonl(project, "answers")),
    "decisions.csv": Download(CSV, lambda project: as_csv(project, "decisions")),
    "decisions.jsonl": Download(LINES, lambda project: as_jsonl(project, "decisions")),
    "participants.csv": Download(CSV, participants_as_csv),
    "participants.jsonl": Download(LINES, participants_as_jsonl),
    "label-studio.json": Download(JSON, _label_studio),
    "argilla.json": Download(JSON, _argilla),
    "hugging-face.zip": Download("application/zip", _hugging_face),
}
