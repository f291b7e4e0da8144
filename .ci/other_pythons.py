"""Every other Python on this machine reads replies as this one does.

Early releases of 3.11 got some patterns of `re` wrong, and ratings were misread without an error.
What reads replies imports nothing that has to be installed, so any `python3.x` can run it: each one
on PATH and in /usr/bin gets the recorded replies and the texts in the tests of parsing, and must
give the same readings. Fails if one does not, or cannot.
"""

import ast
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "tests" / "data" / "recorded_replies.jsonl.gz"
WRITTEN = ROOT / "tests" / "data" / "replies"
TESTS_OF_READING = ("test_parsing.py", "test_cut_replies.py", "test_thoughts.py")
OLDEST = (3, 11)
READ = "--read"
# Without site-packages, the user's settings and the folder that is current.
ALONE = ("-I", "-S", "-X", "utf8")
SECONDS = 300
VERSION = "import sys; print(*sys.version_info[:3]); print(sys.base_prefix)"


def replies() -> Iterator[tuple[str, str, str]]:
    """Texts to read, each with a scale and a criterion."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["text"], record["scale"], record["criterion"]
    for file in sorted(WRITTEN.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            yield record["reply"], record["scale"], record["criterion"]
    for name in TESTS_OF_READING:
        source = (ROOT / "tests" / "judging" / name).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for scale in ("1-5", "0-1", "0-100"):
                    yield node.value, scale, "coherence"


def readings(texts: Iterable[tuple[str, str, str]]) -> list[list[Any]]:
    """What this Python reads in each: the rating, whole and cut, and evaluation steps."""
    sys.path.insert(0, str(ROOT))
    from geval.llm.parsing import Failure, parse_rating
    from geval.llm.replies import ReplyChoice
    from geval.llm.thoughts import without_thoughts
    from geval.llm.written_steps import StepsError, read_steps
    from geval.statistics.scales import parsed_scale

    rows: list[list[Any]] = []
    for text, scale, criterion in texts:
        row: list[Any] = []
        for finish_reason in ("stop", "length"):
            choice = without_thoughts(ReplyChoice(text, finish_reason))
            rating = parse_rating(choice, scale=parsed_scale(scale), criterion=criterion)
            row.append(rating.reason.value if isinstance(rating, Failure) else rating.value)
        try:
            row.append(read_steps(without_thoughts(ReplyChoice(text))))
        except StepsError as error:
            row.append(str(error))
        rows.append(row)
    return rows


def other_pythons() -> dict[Path, str]:
    """Each other release of Python that the site runs on, with its version."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin", "/usr/local/bin"]
    programs = sorted(
        program
        for folder in dict.fromkeys(folders)
        if folder and Path(folder).is_dir()
        for program in Path(folder).iterdir()
        if re.fullmatch(r"python3\.\d+", program.name)
    )
    versions: dict[Path, str] = {}
    prefixes = {sys.base_prefix}
    for program in programs:
        answer = subprocess.run(
            [program, *ALONE, "-c", VERSION],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if answer.returncode:
            continue  # a name that stands for no Python, such as one of pyenv's
        version, prefix = answer.stdout.splitlines()
        numbers = tuple(map(int, version.split()))
        if numbers >= OLDEST and prefix not in prefixes:
            versions[program] = ".".join(map(str, numbers))
            prefixes.add(prefix)
    return versions


def main() -> int:
    if READ in sys.argv:
        json.dump(readings(json.load(sys.stdin)), sys.stdout)
        return 0
    texts = list(replies())
    here = readings(texts)
    pythons = other_pythons()
    failed = False
    for program, version in pythons.items():
        answer = subprocess.run(
            [program, *ALONE, __file__, READ],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if answer.returncode:
            failed = True
            print(f"{program} ({version}) cannot read replies:\n{answer.stderr}")
            continue
        there = json.loads(answer.stdout)
        different = [
            (text, ours, theirs)
            for (text, *_), ours, theirs in zip(texts, here, there, strict=True)
            if ours != theirs
        ]
        failed = failed or bool(different)
        print(f"{program} ({version}) reads {len(different)} of {len(texts)} replies differently.")
        for text, ours, theirs in different[:10]:
            print(f"  {text[:200]!r}\n    here: {ours}\n    there: {theirs}")
    if not pythons:
        print("No other Python is on this machine.")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
