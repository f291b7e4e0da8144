"""A site's project is measured elsewhere: `geval.pull` gives what `geval.measure` takes."""

import asyncio
import doctest
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User

import geval
from evaluations.corpus.store import load_files
from evaluations.models import ApiToken, Project
from evaluations.models.tokens import new_token
from evaluations.reports.report import build_report
from geval.client import ApiError, AsyncClient, Client, blocking
from geval.files.readers import InputFile
from geval.reports.downloads.report_json import as_json
from tests.measuring.conftest import made_up, written
from tests.measuring.test_same_numbers_as_the_site import preferences, sampled
from tests.processes import SiteProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def site(database_url: str, owner: User, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a served site; the owner's token is in the environment."""
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    monkeypatch.setenv("GEVAL_TOKEN", token)
    served = SiteProcess(database_url, GEVAL_MODE="local")
    yield served.address
    served.stop()


@pytest.fixture
def rated(project: Project, tmp_path: Path) -> Project:
    """A project with ratings and scores, whose scale nobody would guess from its ratings."""
    content = made_up(5, documents=30, systems=4) | {"preferences.csv": preferences(5)}
    files = written(tmp_path, sampled(content, with_top=True))
    load_files(project, [InputFile(path, path.name) for path in files])
    project.criteria.filter(name="fluency").update(scale_max=9)
    return project


def test_what_is_pulled_has_the_numbers_of_the_site(site: str, rated: Project) -> None:
    shown = json.loads(as_json(build_report(rated)))

    pulled = geval.pull(site, rated.slug)

    assert pulled.scales["fluency"] == (1, 9, 1)
    assert geval.measure(pulled).to_dict() | {"project": rated.slug} == shown


def test_versions_of_a_judge_are_pulled_as_judges_of_their_own(site: str, rated: Project) -> None:
    older = rated.judges.get(name="near")
    newer = rated.judges.get(name="far")
    newer.name, newer.version = older.name, older.version + 1
    newer.save()

    pulled = geval.pull(site, rated.slug)

    judges = {row["judge"] for row in pulled if "judge" in row}
    assert judges == {older.label, newer.label}


def test_both_clients_pull_the_same(site: str, rated: Project) -> None:
    pulled = geval.pull(site, rated.slug)

    async def work() -> None:
        async with AsyncClient(site, token=token) as there:
            again = await there.project(rated.slug).pull()
            assert (list(again), again.scales) == (list(pulled), pulled.scales)

    token = os.environ["GEVAL_TOKEN"]
    asyncio.run(work())
    assert {*pulled[0]} == {"doc_id", "system_id", "source", "output"}
    assert any("winner" in row for row in pulled)


def test_a_project_or_a_token_that_is_not_there_is_an_error(
    site: str, rated: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ApiError, match="404 Not found"):
        geval.pull(site, "hidden")
    with pytest.raises(ApiError, match="401 Not signed in"):
        geval.pull(site, rated.slug, token="geval_wrong")
    monkeypatch.delenv("GEVAL_TOKEN")
    with pytest.raises(ValueError, match="GEVAL_TOKEN is not set; put a token of"):
        geval.pull(site, rated.slug)


def test_what_a_notebook_measured_goes_into_a_site_with_async(
    site: str, project: Project, rated: Project
) -> None:
    class Judged:
        def to_tables(self) -> dict[str, list[dict[str, object]]]:
            row = {"doc_id": "new", "system_id": "s0"}
            return {
                "outputs": [row | {"source": "A source.", "output": "An output."}],
                "ratings": [],
                "scores": [row | {"criterion": "fluency", "judge": "near", "score": 2}],
            }

    async def work() -> None:
        async with AsyncClient(site, token=os.environ["GEVAL_TOKEN"]) as there:
            mine = there.project(project.slug)
            pushed = await mine.push(Judged())
            report = await mine.report(coefficient="kendall")
            frame = await mine.report_frame("polars")
            there.log(mine, doc_id="logged", system="s0", source="Q?", output="A.")
            sent = await there.flush()
            with pytest.raises(LookupError, match="no judge 'Nobody' in"):
                await mine.start_run("Nobody")

            assert {name: each[name]["created"] for name, each in pushed.items()} == {
                "outputs": 1, "scores": 1,
            }  # fmt: skip
            assert ({*report["criteria"]}, sent) == ({"coherence", "fluency"}, True)
            assert there.dropped == 0
            assert {*frame["judge"]} == {"near", "far"}

    asyncio.run(work())
    assert project.documents.filter(doc_id="logged").exists()


def test_the_example_shows_what_it_says() -> None:
    done = doctest.testmod(blocking, optionflags=doctest.ELLIPSIS)

    assert (done.failed, done.attempted) == (0, 2)
    assert Client("http://x", "t").project("p").slug == "p"
