"""Simulated projects: texts and ratings made by rule, so that it is known what people weigh, for
the demo, for practice and for benchmarks (docs/method.md, The stand-in, has the judge's rules)."""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from geval.standin.wording import NAMED, mean_of

_WORDS = """
    harbour ferry island winter morning captain storm cargo village lantern market river bridge
    council teacher garden engine signal valley forest museum letter doctor train station summer
    meeting window painter orchard baker library tower student farmer road festival lake mountain
    sailor office kitchen journey winner record budget election company worker
"""
WORDS = _WORDS.split()
_INVENTED = "dragon wizard spaceship robot castle pirate treasure unicorn vampire meteor"
INVENTED = _INVENTED.split()
PLANTED = ("brief", "supported")
BEST = " ".join(NAMED[name].said for name in PLANTED)
# The judge's definition at first: it says nothing that the stand-in could weigh.
VAGUE = "Is it a good text overall?"
# Criteria with their definitions. People weigh the same on each; the definitions name all of it, a
# part, and nothing: by the rules of every report a judge stands in, needs spot checks, and people
# keep rating.
THREE_ANSWERS = {
    "usefulness": BEST,
    "trust": NAMED["supported"].said,
    "appeal": "Is it a nice text?",
    "quality": VAGUE,
}
RATERS = ("ann", "bob", "cat")
PRACTICE_SEED = 1


def planted_files(
    seed: int,
    *,
    documents: int = 60,
    systems: int = 5,
    criteria: Sequence[str] = ("usefulness",),
) -> Mapping[str, str]:
    """Outputs and ratings as CSV files by name. On each criterion people weigh whether a text is
    brief and whether its facts are supported, and differ by a little."""
    rng = np.random.default_rng(seed)
    outputs: list[tuple[object, ...]] = []
    ratings: list[tuple[object, ...]] = []
    for document in range(documents):
        source = " ".join(_sentence(rng, WORDS) for _ in range(8))
        for system in range(systems):
            text = _output(rng, source)
            place = (f"d{document}", f"s{system}")
            outputs.append((*place, source, text))
            worth = 1 + 4 * mean_of(list(PLANTED), text, source)
            ratings += [
                (*place, criterion, rater, round(min(5, max(1, worth + rng.normal(0, 0.35)))))
                for criterion in criteria
                for rater in RATERS
            ]
    return {
        "outputs.csv": as_csv("doc_id,system_id,source,output", outputs),
        "ratings.csv": as_csv("doc_id,system_id,criterion,annotator,score", ratings),
    }


def _output(rng: np.random.Generator, source: str) -> str:
    """Some sentences of the source, some invented."""
    sentences = source.split(". ")
    count = int(rng.integers(1, 8))
    invented = rng.random() * 0.9
    chosen = [
        _sentence(rng, INVENTED)
        if rng.random() < invented
        else str(rng.choice(sentences)).rstrip(".") + "."
        for _ in range(count)
    ]
    return " ".join(chosen)


def _sentence(rng: np.random.Generator, words: list[str]) -> str:
    chosen = rng.choice(words, size=int(rng.integers(5, 10)))
    return " ".join(chosen).capitalize() + "."


def as_csv(header: str, rows: list[tuple[object, ...]]) -> str:
    """Rows as a CSV file; `header` names the columns, divided by commas."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return text.getvalue()


def main() -> None:
    """Write a project to practise on: `python -m geval.standin.planted FOLDER`."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in planted_files(PRACTICE_SEED, documents=200).items():
        (folder / name).write_text(content)
        sys.stdout.write(f"{folder / name}\n")


if __name__ == "__main__":
    main()
