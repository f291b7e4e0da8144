"""The processes that read files of users have none of the site's secrets in their environment."""

from pathlib import Path

import pytest

from geval.files.apart import reading
from geval.files.apart.reading import preview_apart

pytestmark = pytest.mark.processes
SECRETS = (
    "GEVAL_SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL", "OPENAI_API_KEY", "PGPASSWORD",
    "AWS_SECRET_ACCESS_KEY", "GEVAL_SENTRY_DSN", "HF_TOKEN", "RABBITMQ_PASSWORD",
)  # fmt: skip


@pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="this system shows no environments"
)
def test_the_process_that_reads_a_file_knows_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "the-sites-own-secret")
    monkeypatch.setattr(reading, "_waiting", reading._Waiting())
    (tmp_path / "a.csv").write_text(
        "doc_id,system_id,source,output\nd1,s1,The source.,An output.\n"
    )

    preview = preview_apart(tmp_path / "a.csv", "a.csv")

    reader = reading._waiting.popen
    assert reader is not None
    environment = Path(f"/proc/{reader.pid}/environ").read_bytes()
    reading._waiting.stop()
    assert not preview.error
    assert b"the-sites-own-secret" not in environment
    assert b"PATH=" in environment
