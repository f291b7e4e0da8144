"""The GitHub Action: a comment that is renewed, what changed since the base branch, exit codes. The
runner's side, its variables and the API, is made up here."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from geval.pipelines.github import main
from tests.conftest import CHECKOUT
from tests.measuring.conftest import made_up, written

MARK = "<!-- geval-site: verdicts -->"
OWN = "github-actions[bot]"
THEIRS = {"id": 1, "body": f"> {MARK}", "user": {"type": "User", "login": "ann"}}


class Comments:
    """The comments of a pull request, served as GitHub does."""

    def __init__(self, listed: list[dict[str, Any]]) -> None:
        self.listed = listed
        self.calls: list[tuple[str, str]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                status, content = outer.answer(self.command, self.path, body)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            do_GET = do_POST = do_PATCH = _answer  # noqa: N815 (names of http.server)

            def log_message(self, *_arguments: object) -> None: ...

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.is_forbidden = False
        self.own = OWN

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if path != "/graphql":
            self.calls.append((method, path.partition("?")[0]))
        if path == "/graphql":
            return 200, {"data": {"viewer": {"login": self.own}}}
        if method == "GET":
            page = int(path.rpartition("page=")[2])
            return 200, self.listed[100 * (page - 1) : 100 * page]
        if self.is_forbidden:
            return 403, {}
        if method == "POST":
            self.listed.append({"id": 900, "user": {"type": "Bot", "login": OWN}, **body})
        else:
            number = int(path.rpartition("/")[2])
            next(each for each in self.listed if each["id"] == number).update(body)
        return 200, {}


@pytest.fixture
def comments() -> Iterator[Comments]:
    made = Comments([dict(THEIRS)])
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose base branch has other ratings."""
    folder = tmp_path / "repository"
    folder.mkdir()
    written(folder, made_up(1))
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "base"],
        ["update-ref", "refs/remotes/origin/main", "HEAD"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(
    repository: Path, comments: Comments, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))

    def check(**inputs: str) -> tuple[int, str]:
        token = tmp_path / "token"
        token.write_text("secret\n")
        code = main(
            {
                "INPUT_FILES": "outputs.csv ratings.csv scores.csv",
                "INPUT_TOKEN_FILE": str(token),
                "GITHUB_API_URL": comments.address,
                "GITHUB_GRAPHQL_URL": f"{comments.address}/graphql",
                "GITHUB_REPOSITORY": "them/theirs",
                "GITHUB_SERVER_URL": "https://github.example",
                "GITHUB_RUN_ID": "5",
                "GITHUB_BASE_REF": "main",
                "GITHUB_EVENT_PATH": str(event),
                "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
                "GITHUB_OUTPUT": str(tmp_path / "output.txt"),
                **inputs,
            }
        )
        return code, capsys.readouterr().out

    return check


def test_the_first_run_writes_a_comment_and_later_ones_renew_it(
    run: Callable[..., tuple[int, str]], comments: Comments
) -> None:
    run()
    run(INPUT_TITLE="Again")

    assert len(comments.listed) == 2
    assert comments.listed[0] == THEIRS
    assert comments.listed[1]["body"].startswith("### Again")
    assert comments.listed[1]["body"].endswith(MARK)
    assert [method for method, _path in comments.calls] == ["GET", "POST", "GET", "PATCH"]


def test_a_comment_on_a_later_page_is_renewed_too(
    run: Callable[..., tuple[int, str]], comments: Comments
) -> None:
    comments.listed[:] = [
        {"id": n, "body": "hello", "user": {"type": "User", "login": "ann"}} for n in range(150)
    ]
    ours = {"type": "Bot", "login": OWN}
    comments.listed.append({"id": 500, "body": f"old\n{MARK}\n", "user": ours})

    run()

    assert comments.calls[-1] == ("PATCH", "/repos/them/theirs/issues/comments/500")


def test_two_checks_have_a_comment_each(
    run: Callable[..., tuple[int, str]], comments: Comments
) -> None:
    run()
    run(INPUT_NAME="answers")

    assert [each["body"].rpartition("\n")[2] for each in comments.listed[1:]] == [
        MARK,
        "<!-- geval-site: answers -->",
    ]


