"""Webhooks and uploads that fail, and errors of the heartbeat, leave one line each."""

from pathlib import Path

import pytest

from evaluations.corpus.uploads import loading
from evaluations.corpus.uploads.keeping import ChosenFile, keep_upload
from evaluations.corpus.uploads.loading import start_check
from evaluations.management import tasks
from evaluations.models import Project, Upload, Webhook, WebhookDelivery, WebhookEvent
from evaluations.models.sealing import seal
from evaluations.people.webhooks.announcing import leave_message
from evaluations.people.webhooks.sending import new_secret, send_due
from evaluations.web.forms.uploads import initial_options
from tests.conftest import OUTPUTS
from tests.logs.conftest import Lines

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def delivery(project: Project) -> WebhookDelivery:
    webhook = Webhook.objects.create(
        project=project,
        url="http://127.0.0.1:1/hook-sentinel?q=sentinel",
        events=[WebhookEvent.RUN_FINISHED.value],
        sealed_secret=seal(new_secret()),
    )
    return leave_message(webhook, WebhookEvent.TEST, {"text": "sentinel"})


def kept(project: Project, path: Path, content: str) -> Upload:
    path.write_text(content)
    return keep_upload(project, None, [ChosenFile(path, path.name)], initial_options([path.name]))


def test_a_failed_webhook_is_logged_with_its_host_only(
    delivery: WebhookDelivery, lines: Lines
) -> None:
    send_due()

    line = lines.only("webhook failed")
    assert (line["host"], line["project"], line["delivery"]) == ("127.0.0.1", "small", delivery.pk)
    assert (line["attempt"], line["given_up"]) == (1, False)
    assert line["reason"] == "ForbiddenAddressError"  # one that is no port for HTTP
    assert "sentinel" not in lines.text


def test_errors_in_the_files_of_an_upload_are_counted(
    project: Project, tmp_path: Path, lines: Lines
) -> None:
    broken = OUTPUTS.replace('"output": "The 1.', '"output": true, "x": "The 1.', 1)

    start_check(kept(project, tmp_path / "outputs.jsonl", broken))

    line = lines.only("upload failed")
    assert (line["project"], line["errors"]) == ("small", 1)
    assert "ferry" not in lines.text


@pytest.mark.parametrize("waiting", [True, False])
def test_an_upload_that_fails_unexpectedly_leaves_one_line_with_its_place(
    project: Project,
    tmp_path: Path,
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
    waiting: bool,
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise ValueError("sentinel")

    monkeypatch.setattr(loading, "load_rest", fail)
    monkeypatch.setattr(loading, "AT_ONCE_BYTES", 2**20 if waiting else -1)

    start_check(kept(project, tmp_path / "outputs.jsonl", OUTPUTS), call_worker=tasks.upload_files)

    line = lines.only("upload failed")
    assert line["level"] == "error"
    assert "in _check" in line["exception"]
    assert line["exception"].endswith("\nValueError")
