"""Each evaluator has a page that tells what it must; the example of an own evaluator works as it is
printed."""

import json
import re
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path

import pytest

from evaluations.judging.judges.judges import endpoint_at
from evaluations.judging.runs.estimate import estimate_run
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Judge, Project, RunState
from geval.evaluators import registry
from geval.evaluators.base import Evaluator
from geval.evaluators.registry import evaluators
from tests.conftest import CHECKOUT

FOLDER = CHECKOUT / "docs" / "evaluators"
HEADINGS = ["Formula", "Settings", "What it costs", "When to use it", "Known biases"]


@pytest.mark.parametrize("evaluator", evaluators().values(), ids=lambda evaluator: evaluator.kind)
def test_the_page_tells_formula_paper_cost_use_biases_and_every_setting(
    evaluator: type[Evaluator],
) -> None:
    page = (FOLDER / f"{evaluator.kind}.md").read_text()

    assert re.findall(r"^## (.+)$", page, re.M)[:5] == HEADINGS
    assert f"`{evaluator.kind}`" in page.splitlines()[0]
    assert evaluator.paper.split(",")[0] in page
    neural = (FOLDER / "README.md").read_text() if "README.md#settings-of-neural" in page else ""
    assert [
        name for name in evaluator.Settings.model_fields if f"`{name}`" not in page + neural
    ] == []
    assert f"({evaluator.kind}.md)" in (FOLDER / "README.md").read_text()
    assert all(field.description for field in evaluator.Settings.model_fields.values())


@pytest.fixture
def own_package(tmp_path: Path) -> Path:
    """The code of the page as an installed package, with one that is broken beside it."""
    page = (FOLDER / "your-own.md").read_text()
    code, point = (
        re.findall(rf"```{language}\n(.*?)```", page, re.S)[0] for language in ("python", "toml")
    )
    (tmp_path / "my_package.py").write_text(code)
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    name, value = (part.strip(' "') for part in point.splitlines()[1].split("="))
    points = f"[geval_site.evaluators]\n{name} = {value}\nbroken = no_such_module:Nothing\n"
    (info / "entry_points.txt").write_text(points)
    return tmp_path


def test_the_example_of_an_own_evaluator_scores_and_a_broken_one_is_named(
    own_package: Path,
) -> None:
    code = (
        "from geval.evaluators.registry import broken_evaluators, evaluators, make_local\n"
        "from geval.evaluators.base import Item\n"
        "from geval.llm.prompts import Texts\n"
        "made = make_local('words', {'most': 2})\n"
        "items = [Item(Texts('s', 'a b c d')), Item(Texts('s', 'a'))]\n"
        "print([float(one.value) for one in made.score_readable(items)])\n"
        "print('words' in evaluators(), [(one.kind, one.message) for one in broken_evaluators()])\n"
    )
    environment = {"PYTHONPATH": f"{own_package}:{CHECKOUT}", "PATH": "/usr/bin"}

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )

    scores, listed = done.stdout.splitlines()
    assert scores == "[-2.0, 0.0]"
    assert listed.startswith("True [('broken', ")
    assert "no_such_module:Nothing cannot be loaded: ModuleNotFoundError" in listed


class _SaysYes(BaseHTTPRequestHandler):
    """An endpoint whose model says yes to all but one text."""

    asked: list[str] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][-1]["content"]
        self.asked.append(prompt)
        said = "Perhaps." if "unclear" in prompt else "Yes."
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 9, "completion_tokens": 1}
        reply = {"id": "1", "model": "m", "choices": [choice], "usage": usage}
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def says_yes() -> Iterator[str]:
    _SaysYes.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _SaysYes)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def own_asking_kind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The second example of the page, found by an entry point as an installed package's is."""
    code = re.findall(r"```python\n(.*?)```", (FOLDER / "your-own.md").read_text(), re.S)[1]
    module = types.ModuleType("asking_package")
    exec(code, module.__dict__)
    monkeypatch.setitem(sys.modules, "asking_package", module)
    own = EntryPoint("yes_or_no", "asking_package:YesOrNo", registry.ENTRY_POINTS)

    def with_own(**wanted: str) -> EntryPoints:
        return EntryPoints([*entry_points(group=registry.ENTRY_POINTS), own]).select(**wanted)

    monkeypatch.setattr(registry, "entry_points", with_own)
    for cached in (registry._points, registry._loaded, registry.evaluators):
        cached.cache_clear()
    yield
    for cached in (registry._points, registry._loaded, registry.evaluators):
        cached.cache_clear()


@pytest.mark.django_db(transaction=True)
def test_the_example_that_asks_an_llm_is_estimated_run_and_stored(
    own_asking_kind: None, says_yes: str, small_project: Project
) -> None:
    project = small_project
    criteria = list(project.criteria.all())
    document = project.documents.get(doc_id="d1")
    document.outputs.filter(pk=document.outputs.first().pk).update(text="An unclear one.")  # type: ignore[union-attr]
    judge = Judge.objects.create(
        project=project,
        name="yes",
        kind="yes_or_no",
        endpoint=endpoint_at(project, says_yes),
        model="m",
        mode="direct",
        use_steps=True,
    )

    estimate = estimate_run(judge, criteria, fresh=False, transport="live")
    run = start_run(judge, criteria)
    work_on_run(run.pk, "tester")

    run.refresh_from_db()
    assert run.state == RunState.DONE
    assert estimate.calls == run.calls == len(_SaysYes.asked)
    assert set(run.scores.values_list("value", flat=True)) == {1.0}
    failed = run.items.filter(state="failed")
    assert failed.count() == len(criteria)
    assert all("perhaps." in item.detail for item in failed)
    assert not judge.rates_on_scale
