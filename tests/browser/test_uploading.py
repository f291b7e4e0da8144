"""The upload pages in a real browser, with a real worker: good, invalid and hostile files."""

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.models import CandidateOutput, Project, UploadPart
from tests.conftest import OUTPUTS
from tests.processes import WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


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
