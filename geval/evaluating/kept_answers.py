"""Models' answers in a file, so that no question is paid for twice."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import platformdirs

from geval.llm.calls import Answer
from geval.llm.findings import Findings
from geval.llm.reply_structure import choices_from_json, choices_to_json

# Another program that uses the same file may be writing.
BUSY_SECONDS = 30.0
_TABLES = (
    "CREATE TABLE IF NOT EXISTS answers"
    " (key TEXT PRIMARY KEY, choices TEXT NOT NULL, model TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS findings"
    " (base_url TEXT, model TEXT, content TEXT NOT NULL, PRIMARY KEY (base_url, model))"
    " WITHOUT ROWID",
)


def usual_path() -> Path:
    """Return the default file of answers, in this account's cache folder."""
    return Path(platformdirs.user_cache_dir("geval")) / "answers.sqlite3"


class KeptAnswers:
    """Answers by the digest of their requests, and findings of probes.

    Each is written immediately, so that a stopped program loses none. Endpoints' keys are never
    written.

    Args:
        path: the file's path; None keeps answers in memory while this is open.
    """

    def __init__(self, path: Path | None) -> None:
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)  # answers may quote private texts
        self.reused = 0
        # Calls are made in a separate thread, the only one that uses the file.
        self._file = sqlite3.connect(
            path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._file.execute("PRAGMA journal_mode = WAL")
        # The answers of the last moments before a power cut may be lost.
        self._file.execute("PRAGMA synchronous = NORMAL")
        for table in _TABLES:
            self._file.execute(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def answer(self, key: str) -> Answer | None:
        """Return the stored answer to a request, at no cost; None if there is none, or it is
        damaged, so that it is asked again."""
        row = self._file.execute("SELECT choices, model FROM answers WHERE key = ?", (key,))
        kept = row.fetchone()
        if kept is None:
            return None
        try:
            choices = choices_from_json(json.loads(kept[0]))
        except (ValueError, TypeError, KeyError, AttributeError):
            choices = ()
        if not choices:
            return None
        self.reused += 1
        return Answer(choices, kept[1], "", 0, 0, calls=0, seconds=0.0)

    def keep(self, key: str, choices: Any, model: str) -> None:
        """Store the choices of an answer."""
        content = json.dumps(choices_to_json(choices), ensure_ascii=False)
        self._file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, content, model))

    def findings(self, base_url: str, model: str) -> Findings | None:
        """Return the findings of a model's probe; None if it was not probed, or they are
        damaged."""
        row = self._file.execute(
            "SELECT content FROM findings WHERE base_url = ? AND model = ?", (base_url, model)
        )
        kept = row.fetchone()
        try:
            return None if kept is None else Findings.from_json(json.loads(kept[0]))
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def keep_findings(self, base_url: str, model: str, content: Mapping[str, Any]) -> None:
        """Store the findings of a model's probe."""
        self._file.execute(
            "INSERT OR REPLACE INTO findings VALUES (?, ?, ?)",
            (base_url, model, json.dumps(content)),
        )
