"""The upload pages in a real browser, with a real worker: good, invalid and hostile files."""

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.models import CandidateOutput, Project, Upload, UploadPart
from geval.files.fields import not_a_number
from tests.conftest import OUTPUTS, RATINGS
from tests.processes import WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
HOSTILE = (
    '<script>document.title = "taken"</script><img src=x onerror=\'document.title ='
    ' "taken"\'>\u202egnp.exe\u200b'
)


@pytest.fixture
def page(owner: User, sign_in: Callable[[str], Page]) -> Page:
    page = sign_in("olga")
    page.goto("/p/small/data/upload/")
    return page


def look_at(page: Page, *files: Path) -> None:
    page.get_by_label("Files").set_input_files(list(files))
    page.get_by_role("button", name="Check data").click()


def test_a_good_file_is_checked_and_loaded_in_the_background(
    page: Page, project: Project, start_worker: Callable[[], WorkerProcess], tmp_path: Path
) -> None:
    start_worker()
    good = tmp_path / "good.jsonl.gz"
    long = "word " * 400
    rows = (
        {
            "doc_id": f"d{n // 16}",
            "system_id": f"s{n % 16}",
            "source": f"{n // 16} {long}",
            "output": f"output {n}",
        }
        for n in range(16_000)
    )
    # Stored, not compressed: a file of more than a megabyte goes to the worker.
    good.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode(), compresslevel=0))

    look_at(page, good)
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Ready to load", timeout=60_000)
    assert not CandidateOutput.objects.exists()
    page.get_by_role("button", name="Load data").click()

    expect(page.get_by_role("status")).to_contain_text(
        "Loaded 1,000 documents, 16,000 outputs.", timeout=60_000
    )
    assert CandidateOutput.objects.count() == 16_000
    assert not UploadPart.objects.exists()


def test_an_invalid_file_is_fixed_by_saying_what_its_columns_are(
    page: Page, project: Project, tmp_path: Path
) -> None:
    invalid = tmp_path / "faulty.csv"
    invalid.write_text(
        "Frage,Antwort,Modell,Jahr\nWhy?,Because.,m1,2024\nWhy?,,m2,2024\nHow?,So.,m1,2025\n"
    )

    look_at(page, invalid)
    expect(page.get_by_role("alert")).to_contain_text("Say which column is the output")
    for column, target in (
        ("Frage", "source text"),
        ("Antwort", "output"),
        ("Modell", "system's name"),
    ):
        page.get_by_label(f"Content of {column}").select_option(label=target)
    page.get_by_role("button", name="Check data again").click()
    page.get_by_role("button", name="Load data").click()

    expect(page.get_by_role("status").last).to_contain_text("Loaded 2 documents, 3 outputs.")
    page.get_by_role("link", name="Show documents").click()
    expect(page.get_by_role("table")).to_contain_text("2025")


def test_errors_are_downloaded_as_they_are_listed(
    page: Page, project: Project, tmp_path: Path
) -> None:
    outputs, ratings = tmp_path / "outputs.jsonl", tmp_path / "ratings.csv"
    outputs.write_text(OUTPUTS)
    ratings.write_text(RATINGS + "\nd1,good,coherence,=cmd|x,seven")

    look_at(page, outputs, ratings)
    expect(page.get_by_role("alert")).to_contain_text("1 error, so nothing was loaded.")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download all errors as CSV").click()

    assert f'ratings.csv,26,score,"{not_a_number("seven")}' in download.value.path().read_text()
    assert not CandidateOutput.objects.exists()


def test_a_hostile_file_is_text_wherever_it_is_shown(
    page: Page, project: Project, tmp_path: Path
) -> None:
    hostile = tmp_path / "<b>hostile.jsonl"
    rows = [
        {
            "doc_id": HOSTILE[:150],
            "system_id": HOSTILE[:100],
            "source": HOSTILE,
            "output": "=1+1",
            HOSTILE: HOSTILE,
        },
        {"doc_id": "d2", "system_id": "s", "source": "x" * 10_000_000, "output": HOSTILE},
    ]
    hostile.write_text("\n".join(map(json.dumps, rows)))

    look_at(page, hostile)
    expect(page.get_by_role("status")).to_contain_text(
        "Being checked"
    )  # it is large, and no worker is there
    page.get_by_role("button", name="Discard").wait_for(state="detached")
    Upload.objects.update(state="chosen")
    page.goto(Upload.objects.get().get_absolute_url())
    expect(page.get_by_role("heading", name="What was recognised")).to_be_visible()

    assert "taken" not in page.title()
    assert page.locator("main script, main img, main h3 b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_files_can_be_dropped(page: Page, project: Project) -> None:
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
            data.items.add(new File([bytes], "dropped.jsonl"));
            const drop = new DragEvent("drop", {dataTransfer: data});
            document.querySelector("[data-drop]").dispatchEvent(drop);
        }""",
        base64.b64encode(OUTPUTS.encode()).decode(),
    )
    expect(page.get_by_text("dropped.jsonl (")).to_be_visible()
    page.get_by_role("button", name="Check data").click()

    expect(page.get_by_role("status")).to_contain_text("Ready to load")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_no_serious_violation_of_accessibility(
    page: Page, project: Project, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    found = Axe().run(page).response["violations"]
    page.get_by_label("Or paste rows").fill("A,B,C\nOne.,1,x\n")
    page.get_by_role("button", name="Check data").click()
    expect(page.get_by_role("alert")).to_be_visible()
    found += Axe().run(page).response["violations"]

    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
