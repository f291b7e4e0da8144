"""Convert rows of a database to records of an archive, and back: names instead of ids."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from geval.files.answers.pairs import with_ids, with_names
from geval.files.archive.record_file import (
    ArchiveError,
    NamedAnswer,
    RecordFile,
    Ref,
    Refs,
    WrongValueError,
)


def as_line(file: RecordFile, row: str, criteria: Mapping[int, str]) -> bytes:
    """Return a row as a line of its file, with names in its answers.

    Args:
        row: JSON; for a file with answers it has `systems`, and `outputs` with their ids.
        criteria: the names of criteria by id.
    """
    if not file.answers:
        return row.encode() + b"\n"
    record = orjson.loads(row)
    systems = dict(zip(record.pop("outputs"), record["systems"], strict=True))
    for name in file.answers:
        record[name] = with_names(record[name], criteria, systems)
    return orjson.dumps(record) + b"\n"


class ObsoleteError(Exception):
    """A record of something that this version no longer has, or a record that refers to one."""


class NewIds:
    """The new ids of each file's records, by its key and its other key."""

    def __init__(self) -> None:
        # Separate for each key, so that a number cannot be mistaken for a name.
        self._ids: dict[tuple[str, bool], dict[tuple[Any, ...], int | None]] = {}

    def begin(self, file: RecordFile) -> None:
        """Prepare for a file's rows, which may refer to earlier ones."""
        self._ids[file.name, False], self._ids[file.name, True] = {}, {}

    def keep(self, file: RecordFile, row: Mapping[str, Any], new_id: int | None) -> None:
        """Store the new id of a record, None if it is ignored, for rows that refer to it."""
        for key, is_other in ((file.key, False), (file.other_key, True)):
            if key:
                self._ids[file.name, is_other][tuple(row[name] for name in key)] = new_id

    def of(self, row: Mapping[str, Any], ref: Ref) -> Any:
        """Return the id of a record that a row refers to, or its name; None if the last of the
        fields is empty.

        Raises:
            ObsoleteError: that record was ignored.
            ArchiveError: there is no such record.
        """
        key = tuple(row[name] for name in ref.fields)
        if key[-1] is None:
            return None
        try:
            # In Python true equals 1, so it could be mistaken for a number.
            if any(isinstance(part, bool) for part in key):
                raise KeyError(key)
            new_id = self._ids[ref.table, ref.keeps_name][key]
            if new_id is None:
                raise ObsoleteError
            return key[-1] if ref.keeps_name else new_id
        except KeyError:
            shown = " ".join(
                f"{name} {value!r}" for name, value in zip(ref.fields, key, strict=True)
            )
            raise ArchiveError(
                f"{shown} is not in {ref.table}.jsonl. The archive is damaged."
            ) from None

    def of_outputs(self, row: Mapping[str, Any], refs: Refs) -> dict[str, int]:
        """Return the ids of a document's outputs by their systems."""
        of_output = Ref("outputs", ("doc_id", refs.field))
        return {name: self.of({**row, refs.field: name}, of_output) for name in row[refs.field]}

    def of_criteria(self) -> dict[str, int]:
        """Return the ids of criteria by their names."""
        criteria = self._ids["criteria", False].items()
        return {key[0]: pk for key, pk in criteria if pk is not None}


class RecordReader:
    """Reads the records of one file as values of its columns; errors have their line.

    Args:
        check: refuses a row, as `RecordFile.check` does.
    """

    def __init__(
        self, file: RecordFile, ids: NewIds, check: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self.file, self.ids, self.check = file, ids, check
        self.line = self.ignored = 0
        ids.begin(file)

    def values(self, record: Any, new_id: int) -> list[Any] | None:
        """Return the values of the columns for the next record, which gets this id; JSON as text.
        None if it is obsolete.

        Raises:
            ArchiveError: it cannot be used, or refers to a record that does not exist.
        """
        self.line += 1
        try:
            row = {**self.file.later, **record}
            if self.file.is_obsolete(row):
                self.ids.keep(self.file, row, None)
                raise ObsoleteError
            self.check(row)
            values = [self._value(row, field) for field in self.file.columns.values()]
            self.ids.keep(self.file, row, new_id)
            return values
        except ObsoleteError:
            self.ignored += 1
            return None
        except ArchiveError as error:
            raise self._error(str(error)) from None
        except WrongValueError as error:
            raise self._error(f"{str(error).rstrip('.')}. Correct it in that file.") from None
        except (KeyError, TypeError, AttributeError) as error:
            problem = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise self._error(f"{problem}. The archive is damaged.") from None

    def _value(self, row: Mapping[str, Any], field: str | Ref | Refs | NamedAnswer) -> Any:
        if isinstance(field, Refs):
            return list(self.ids.of_outputs(row, field).values())
        if isinstance(field, Ref):
            return self.ids.of(row, field)
        if isinstance(field, NamedAnswer):
            answer = row[field.field]
            named = with_ids(answer, self.ids.of_criteria(), self.ids.of_outputs(row, Refs()))
            return None if named is None else orjson.dumps(named).decode()
        value = row[field]
        if field in self.file.json and value is not None:
            return orjson.dumps(value).decode()
        return value

    def _error(self, problem: str) -> ArchiveError:
        return ArchiveError(f"{self.file.member}, line {self.line}: {problem}")
