"""Answers of models in a file, so that no question is paid for twice."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import platformdirs

from geval.llm.calls import Answer
from geval.llm.probe import Findings
from geval.llm.reply_json import choices_from_json, choices_to_json

# A second program that judges with the same file writes meanwhile.
BUSY_SECONDS = 30.0
_TABLES = (
    "CREATE TABLE IF NOT EXISTS answers"
    " (key TEXT PRIMARY KEY, choices TEXT NOT NULL, model TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS findings"
    " (base_url TEXT, model TEXT, content TEXT NOT NULL, PRIMARY KEY (base_url, model))"
    " WITHOUT ROWID",
)


def usual_path() -> Path:
    """Where answers are kept unless somebody names a file: the cache folder of this account."""
    return Path(platformdirs.user_cache_dir("geval")) / "answers.sqlite3"


class KeptAnswers:
    """Answers by the digest of their requests, and what models were found to do.

    Each is written at once: a program that is stopped loses none. Keys of endpoints are never
    written.

    Args:
        path: of the file; None keeps answers in memory, for as long as this is open.
    """

    def __init__(self, path: Path | None) -> None:
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)  # answers may quote what nobody else is to read
        self.reused = 0
        # Calls are made in a thread of their own; it is the only one that uses the file.
        self._file = sqlite3.connect(
            path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._file.execute("PRAGMA journal_mode = WAL")
        # The last moments before a power cut may be asked again.
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
        """The answer to a request, which cost nothing; None if it was not asked before."""
        row = self._file.execute("SELECT choices, model FROM answers WHERE key = ?", (key,))
        kept = row.fetchone()
        if kept is None:
            return None
        self.reused += 1
        choices = choices_from_json(json.loads(kept[0]))
        return Answer(choices, kept[1], "", 0, 0, calls=0, seconds=0.0)

    def keep(self, key: str, choices: Any, model: str) -> None:
        """Keep the choices behind an answer."""
        content = json.dumps(choices_to_json(choices), ensure_ascii=False)
        self._file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, content, model))

    def findings(self, base_url: str, model: str) -> Findings | None:
        """What a model was found to do; None if nobody looked."""
        row = self._file.execute(
            "SELECT content FROM findings WHERE base_url = ? AND model = ?", (base_url, model)
        )
        kept = row.fetchone()
        return None if kept is None else Findings.from_json(json.loads(kept[0]))

    def keep_findings(self, base_url: str, model: str, content: Mapping[str, Any]) -> None:
        """Keep what a model was found to do."""
        self._file.execute(
            "INSERT OR REPLACE INTO findings VALUES (?, ?, ?)",
            (base_url, model, json.dumps(content)),
        )