def test_it_says_what_changed_since_the_base_branch(
    run: Callable[..., tuple[int, str]], repository: Path
) -> None:
    unchanged = run()[1]
    scores = (repository / "scores.csv").read_text().splitlines()
    (repository / "scores.csv").write_text(
        "\n".join(line for line in scores if ",near," not in line) + "\n"
    )
    changed = run()[1]

    assert "| no |" in unchanged
    assert "was near" in changed
    assert "rho −" in changed.replace("-", "−")


@pytest.mark.parametrize(
    ("required", "code", "level"),
    [("raters>=3", 0, "notice"), ("raters>=4", 1, "error"), ("nonsense", 3, "error")],
)
def test_requirements_decide_the_exit_code(
    run: Callable[..., tuple[int, str]], required: str, code: int, level: str, tmp_path: Path
) -> None:
    ended, printed = run(INPUT_REQUIRE=f"{required}\n", INPUT_JUDGE="near")

    assert ended == code
    assert f"::{level} title=geval-site::" in printed
    if code != 3:
        assert f"exit-code={code}" in (tmp_path / "output.txt").read_text()
        assert "May the judge rate?" in (tmp_path / "summary.md").read_text()


def test_the_verdict_stands_where_no_comment_may_be_written(
    run: Callable[..., tuple[int, str]], comments: Comments
) -> None:
    comments.is_forbidden = True

    code, printed = run()

    assert code in (0, 1, 2)
    assert "::warning title=geval-site::The comment could not be written: 403" in printed


def test_names_in_files_cannot_break_the_table_or_mention_people(
    run: Callable[..., tuple[int, str]], repository: Path, comments: Comments
) -> None:
    for name in ("ratings.csv", "scores.csv"):
        path = repository / name
        path.write_text(path.read_text().replace("coherence", "a|b <img src=x> @all [x](http://y)"))

    _code, printed = run()

    body = comments.listed[1]["body"]
    (row,) = [line for line in body.splitlines() if "img" in line]
    assert row.replace("\\|", "").count("|") == 7
    assert "<img" not in row
    assert "@all" not in row
    assert "](http" not in row
    assert "::set-output" not in printed


def test_a_message_cannot_end_its_annotation(run: Callable[..., tuple[int, str]]) -> None:
    code, printed = run(INPUT_FILES="'no\n::error::such.csv'")

    assert code == 3
    assert printed.count("\n") == 1


def test_the_metadata_names_inputs_that_the_program_reads() -> None:
    text = (CHECKOUT / ".github/actions/check/action.yml").read_text()
    program = (CHECKOUT / "geval/pipelines/github.py").read_text()
    names = [line.split(":")[0].strip() for line in text.splitlines() if line.startswith("  ")
             and not line.startswith("   ") and line.rstrip().endswith(":")]  # fmt: skip

    for name in set(names) - {"exit-code", "package", "token", "site-token", "steps"}:
        assert f"INPUT_{name.upper().replace('-', '_')}: ${{{{ inputs.{name} }}}}" in text
        assert f'"{name.replace("-", "_")}"' in program
    assert all("@" in line and len(line.split("@")[1].split()[0]) == 40
               for line in text.splitlines() if "uses:" in line)  # fmt: skip
    steps = text.partition("steps:")[2]
    for line in steps.splitlines():
        if "run:" in line:
            assert "${{" not in line, "an input reaches a shell"
        if "python " in line:
            assert "python -I " in line, "a folder of the checkout would be a place for modules"
    for name in ("token", "site-token"):
        assert f"INPUT_{name.upper().replace('-', '_')}: " not in text


def test_it_runs_as_the_action_runs_it(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "geval.pipelines.github"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT),
             "INPUT_FILES": "outputs.csv ratings.csv scores.csv"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode in (0, 1, 2), done.stderr
    assert "| criterion | verdict |" in done.stdout


def test_a_link_is_not_followed(run: Callable[..., tuple[int, str]], repository: Path) -> None:
    (repository / "environ.csv").symlink_to("/proc/self/environ")
    (repository / "folder").symlink_to("/proc/self")
    (repository / "inside.csv").symlink_to("ratings.csv")

    for name in ("environ.csv", "folder/environ", "inside.csv"):
        code, printed = run(INPUT_FILES=name)
        assert (code, "is a link" in printed, "PATH" in printed) == (3, True, False)


