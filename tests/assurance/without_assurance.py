"""A program: what a site without `assurance` does with a project in which the app stored something.

It prints pages, jobs, removed rows, and by which mark kept reports are read, as JSON; the project
is exported, archived and deleted.
"""

import json
import os
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

import django

SLUG = "small"


def main(target: Path) -> dict[str, Any]:
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from evaluations.management.upkeep import JOBS, do_if_due
    from evaluations.models import Project, UpkeepJob
    from evaluations.projects.archive.write import write_archive
    from evaluations.projects.archiving import archive
    from evaluations.projects.deletion import delete_project, remove_deleted
    from evaluations.reports.serving.parts import REPORT, code_of
    from evaluations.reports.serving.parts import pages as report_pages
    from geval_site.command_help import own_commands

    call_command("check", stdout=sys.stderr)
    project, owner = Project.objects.get(slug=SLUG), User.objects.get()
    answers = pages(project, owner)
    for job in JOBS:
        do_if_due(job)
    write_archive(project, target, with_locked=True)
    archive(project)
    states = list(project.searches.values_list("state", flat=True))
    delete_project(project, user=owner, by="olga")
    return {
        "pages": answers,
        "commands": list(own_commands()),
        "kept": code_of(REPORT),
        "beside the report": [page.word for page in report_pages()],
        "jobs": dict(UpkeepJob.objects.values_list("name", "failure")),
        "searches": states,
        "removed": [gone.rows for gone in remove_deleted()],
    }


def pages(project: Any, owner: Any) -> dict[str, tuple[int, str]]:
    """Status and text by the address within the project."""
    from django.test import Client

    from evaluations.models.improving import withheld_documents

    client = Client(SERVER_NAME="localhost")
    client.force_login(owner)
    judges = [f"judges/{judge.pk}/" for judge in project.judges.all()]
    criterion, scored = project.criteria.get(), project.judges.order_by("pk").first()
    drawn = client.get(f"/p/{SLUG}/report/numbers/?on={criterion.pk}&by={scored.pk}")
    bubbles = re.findall(rf'href="/p/{SLUG}/(report/bubble/[^"]+)"', drawn.content.decode())
    standing = [f"{address}standing/" for address in judges]
    parts = (
        "", "standing/", "report/", "report/numbers/", "report/live/?part=more",
        "report/export/json/", "judges/", *judges, *standing, "jobs/",
        f"data/{withheld_documents(project.pk)[0]}/", "improve/", f"{judges[0]}instrument/",
        "report/compare/", "report/compare/probabilities/", "report/compare/tests/",
        "report/disagreements/", "report/causes/export/json/", *bubbles[:1],
        f"report/cell/{criterion.pk}/{scored.pk}/",
    )  # fmt: skip
    answers = {part: client.get(f"/p/{SLUG}/{unescape(part)}") for part in parts}
    answers["schema"] = client.get("/api/v1/openapi.json")
    return {part: (answer.status_code, answer.content.decode()) for part, answer in answers.items()}


if __name__ == "__main__":
    sys.modules["assurance"] = None  # type: ignore[assignment]  # as if it were not there
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")
    django.setup()
    json.dump(main(Path(sys.argv[1])), sys.stdout)
