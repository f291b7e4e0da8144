"""The stand-in's files and batches: kept in memory, completed after a while, in the format of
OpenAI's API."""

import time
from collections.abc import Callable
from typing import Any

import orjson

Answer = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]


class Batches:
    """Uploaded files, and batches that are completed `seconds` after they were started."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self._started: dict[str, float] = {}

    def upload(self, name: str, content: bytes) -> dict[str, Any]:
        """Store a file; return its record."""
        file_id = f"file-{len(self.files) + 1}"
        self.files[file_id] = content
        return {
            "id": file_id,
            "object": "file",
            "bytes": len(content),
            "created_at": 0,
            "filename": name,
            "purpose": "batch",
            "status": "processed",
        }

    def start(self, file_id: str, metadata: dict[str, Any]) -> dict[str, Any]:
        """Start a batch; return its record."""
        batch_id = f"batch-{len(self.batches) + 1}"
        self._started[batch_id] = time.monotonic()
        self.batches[batch_id] = {
            "id": batch_id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": file_id,
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "metadata": metadata,
            "status": "in_progress",
        }
        return self.batches[batch_id]

    def look(self, batch_id: str, answer: Answer) -> dict[str, Any] | None:
        """Return a batch's record, after answering its requests if they are due; None if there is
        no such batch."""
        batch = self.batches.get(batch_id)
        if batch and batch["status"] == "in_progress" and self._is_due(batch_id):
            good, bad = self._answered(self.files[batch["input_file_id"]], answer)
            batch["status"] = "completed"
            for name, lines in (("output", good), ("error", bad)):
                if lines:
                    batch[f"{name}_file_id"] = f"{batch_id}-{name}"
                    self.files[f"{batch_id}-{name}"] = b"\n".join(lines)
        return batch

    def _is_due(self, batch_id: str) -> bool:
        return time.monotonic() - self._started[batch_id] >= self.seconds

    def _answered(self, content: bytes, answer: Answer) -> tuple[list[bytes], list[bytes]]:
        good: list[bytes] = []
        bad: list[bytes] = []
        for number, line in enumerate(content.splitlines()):
            request = orjson.loads(line)
            status, body = answer(request["body"])
            result = {
                "id": f"line-{number}",
                "custom_id": request["custom_id"],
                "response": {
                    "status_code": status,
                    "request_id": f"batched-{number}",
                    "body": body,
                },
                "error": None,
            }
            (good if status == 200 else bad).append(orjson.dumps(result))
        return good, bad
