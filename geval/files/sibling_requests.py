"""Find the requests of a batch's results in the other files of a load."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from geval.files.opening import open_packed
from geval.files.packed import UNREADABLE
from geval.files.records import Objects, records_of
from geval.files.rows import FileErrors
from geval.files.tools.batches import REQUEST, is_request, is_result


class SiblingRequests:
    """Requests by their `custom_id`; files are read when the first result needs one."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files

    def put_into(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add the request that a result answers; any other record stays unchanged."""
        if not is_result(record):
            return record
        name = record["custom_id"]
        request = self._by_name.get(name) if isinstance(name, str) else None
        return record if request is None else {**record, REQUEST: request}

    @cached_property
    def _by_name(self) -> dict[str, Mapping[str, Any]]:
        by_name: dict[str, Mapping[str, Any]] = {}
        for path in self.files:
            with suppress(*UNREADABLE), open_packed(path) as raw:
                records = records_of(raw, path.name, FileErrors(most=0))
                if not isinstance(records, Objects):
                    continue
                for _, record in records.lines:
                    if not is_request(record):
                        break  # not a file of requests
                    by_name[str(record["custom_id"])] = record
        return by_name
