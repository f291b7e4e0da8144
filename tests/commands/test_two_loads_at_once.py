"""Two commands that load into the same new project at once: one makes it, the other joins."""

import threading
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from evaluations.management import projects
from evaluations.models import CandidateOutput, Project
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_makes_the_project_and_the_other_joins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)
    # Neither has found the project when both are here.
    monkeypatch.setattr(projects, "validate_slug", lambda _slug: both.wait(60))
    (tmp_path / "outputs.jsonl").write_text(OUTPUTS)
    (tmp_path / "ratings.csv").write_text(RATINGS)
    said: list[str] = []

    def load() -> None:
        out = StringIO()
        try:
            call_command("load", "new", *map(str, sorted(tmp_path.iterdir())), stdout=out)
            said.append(out.getvalue())
        except BaseException as error:
            said.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    threads = [threading.Thread(target=load) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Project.objects.count() == 1
    assert CandidateOutput.objects.count() == 6
    assert sorted("Nothing has changed" in text for text in said) == [False, True], said
    assert not any("Error" in text for text in said), said
