"""Predefined criteria in our own words, read from presets.toml."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from geval.statistics.scales import Scale
from geval.texts.sentences import did_you_mean

WORDINGS = {"news": "worded for news", "any": "for any text"}


class PresetError(ValueError):
    """Presets cannot be added; the message says which, and what to do."""


@dataclass(frozen=True)
class Preset:
    """A criterion ready to be added to a project."""

    task: str
    domain: str
    name: str
    scale: Scale
    introduction: str
    definition: str
    inputs: str = ""
    labels: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The preset's unique key in forms."""
        return f"{self.task}/{self.domain}/{self.name}"

    @property
    def word(self) -> str:
        """The preset's key in commands, without spaces."""
        return self.key.replace(" ", "-")

    @property
    def wording(self) -> str:
        return WORDINGS[self.domain]


@cache
def presets() -> tuple[Preset, ...]:
    """Return all presets, in the order of the file."""
    text = resources.files("geval.llm").joinpath("presets.toml").read_text(encoding="utf-8")
    return tuple(
        Preset(
            task=entry["task"],
            domain=entry["domain"],
            name=entry["name"],
            scale=Scale(float(entry["scale"][0]), float(entry["scale"][1])),
            introduction=entry["introduction"].strip(),
            definition=entry["definition"].strip(),
            inputs=entry.get("inputs", "").strip(),
            labels={label: float(point) for label, point in entry.get("labels", {}).items()},
        )
        for entry in tomllib.loads(text)["preset"]
    )


def presets_by_key(keys: Sequence[str]) -> list[Preset]:
    """Return the presets with these keys; the beginning of a key selects all that begin with it.

    Args:
        keys: such as "summarisation/any/coherence" or "summarisation/any".

    Raises:
        PresetError: there is none, or there are two of the same name, such as one for news and one
            for any text.
    """
    chosen: dict[str, Preset] = {}
    for key in keys:
        parts = key.strip().lower().replace(" ", "-").strip("/").split("/")
        matching = [preset for preset in presets() if preset.word.split("/")[: len(parts)] == parts]
        if not matching:
            words = [preset.word for preset in presets()]
            tasks = ", ".join(sorted({word.partition("/")[0] for word in words}))
            meant = did_you_mean("/".join(parts), words) or f" Presets begin with: {tasks}."
            raise PresetError(f"There is no preset {key!r}.{meant}")
        for preset in matching:
            other = chosen.setdefault(preset.name, preset)
            if other.key != preset.key:
                raise PresetError(
                    f"{other.word} and {preset.word} are both criteria named {preset.name!r}:"
                    " choose one of them."
                )
    return list(chosen.values())


def ready_scales(name: str, *, among: Collection[str] = ()) -> list[Scale]:
    """Return the scales of the presets with this name, those of the likeliest task first.

    Args:
        among: the names of all criteria of the project.
    """
    return [
        preset.scale
        for task in _tasks_by_fit((name, *among))
        for preset in presets()
        if (preset.task, preset.domain, preset.name) == (task, "any", name.strip().lower())
    ]


def _tasks_by_fit(names: Collection[str]) -> list[str]:
    """Return the tasks of presets, first those that have most of these criteria."""
    named = {name.strip().lower() for name in names}
    tasks = dict.fromkeys(preset.task for preset in presets())
    fit = {
        task: len(named & {preset.name for preset in presets() if preset.task == task})
        for task in tasks
    }
    return sorted(tasks, key=lambda task: -fit[task])


def presets_for(scales: Mapping[str, Scale], *, among: Collection[str] = ()) -> dict[str, Preset]:
    """Return presets for criteria with known names and scales, by name; all of the same task if
    possible.

    Args:
        among: the names of all criteria of the project; the task with most of them is preferred, as
            several tasks have a criterion coherence.
    """
    by_fit = _tasks_by_fit((*scales, *among))
    merged = {}
    for name, scale in scales.items():
        fitting = [
            preset
            for task in by_fit
            for preset in presets()
            if (preset.task, preset.domain, preset.name) == (task, "any", name.strip().lower())
            and preset.scale == scale
        ]
        if fitting:
            merged[name] = fitting[0]
    return merged
