"""Ratings and scores that never meet, as files name things differently, are told of."""

from pathlib import Path

import geval

DOCUMENTS, SYSTEMS = 4, ("s0", "s1")


def ratings(criterion: str = "quality") -> list[str]:
    return [
        f"d{d},{system},{criterion},{person},{1 + (d + at) % 5}"
        for d in range(DOCUMENTS)
        for at, system in enumerate(SYSTEMS)
        for person in ("ann", "bob")
    ]


def scores(
    criterion: str = "quality", document: str = "d", documents: int = DOCUMENTS
) -> list[str]:
    return [
        f"{document}{d},{system},{criterion},gpt,{1 + d}"
        for d in range(documents)
        for system in SYSTEMS
    ]


def notes_of(folder: Path, scored: list[str]) -> tuple[str, ...]:
    """The notes of a measurement, without those about texts."""
    files = []
    for rater, lines in (("annotator", ratings()), ("judge", scored)):
        files.append(folder / f"{rater}.csv")
        head = f"doc_id,system_id,criterion,{rater},score"
        files[-1].write_text("\n".join([head, *lines]) + "\n")
    result = geval.measure(files)
    for note in result.notes:
        assert note in str(result)
    return tuple(note for note in result.notes if "texts" not in note)


def test_files_that_name_all_alike_need_no_note(tmp_path: Path) -> None:
    assert notes_of(tmp_path, scores()) == ()


def test_rated_outputs_without_a_score_are_counted(tmp_path: Path) -> None:
    (note,) = notes_of(tmp_path, scores(documents=DOCUMENTS - 1))

    assert note.startswith("No judge scored 2 of 8 rated")
    assert note.endswith("such as s0 on d3.")


def test_documents_with_other_names_are_shown_side_by_side(tmp_path: Path) -> None:
    (note,) = notes_of(tmp_path, scores(document="doc-"))

    assert note.startswith("gpt scored 8 outputs on quality, ")
    assert "such as s0 on doc-0, " in note
    assert "such as s0 on d0. " in note
