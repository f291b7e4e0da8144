"""The downloads of a project's texts and ratings, by file name.

Participants of open links are under their annotators' names, with their answers before and after.
Panel ids are personal data and are in no download.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from annotations.models import Participant
from evaluations.models import Project
from evaluations.reports.ratings.exported import dataset_of, exported_outputs
from evaluations.reports.ratings.exports import COLUMNS, as_csv, as_jsonl
from evaluations.reports.ratings.pseudonyms import annotator_names
from geval.files.hugging_face import LICENCES, write_zip
from geval.files.tool_forms import argilla_record, as_json_list, label_studio_task
from geval.texts.sentences import did_you_mean
from geval.texts.spreadsheets import csv_line

PARTICIPANT_COLUMNS = (
    "campaign", "annotator", "panel", "state", "screened_for", "consented_at", "started_at",
    "ended_at", "asked", "question", "answer",
)  # fmt: skip
CSV, LINES, JSON = "text/csv; charset=utf-8", "application/x-ndjson", "application/json"
CHUNK = 2**16
Content = Iterable[str] | Iterable[bytes]


def participants_as_csv(project: Project, *, pseudonyms: bool = False) -> Iterator[str]:
    """Yield a line per question that a participant was asked, or one line for a participant without
    any."""
    yield csv_line(PARTICIPANT_COLUMNS)
    for participant, about in _participants(project, pseudonyms=pseudonyms):
        for answer in participant.answers() or [("", "", "")]:
            yield csv_line([*about.values(), *answer])


def participants_as_jsonl(project: Project, *, pseudonyms: bool = False) -> Iterator[bytes]:
    """Yield a participant per line, with the answers by question."""
    for participant, about in _participants(project, pseudonyms=pseudonyms):
        answers = {"before": participant.before, "after": participant.after}
        yield orjson.dumps(about | answers, option=orjson.OPT_APPEND_NEWLINE)


def _participants(
    project: Project, *, pseudonyms: bool
) -> Iterator[tuple[Participant, dict[str, Any]]]:
    """Yield participants with the columns about them; those who never began have no pseudonym."""
    people = Participant.objects.filter(link__campaign__project=project)
    names = annotator_names(project.pk, pseudonyms=pseudonyms)
    for participant in people.select_related("link__campaign").iterator():
        unseated = "" if pseudonyms else participant.name
        name = names.get(participant.annotator_id, unseated)
        yield participant, _about_participant(participant, name)


def _about_participant(participant: Participant, name: str) -> dict[str, Any]:
    return {
        "campaign": participant.link.campaign.name,
        "annotator": name,
        "panel": participant.source,
        "state": participant.state,
        "screened_for": participant.screened_for,
        "consented_at": participant.consented_at,
        "started_at": participant.started_at,
        "ended_at": participant.ended_at,
    }


@dataclass(frozen=True)
class Download:
    """A download: its content type, and the function that writes it.

    Args:
        is_published: it is made to be published, so that it has pseudonyms unless names are asked
            for, and can have a licence.
    """

    content_type: str
    write: Callable[..., Content]
    is_published: bool = False

    def of(self, project: Project, *, pseudonyms: bool | None = None, licence: str = "") -> Content:
        """Return the content.

        Args:
            pseudonyms: whether annotators have them; None as usual.
            licence: of what is published; one of LICENCES.

        Raises:
            ValueError: it takes no licence, or there is no such licence; the message says what to
                do.
        """
        if licence and not self.is_published:
            raise ValueError("Only the dataset of Hugging Face names a licence.")
        if licence and licence not in LICENCES:
            near = did_you_mean(licence, [*LICENCES])
            raise ValueError(
                f"There is no licence {licence[:40]!r}.{near} Licences: {', '.join(LICENCES)}."
            )
        shown = self.is_published if pseudonyms is None else pseudonyms
        more = {"licence": licence} if self.is_published else {}
        return self.write(project, pseudonyms=shown, **more)


def _label_studio(project: Project, *, pseudonyms: bool = False) -> Content:
    return as_json_list(map(label_studio_task, exported_outputs(project, pseudonyms=pseudonyms)))


def _argilla(project: Project, *, pseudonyms: bool = False) -> Content:
    return as_json_list(map(argilla_record, exported_outputs(project, pseudonyms=pseudonyms)))


def _hugging_face(project: Project, *, pseudonyms: bool, licence: str) -> Content:
    with tempfile.TemporaryFile() as file:
        write_zip(dataset_of(project, pseudonyms=pseudonyms, licence=licence), file)
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk


DOWNLOADS = {
    **{f"{kind}.csv": Download(CSV, partial(as_csv, kind=kind)) for kind in COLUMNS},
    **{f"{kind}.jsonl": Download(LINES, partial(as_jsonl, kind=kind)) for kind in COLUMNS},
    "participants.csv": Download(CSV, participants_as_csv),
    "participants.jsonl": Download(LINES, participants_as_jsonl),
    "label-studio.json": Download(JSON, _label_studio),
    "argilla.json": Download(JSON, _argilla),
    "hugging-face.zip": Download("application/zip", _hugging_face, is_published=True),
}
