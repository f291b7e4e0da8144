"""Test sets in the format of mt-metrics-eval are loaded."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command

from annotations.models import Rating
from evaluations.models import Project, Score
from geval.files.mtme import MtmeError, read_evalset, read_scores

SYSTEMS = ("A", "B", "refA")
SEGMENTS = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve segments in three documents, two systems and a reference that is scored as one."""
    files = {
        "sources/en-de.txt": [f"Source {at}." for at in range(SEGMENTS)],
        "documents/en-de.docs": [f"news doc{at // 4}" for at in range(SEGMENTS)],
        "references/en-de.refA.txt": [f"Referenz {at}." for at in range(SEGMENTS)],
        "human-scores/en-de.mqm.sys.score": ["A -1.0", "B -2.0"],
        "human-scores/en-de.mqm.seg.score": [
            f"{system} {'None' if (system, at) == ('A', 3) else -(at % 5) - 0.5 * (system == 'B')}"
            for system in ("A", "B")
            for at in range(SEGMENTS)
        ],
        "metric-scores/en-de/good-refA.seg.score": [
            f"{system}\t{-(at % 5) / 5 - 0.1 * (system == 'B')}"
            for system in ("A", "B")
            for at in range(SEGMENTS)
        ],
        "metric-scores/en-de/bad-src.seg.score": [
            f"{system}\t{(at * 7) % 11}" for system in SYSTEMS for at in range(SEGMENTS)
        ],
    }
    for system in SYSTEMS:
        files[f"system-outputs/en-de/{system}.txt"] = [
            "NO_TRANSLATION" if (system, at) == ("B", 5) else f"Satz {at} von {system}."
            for at in range(SEGMENTS)
        ]
    for name, lines in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
    return tmp_path


def test_segments_are_documents_and_missing_entries_have_no_row(folder: Path) -> None:
    found = read_evalset(folder, "en-de")

    rows = list(found.output_rows())
    assert len(rows) == 3 * SEGMENTS - 1
    assert rows[4] == {
        "doc_id": "doc1:5",
        "system_id": "A",
        "source": "Source 4.",
        "output": "Satz 4 von A.",
        "references": ["Referenz 4."],
        "metadata": {"domain": "news"},
    }
    assert len(list(found.rating_rows())) == 2 * SEGMENTS - 2
    assert found.scales() == {"mqm": (-5.0, 0.0, 1.0)}
    assert set(found.metrics) == {"good-refA", "bad-src"}
    assert found.left_out == ["en-de.mqm.sys.score"]
    assert read_scores(folder / "human-scores/en-de.mqm.sys.score") == {"A": [-1.0], "B": [-2.0]}


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("documents/en-de.docs", "news doc0\n", "en-de.docs has 1 lines for 12 segments"),
        ("metric-scores/en-de/bad-src.seg.score", "A 1\n", "A has 1 scores for 12 segments"),
        ("metric-scores/en-de/bad-src.seg.score", "C 1\n", "no outputs of a system 'C'"),
        ("metric-scores/en-de/bad-src.seg.score", "A\n", "line 1: write SYSTEM SCORE"),
        ("metric-scores/en-de/bad-src.seg.score", "A nan\n", "line 1: nan is not a number"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, file: str, content: str, said: str) -> None:
    (folder / file).write_text(content)

    with pytest.raises(MtmeError, match=said):
        read_evalset(folder, "en-de")


def test_another_language_pair_is_an_error(folder: Path) -> None:
    with pytest.raises(MtmeError, match=r"has no de-en\.txt"):
        read_evalset(folder, "de-en")


@pytest.mark.django_db
def test_a_test_set_becomes_a_project(folder: Path) -> None:
    out = io.StringIO()

    call_command("load_mtme", "wmt", str(folder), "en-de", stdout=out)

    project = Project.objects.get(slug="wmt")
    assert project.documents.count() == SEGMENTS
    assert Rating.objects.filter(annotator__project=project).count() == 2 * SEGMENTS - 2
    assert Score.objects.filter(run__project=project).count() == 5 * SEGMENTS - 2
    assert "here are of outputs: en-de.mqm.sys.score." in out.getvalue()
