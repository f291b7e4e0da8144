"""`manage.py criteria [PROJECT] [--preset KEY…]`: list criteria and presets, and add presets."""

from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import CommandError

from evaluations.judging.judges.criteria import add_presets
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.models import Project
from geval.llm.presets import PresetError, presets, presets_by_key
from geval.statistics.scales import short
from geval.texts.program import command
from geval.texts.sentences import excerpt


class Command(SiteCommand):
    help = "List a project's criteria, or add presets to them; without a project, list the presets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", nargs="?", help="short name of the project")
        parser.add_argument(
            "--preset",
            action="append",
            default=[],
            metavar="KEY",
            help="add this preset, such as summarisation/any/coherence, or all that begin with"
            " summarisation/any; can be repeated",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        if not options["project"]:
            if options["preset"]:
                raise CommandError("Name the project that gets the preset.")
            self._list_presets(as_json=options["json"])
            return
        project = find_project(options["project"])
        if options["preset"]:
            self._add(project, options["preset"])
        self._list(project, as_json=options["json"])

    def _add(self, project: Project, keys: list[str]) -> None:
        try:
            chosen = presets_by_key(keys)
        except PresetError as error:
            raise CommandError(f"{error} `{command('criteria')}` lists them.") from None
        made = {criterion.name for criterion in add_presets(project, chosen)}
        for preset in chosen:
            if preset.name not in made:
                self.stderr.write(
                    f"{preset.word}: project {project.slug} already has a criterion named"
                    f" {preset.name!r}; it stays as it is."
                )

    def _list(self, project: Project, *, as_json: bool) -> None:
        rows = [
            {
                "name": criterion.name,
                "scale": f"{short(criterion.scale_min)}-{short(criterion.scale_max)}",
                "definition": criterion.definition,
            }
            for criterion in project.criteria.all()
        ]
        if not rows and not as_json:
            self.stdout.write(
                f"Project {project.slug} has no criteria yet; `{command('criteria')}` lists presets"
                " that --preset adds."
            )
        self._write(rows, as_json=as_json)

    def _list_presets(self, *, as_json: bool) -> None:
        rows = [
            {
                "name": preset.word,
                "scale": f"{short(preset.scale.lowest)}-{short(preset.scale.highest)}",
                "definition": preset.definition,
            }
            for preset in presets()
        ]
        self._write(rows, as_json=as_json)

    def _write(self, rows: list[dict[str, str]], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(orjson.dumps(rows).decode())
            return
        width = max((len(row["name"]) for row in rows), default=0)
        for row in rows:
            definition = excerpt(row["definition"], 80)
            self.stdout.write(f"{row['name']:{width}}  {row['scale']:5}  {definition}".rstrip())
