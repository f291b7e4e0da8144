"""GPTScore against a real server that none of us wrote: llama-cpp-python's, with a tiny random
model made here."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluations.judging.judges.clients import known_findings
from evaluations.models import Project
from tests.servers.gptscores import run_gptscore, sent_before
from tests.servers.serving import serving

HERE = Path(__file__).parent
PYTHON = os.environ.get("GEVAL_SERVERS", "")
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        not PYTHON, reason="make test-servers LONG=1 builds llama-cpp-python's server for it"
    ),
]
TEXTS = {"d1": "the ferry sails", "d2": "the café ferry sails at 5, naïvely …", "d3": "日本 ferry"}


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    subprocess.run([PYTHON, str(HERE / "make_gguf.py"), str(path)], check=True, timeout=60)
    return path


@pytest.fixture(scope="module")
def base_url(gguf: Path) -> Iterator[str]:
    command = [PYTHON, "-m", "llama_cpp.server", "--model", str(gguf), "--logits_all", "true"]
    with serving([*command, "--n_ctx", "1024"], seconds=60) as url:
        yield url


def by_library(gguf: Path, text: str, output: str) -> float:
    """The mean log-probability of an output's tokens, from llama.cpp's library without the
    server."""
    done = subprocess.run(
        [PYTHON, str(HERE / "log_likelihood.py"), str(gguf)],
        input=text.encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    found = json.loads(done.stdout)
    pieces = [bytes.fromhex(piece) for piece in found["pieces"]]
    wanted = len(output.encode())
    counted: list[float] = []
    for piece, value in zip(reversed(pieces), reversed(found["logprobs"]), strict=True):
        if wanted <= 0:
            break
        wanted -= len(piece)
        if piece.strip():
            counted.append(value)
    return sum(counted) / len(counted)


def test_gptscore_equals_the_library_on_every_output(
    project: Project, load: Callable[..., object], base_url: str, gguf: Path
) -> None:
    run = run_gptscore(project, load, TEXTS, base_url=base_url, model="tiny")

    assert run.judge.endpoint is not None
    findings = known_findings(run.judge.endpoint, "tiny")
    assert findings is not None
    assert findings.echo
    for score in run.scores.select_related("output__document"):
        doc = score.output.document.doc_id
        text = f"{sent_before(run, doc)} {TEXTS[doc]}"
        assert score.value == pytest.approx(by_library(gguf, text, TEXTS[doc]), abs=1e-5)
