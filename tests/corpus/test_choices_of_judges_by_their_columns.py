"""Whose choices a file of comparisons holds: a column `judge` of ours, or a list of MT-bench's,
names a judge, also where the columns are recognised by the upload page and the command."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from evaluations.models import PairScore, Project

pytestmark = pytest.mark.django_db
OURS = "doc_id,system_a,system_b,{},winner\nd1,good,odd,Kim,a\n"
MT_BENCH = {
    "question_id": "d1",
    "model_a": "good",
    "model_b": "odd",
    "winner": "model_a",
    "turn": 1,
}


@pytest.mark.parametrize(
    ("name", "content", "judges", "people"),
    [
        ("ours.csv", OURS.format("judge"), {"Kim"}, set()),
        ("ours with other names.csv", OURS.format("judge").replace("doc_id", "question"), {"Kim"},
         set()),
        ("people.csv", OURS.format("annotator"), set(), {"Kim"}),
        ("mt-bench.jsonl", json.dumps(MT_BENCH | {"judge": ["gpt-4", "pair"]}), {"gpt-4 pair"},
         set()),
        ("mt-bench of people.jsonl", json.dumps(MT_BENCH | {"judge": "author_2"}), set(),
         {"author_2"}),
    ],
)  # fmt: skip
def test_a_file_says_whether_a_judge_or_a_person_chose(
    small_project: Project, tmp_path: Path, name: str, content: str, judges: set[str],
    people: set[str],
) -> None:  # fmt: skip
    before = {*small_project.annotators.values_list("name", flat=True)}
    path = tmp_path / name
    path.write_text(content)

    call_command("load", small_project.slug, str(path), stdout=io.StringIO())

    names = PairScore.objects.values_list("run__judge__name", flat=True)
    assert {*names} == judges
    assert {*small_project.annotators.values_list("name", flat=True)} - before == people
