"""Test sets in the format of mt-metrics-eval, as rows of the files that uploads accept.

A test set is a folder with `sources`, `documents`, `references`, `system-outputs`, `human-scores`
and `metric-scores`; a language pair (`en-de`) names the files of one set. A segment becomes a
document, so that outputs of the same segment are compared.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NO_TRANSLATION, NO_SCORE = "NO_TRANSLATION", "None"
# The field with the text in lines of JSON Lines files, by folder.
_FIELDS = {"sources": "source", "references": "target", "system-outputs": "hypothesis"}
Scores = Mapping[str, Sequence[float | None]]


class MtmeError(ValueError):
    """A test set cannot be read; the message says which file, which line, and what to do."""


@dataclass(frozen=True)
class EvalSet:
    """One language pair of a test set. `doc_ids` names each segment; texts and scores are in the
    order of segments, None where there is none. `left_out` names score files of levels other than
    segments."""

    doc_ids: Sequence[str]
    sources: Sequence[str]
    domains: Sequence[str]
    references: Mapping[str, Sequence[str | None]]
    outputs: Mapping[str, Sequence[str | None]]
    human: Mapping[str, Scores] = field(default_factory=dict)
    metrics: Mapping[str, Scores] = field(default_factory=dict)
    left_out: Sequence[str] = ()

    def output_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each output that has a text."""
        for system, texts in self.outputs.items():
            for index, text in enumerate(texts):
                if text:
                    named = (reference[index] for reference in self.references.values())
                    yield {
                        "doc_id": self.doc_ids[index],
                        "system_id": system,
                        "source": self.sources[index],
                        "output": text,
                        "references": [reference for reference in named if reference],
                        "metadata": {"domain": self.domains[index]},
                    }

    def rating_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each human score; the score's name is both criterion and annotator."""
        for name, row in self._rows(self.human):
            yield row | {"criterion": name, "annotator": name}

    def score_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each metric's score, which applies to every criterion."""
        for name, row in self._rows(self.metrics):
            yield row | {"judge": name}

    def _rows(self, scorers: Mapping[str, Scores]) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, scores in scorers.items():
            for system, values in scores.items():
                for index, value in enumerate(values):
                    if value is not None and self.outputs.get(system, [])[index : index + 1] != [
                        None
                    ]:
                        about = {"doc_id": self.doc_ids[index], "system_id": system}
                        yield name, about | {"score": value}

    def scales(self) -> dict[str, tuple[float, float, float]]:
        """Return a scale for each human scorer: the whole numbers around the scores as lowest,
        highest, step."""
        scales = {}
        for name, scores in self.human.items():
            numbers = [value for values in scores.values() for value in values if value is not None]
            if numbers:
                low, high = math.floor(min(numbers)), math.ceil(max(numbers))
                scales[name] = (float(low), float(max(high, low + 1)), 1.0)
        return scales


def read_evalset(folder: Path, pair: str) -> EvalSet:
    """Read a language pair of a test set.

    Raises:
        MtmeError: a file is missing or not in the format.
    """
    sources = [text or "" for text in _texts(_only(folder / "sources", pair))]
    documents = _lines(folder / "documents" / f"{pair}.docs")
    _same_length(folder / "documents" / f"{pair}.docs", documents, sources)
    split = [line.split() for line in documents]
    if wrong := next((number for number, cells in enumerate(split, 1) if len(cells) != 2), 0):
        raise MtmeError(f"documents/{pair}.docs, line {wrong}: write DOMAIN DOCUMENT.")
    outputs = {path.stem: _texts(path) for path in _texts_in(folder / "system-outputs" / pair)}
    if not outputs:
        raise MtmeError(f"{folder / 'system-outputs' / pair} has no outputs of systems.")
    references = {
        path.stem.split(".")[-1]: _texts(path)
        for path in _texts_in(folder / "references", f"{pair}.")
    }
    for name, texts in (outputs | references).items():
        _same_length(Path(name), texts, sources)
    human = sorted((folder / "human-scores").glob(f"{pair}.*.score"))
    metrics = sorted((folder / "metric-scores" / pair).glob("*.score"))
    return EvalSet(
        doc_ids=[f"{name}:{number}" for number, (_domain, name) in enumerate(split, 1)],
        sources=sources,
        domains=[domain for domain, _name in split],
        references=references,
        outputs=outputs,
        human=_segment_scores(human, len(sources), outputs, prefix=f"{pair}."),
        metrics=_segment_scores(metrics, len(sources), outputs),
        left_out=[path.name for path in (*human, *metrics) if _level(path) != "seg"],
    )


def read_scores(path: Path) -> dict[str, list[float | None]]:
    """Read a file of scores of segments, documents or systems: each system's scores, in order.

    Raises:
        MtmeError: a line is not a system and a number.
    """
    scores: dict[str, list[float | None]] = {}
    for number, line in enumerate(_lines(path), 1):
        try:
            system, score = line.split()
            value = None if score == NO_SCORE else float(score)
        except ValueError:
            raise MtmeError(f"{path.name}, line {number}: write SYSTEM SCORE.") from None
        if value is not None and not math.isfinite(value):
            raise MtmeError(f"{path.name}, line {number}: {score} is not a number.")
        scores.setdefault(system, []).append(value)
    return scores


def _segment_scores(
    paths: Sequence[Path], segments: int, outputs: Mapping[str, Any], *, prefix: str = ""
) -> dict[str, Scores]:
    segment_scores: dict[str, Scores] = {}
    for path in paths:
        if _level(path) != "seg":
            continue
        scores = read_scores(path)
        for system, values in scores.items():
            if system not in outputs:
                raise MtmeError(f"{path.name}: there are no outputs of a system {system!r}.")
            if len(values) != segments:
                raise MtmeError(
                    f"{path.name}: {system} has {len(values)} scores for {segments} segments."
                )
        segment_scores[path.name.removeprefix(prefix).removesuffix(".seg.score")] = scores
    return segment_scores


def _level(path: Path) -> str:
    return path.name.split(".")[-2]


def _texts_in(folder: Path, prefix: str = "") -> list[Path]:
    return sorted(path for path in folder.glob(f"{prefix}*") if path.suffix in (".txt", ".jsonl"))


def _only(folder: Path, pair: str) -> Path:
    for ending in ("txt", "jsonl"):
        if (folder / f"{pair}.{ending}").is_file():
            return folder / f"{pair}.{ending}"
    raise MtmeError(f"{folder} has no {pair}.txt; name a language pair that it has.")


def _texts(path: Path) -> list[str | None]:
    lines = _lines(path)
    if path.suffix != ".jsonl":
        return [None if line == NO_TRANSLATION else line for line in lines]
    name = _FIELDS[next(part for part in reversed(path.parts) if part in _FIELDS)]
    try:
        return [json.loads(line)[name] for line in lines]
    except (ValueError, KeyError, TypeError):
        raise MtmeError(f"{path.name}: each line is an object with a {name!r}.") from None


def _lines(path: Path) -> list[str]:
    try:
        return [line.rstrip() for line in path.read_text("utf-8").split("\n")[:-1]]
    except OSError as error:
        raise MtmeError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise MtmeError(f"{path} is not in UTF-8.") from None


def _same_length(path: Path, lines: Sequence[Any], sources: Sequence[str]) -> None:
    if len(lines) != len(sources):
        raise MtmeError(f"{path.name} has {len(lines)} lines for {len(sources)} segments.")
