"""The file that is written of a project changes nothing when it is applied."""

from pathlib import Path

import pytest
import yaml
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluations.models import Project
from geval.pipelines.project_files.command import _Dumper
from geval.pipelines.project_files.file import written_schema
from geval.pipelines.project_files.reading import read_document
from tests.conftest import CHECKOUT
from tests.project_files.conftest import WHOLE, Run


def exported(tmp_path: Path, name: str = "out.yaml") -> str:
    call_command("export_project", "small", str(tmp_path / name), "--as", "yaml")
    return (tmp_path / name).read_text()


@pytest.mark.django_db
def test_the_file_of_a_project_makes_no_difference(
    run: Run, judged_project: Project, tmp_path: Path
) -> None:
    assert run("apply", WHOLE)[0] == 0
    text = exported(tmp_path)

    code, message = run("diff", text)
    assert (code, message) == (0, "small is what " + message.split(" is what ")[1])
    assert "left as it is" not in message
    assert "Judge Judy" in text
    assert "key_env: OPENAI_API_KEY" in text


@pytest.mark.django_db
def test_the_file_makes_the_same_project_again(
    run: Run, small_project: Project, tmp_path: Path
) -> None:
    run("apply", WHOLE)
    text = exported(tmp_path)
    small_project.campaigns.all().delete()
    small_project.judges.all().delete()
    small_project.endpoints.all().delete()
    small_project.criteria.filter(name="faithful").delete()

    code, message = run("apply", text)
    assert code == 0, message
    assert exported(tmp_path, "again.yaml") == text


WORDS = (
    "yes", "1e5", "null", "~", "0x1f", "1:30", "2027-01-31", "- a", "a: b", "#x", "one\ntwo\n",
    " lead\ntrail ", "007", "true", "=", "<<", "*a", "&a", "", "\n",
)  # fmt: skip
printable = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")))


@given(printable | st.sampled_from(WORDS))
def test_every_text_comes_back_as_it_was(text: str) -> None:
    written = yaml.dump({"a": text, text: 1}, Dumper=_Dumper, allow_unicode=True)

    assert read_document(written.encode(), "f").values == {"a": text, text: 1} | (
        {"a": 1} if text == "a" else {}
    )


def test_the_schema_of_the_docs_is_the_one_that_checks() -> None:
    assert (CHECKOUT / "docs" / "project.schema.json").read_text() == written_schema()