def test_nothing_outside_the_checkout_is_read(
    run: Callable[..., tuple[int, str]], repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.csv").write_text("a secret\n")

    for name in ("../secret.csv", str(tmp_path / "secret.csv"), "/proc/self/environ"):
        code, printed = run(INPUT_FILES=name)
        assert code == 3
        assert "outside the checkout" in printed or "is a link" in printed
        assert "a secret" not in printed


@pytest.mark.parametrize(
    "content",
    [
        "one line {secret}",
        "doc_id,system_id,criterion,annotator,score\na,b,c,d,{secret}\n",
        "doc_id,system_id,criterion,annotator,score\na,b,c,{secret},4\na,b,c,{secret},5\n",
        '[{{"{secret}": 1}}]',
    ],
)
def test_errors_quote_thirty_letters(
    run: Callable[..., tuple[int, str]], repository: Path, content: str
) -> None:
    secret = "ghp_" + "0123456789" * 5
    (repository / "odd.csv").write_text(content.format(secret=secret))

    code, printed = run(INPUT_FILES="odd.csv")

    assert code == 3
    assert secret[:31] not in printed


def test_inputs_and_files_of_tokens_are_gone_when_files_are_read(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    seen: list[list[str]] = []
    monkeypatch.setattr("geval.pipelines.github.measure", lambda *_a, **_n: seen.append(
        [name for name in variables if name.startswith("INPUT_")]) or 1 / 0)  # fmt: skip
    variables = {"INPUT_FILES": "ratings.csv", "INPUT_TOKEN_FILE": str(token)}

    with pytest.raises(ZeroDivisionError):
        main(variables)

    assert (seen, token.exists()) == ([[]], False)


@pytest.mark.parametrize("own", [OWN, ""])
def test_a_comment_of_another_bot_stays(
    run: Callable[..., tuple[int, str]], comments: Comments, own: str
) -> None:
    comments.own = own
    other = {"type": "Bot", "login": "other[bot]"}
    comments.listed[:] = [{"id": 1, "body": f"theirs\n{MARK}", "user": other}]

    run()

    assert [each["body"].partition("\n")[0] for each in comments.listed] == [
        "theirs",
        "### May the judge rate?",
    ]


def test_a_comment_whose_author_is_gone_stays(
    run: Callable[..., tuple[int, str]], comments: Comments
) -> None:
    comments.listed[:] = [{"id": 1, "body": MARK, "user": None}, {**THEIRS, "id": 2, "body": None}]

    run()

    assert [method for method, _path in comments.calls] == ["GET", "POST"]


def test_the_token_follows_no_redirect(run: Callable[..., tuple[int, str]]) -> None:
    seen: list[str] = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            if self.path != "/there":
                self.send_response(302)
                self.send_header("Location", "/there")
            self.end_headers()

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_arguments: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        _code, printed = run(GITHUB_GRAPHQL_URL=address)
        server.shutdown()

    assert "/there" not in seen
    assert "The comment could not be written: 302" in printed


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("https://evil.example", "https:\u200b//evil.example"),
        ("www.evil.example", "www\u200b.evil.example"),
        ("**bold** _it_ ~~no~~", "\\*\\*bold\\*\\* \\_it\\_ \\~\\~no\\~\\~"),
        ("\\[x](y)", "\\\\\\[x\\]\\(y)"),
        ("them#1 GH-2", "them#\u200b1 GH\u200b-2"),
        ("fc46929e", "fc4692\u200b9e"),
        ("effaced facade", "effaced facade"),
    ],
)
def test_names_make_no_links_and_nothing_bold(
    run: Callable[..., tuple[int, str]], repository: Path, comments: Comments,
    name: str, written: str,
) -> None:  # fmt: skip
    for file in ("ratings.csv", "scores.csv"):
        path = repository / file
        path.write_text(path.read_text().replace("coherence", name))

    run()

    assert f"| {written} |" in comments.listed[1]["body"]
