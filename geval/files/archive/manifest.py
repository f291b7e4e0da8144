"""An archive's files, and its description of itself: its format, the project, and how many records
it has."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from geval.files.archive.campaigns import CAMPAIGNS
from geval.files.archive.corpus import CORPUS
from geval.files.archive.judging import JUDGING
from geval.files.archive.record_file import ArchiveError, RecordFile
from geval.files.archive.searches import POLICIES, SEARCHES, STUDIES
from geval.files.packed import UNREADABLE

# In order: records refer only to records of earlier files.
FILES = (*CORPUS, *JUDGING, *STUDIES, *CAMPAIGNS, *SEARCHES, *POLICIES)
# The files of the first archives, which every archive has; others may be missing.
IN_EVERY_ARCHIVE = frozenset(
    (
        "criteria", "steps", "systems", "documents", "outputs", "annotators", "ratings",
        "preferences", "spans", "endpoints", "judges", "runs", "prompts", "replies", "items",
        "scores", "pair_scores",
    )
)  # fmt: skip
FORMAT = "geval-site project"
# Raise it when the format changes: a site refuses archives of another version.
VERSION = 1
MANIFEST = "manifest.json"
# A zip of some kilobytes can unpack to gigabytes; a manifest has some kilobytes.
MOST_BYTES = 2**20
# How texts are shown: fields of a project, which older archives lack.
SHOWN_AS = (
    "source_format",
    "output_format",
    "reference_format",
    "code_language",
    "text_language",
)
README = """One project of geval_site as plain files: JSON Lines, one record per line, UTF-8.

manifest.json states the format's version and how many records each file has. Import it on another
site with `geval-site import_project FILE`, or on the page that creates a project. Endpoint keys
and members are not included. Campaigns are, with their items, every answer and its history,
comments, checks and decisions; drafts of answers are not. Ratings and answers of locked documents
are left out until the last look; the manifest says of how many documents
(withheld_documents).
"""


@dataclass(frozen=True)
class ArchiveManifest:
    """An archive's description of itself."""

    slug: str
    name: str
    description: str
    guidelines: str
    shown_as: Mapping[str, str]
    records: Mapping[str, int]

    @property
    def files(self) -> list[RecordFile]:
        """The files that the archive has to have."""
        return [
            file for file in FILES if file.name in IN_EVERY_ARCHIVE or file.name in self.records
        ]

    def check_count(self, file: RecordFile, count: int) -> None:
        """Compare a file's number of records with the manifest's.

        Raises:
            ArchiveError: it has fewer or more.
        """
        promised = self.records.get(file.name, 0)
        if count != promised:
            raise ArchiveError(
                f"{file.member} has {count:,} records, the manifest says {promised:,}. The archive"
                " is damaged; export it again."
            )


def write_manifest(
    archive: zipfile.ZipFile,
    manifest: ArchiveManifest,
    *,
    software: str,
    written_at: str,
    withheld: int,
) -> None:
    """Write the manifest, and a README.

    Args:
        withheld: the number of documents whose ratings were left out.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "software": software,
        "written_at": written_at,
        "project": {
            "slug": manifest.slug,
            "name": manifest.name,
            "description": manifest.description,
            "guidelines": manifest.guidelines,
            **manifest.shown_as,
        },
        "records": manifest.records,
        "withheld_documents": withheld,
    }
    archive.writestr(MANIFEST, orjson.dumps(content, option=orjson.OPT_INDENT_2))
    archive.writestr("README.txt", README)


def read_manifest(archive: zipfile.ZipFile) -> ArchiveManifest:
    """Return the manifest of an archive.

    Raises:
        ArchiveError: there is none, or it has a different format or version.
    """
    try:
        with archive.open(MANIFEST) as file:
            content = orjson.loads(file.read(MOST_BYTES))
        if content["format"] != FORMAT:
            raise KeyError("format")
        version, project = content["version"], content["project"]
        if version != VERSION:
            raise ArchiveError(
                f"The archive has version {version}; this site reads version {VERSION}. Update the"
                " site."
            )
        records = {str(name): int(count) for name, count in content["records"].items()}
        texts = {name: project[name] for name in ("slug", "name", "description", "guidelines")}
        shown_as = {name: project[name] for name in SHOWN_AS if name in project}
        for text in (*texts.values(), *shown_as.values()):
            if not isinstance(text, str) or "\0" in text:
                raise TypeError("texts")
        return ArchiveManifest(**texts, shown_as=shown_as, records=records)
    except ArchiveError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, *UNREADABLE):
        raise ArchiveError(
            "This zip is not a project archive: its manifest.json is missing or invalid."
        ) from None
