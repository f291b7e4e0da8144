"""Made-up ratings and scores, as files and as tables."""

from pathlib import Path

import numpy as np
import pytest

PEOPLE, JUDGES = ("ann", "bob", "cyd"), ("near", "far")


def made_up(seed: int, *, documents: int = 30, systems: int = 4) -> dict[str, str]:
    """CSV files by name: outputs, ratings by three people with gaps, and scores of two judges, of
    which one also gives a score for every criterion."""
    rng = np.random.default_rng(seed)
    outputs = ["doc_id,system_id,source,output"]
    ratings = ["doc_id,system_id,criterion,annotator,score"]
    scores = ["doc_id,system_id,criterion,judge,score"]
    for document in rng.permutation(documents):
        for system in rng.permutation(systems):
            name = f"d{document},s{system}"
            outputs.append(f"{name},Source {document}.,{'word ' * int(rng.integers(2, 9))}{system}")
            for criterion in ("coherence", "fluency"):
                quality = int(rng.integers(1, 6))
                for person in PEOPLE:
                    if rng.random() < 0.9:
                        given = min(5, max(1, quality + int(rng.integers(-1, 2))))
                        ratings.append(f"{name},{criterion},{person},{given}")
                for judge, noise in zip(JUDGES, (0.5, 2.0), strict=True):
                    if rng.random() < 0.95:
                        given = min(5.0, max(1.0, quality + noise * rng.normal()))
                        scores.append(f"{name},{criterion},{judge},{given:.3f}")
    return {
        "outputs.csv": "\n".join(outputs) + "\n",
        "ratings.csv": "\n".join(ratings) + "\n",
        "scores.csv": "\n".join(scores) + "\n",
    }


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return written(tmp_path, made_up(1))


def written(folder: Path, content: dict[str, str]) -> list[Path]:
    """The paths of files with some content."""
    paths = []
    for name, text in content.items():
        path = folder / name
        path.write_text(text)
        paths.append(path)
    return paths
