"""Scores of anything, computed elsewhere and uploaded; see docs/data-format.md for the files."""

from typing import ClassVar

from pydantic import Field

from geval.evaluators.base import Evaluator, Settings


class ImportedSettings(Settings):
    version: str = Field("", description="Of the program that computed them, such as 1.5.5.")
    source: str = Field("", description="Where they come from: a paper, a release, a command.")


class Imported(Evaluator):
    kind = "imported"
    title = "Imported scores"
    summary = (
        "Scores computed elsewhere, with name, version and source; also the raw replies of a G-Eval"
        " release."
    )
    family = "Other"
    runs = False
    rates_on_scale = True
    Settings: ClassVar = ImportedSettings
