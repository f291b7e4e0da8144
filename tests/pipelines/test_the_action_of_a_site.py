"""The GitHub Action asks a site for its report."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from evaluations.corpus.store import load_files
from evaluations.models import ApiToken, Membership, Project, Role
from evaluations.models.tokens import new_token
from geval.files.readers import InputFile
from geval.pipelines import github
from tests.measuring.conftest import made_up, written
from tests.processes import SiteProcess


def main(inputs: dict[str, str]) -> int:
    """The program, with a new file of the token, as it removes the file."""
    if path := inputs.get("INPUT_SITE_TOKEN_FILE"):
        Path(path).write_text(Path(f"{path}.kept").read_text())
    return github.main(dict(inputs))


pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def inputs(project: Project, tmp_path: Path, database_url: str) -> dict[str, str]:
    files = written(tmp_path, made_up(1))
    load_files(project, [InputFile(path, path.name) for path in files])
    user = User.objects.create_user("pipeline")
    Membership.objects.create(project=project, user=user, role=Role.OWNER)
    secret, digest = new_token()
    ApiToken.objects.create(user=user, name="ci", digest=digest)
    (tmp_path / "token.kept").write_text(secret)
    return {"INPUT_PROJECT": project.slug, "INPUT_SITE_TOKEN_FILE": str(tmp_path / "token")}


def test_verdicts_are_the_sites(
    inputs: dict[str, str], database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site = SiteProcess(database_url)
    try:
        inputs["INPUT_SITE"] = site.address
        reported = main(inputs)
        table = capsys.readouterr().out
    finally:
        site.stop()

    assert reported in (0, 1, 2)
    assert "| coherence | " in table
    assert f"[All numbers]({site.address}/p/small/report/)" in table


def test_a_site_needs_a_project_and_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert main({"INPUT_SITE": "http://127.0.0.1:9"}) == 3
    assert "(project) and a token" in capsys.readouterr().out
