"""Ready criteria, in our own words: read from presets.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Preset:
    """A criterion ready to be added to a project."""

    task: str
    domain: str
    name: str
    lowest: float
    highest: float
    introduction: str
    definition: str
    inputs: str = ""


@cache
def presets() -> tuple[Preset, ...]:
    """All presets, in the order of the file."""
    text = resources.files("evaluations.judging").joinpath("presets.toml").read_text(encoding="utf-8")
    return tuple(
        Preset(
            task=entry["task"],
            domain=entry["domain"],
            name=entry["name"],
            lowest=float(entry["scale"][0]),
            highest=float(entry["scale"][1]),
            introduction=entry["introduction"].strip(),
            definition=entry["definition"].strip(),
            inputs=entry.get("inputs", "").strip(),
        )
        for entry in tomllib.loads(text)["preset"]
    )


def preset_for(name: str, *, domain: str = "any") -> Preset | None:
    """The preset of a criterion's name, whatever its task; None if there is none."""
    return next((p for p in presets() if p.name == name.strip().lower() and p.domain == domain), None)
