"""The definition of a file of an archive: its columns, the rules for its records, and
errors with messages for users."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Ref:
    """A column that points to a record of another file, identified by these fields of the row; it
    gets the record's new id, or with `keeps_name` keeps a name that is the same on every site."""

    table: str
    fields: tuple[str, ...]
    keeps_name: bool = False


@dataclass(frozen=True)
class Refs:
    """A column of ids: of a document's outputs, by the systems that `field` lists."""

    field: str = "systems"


@dataclass(frozen=True)
class NamedAnswer:
    """A column with an answer, which has names instead of ids in the file; the row has `systems`
    with the names of the item's outputs, and `outputs` with their ids, which are not written."""

    field: str


Column = str | Ref | Refs | NamedAnswer
Columns = dict[str, Column]


def same(names: str) -> Columns:
    """Return columns whose fields have the same names as in the database."""
    return {name: name for name in names.split()}


def answers(names: str) -> Columns:
    """Return columns with answers under the same names."""
    return {name: NamedAnswer(name) for name in names.split()}


@dataclass(frozen=True)
class Halted:
    """States of work in progress, which records of an archive cannot have: the state to write
    instead, and the reason for an error."""

    states: tuple[str, ...]
    becomes: str
    why: str


@dataclass(frozen=True)
class RecordFile:
    """One file: the field of each column, by the column's name in the database.

    `key` are the fields by which rows of other files identify its records, `other_key` those that
    some of them use. `json` has the shape of each JSON field. `later` are fields that older
    archives lack, with their values. `rule` refuses a record with inconsistent fields. Records that
    are obsolete, and those that refer to one, are ignored.
    """

    name: str
    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    other_key: tuple[str, ...] = ()
    json: Mapping[str, TypeAdapter[Any]] = field(default_factory=dict)
    later: Row = field(default_factory=dict)
    halted: Halted | None = None
    rule: Callable[[Row], None] | None = None
    is_obsolete: Callable[[Row], bool] = field(default=lambda _row: False)

    @property
    def member(self) -> str:
        """Its name in the zip."""
        return f"{self.name}.jsonl"

    @cached_property
    def answers(self) -> list[str]:
        """The fields with answers."""
        return [column.field for column in self.columns.values() if isinstance(column, NamedAnswer)]

    def check(self, row: Row) -> None:
        """Check what involves several fields of a record, and its state.

        Raises:
            WrongValueError: the record cannot be used as it is.
            KeyError: a field is missing.
        """
        if self.halted and row["state"] in self.halted.states:
            raise WrongValueError(f"state is {row['state']!r}; {self.halted.why}")
        if self.rule:
            self.rule(row)


TO_OUTPUT = Ref("outputs", ("doc_id", "system_id"))
TO_RIVAL_OUTPUT = Ref("outputs", ("doc_id", "rival"))
TO_CRITERION = Ref("criteria", ("criterion",))
TO_JUDGE = Ref("judges", ("judge", "version"))
TO_RIVAL = Ref("judges", ("rival", "rival_version"))
TO_RUN = Ref("runs", ("run",))
TO_CAMPAIGN = Ref("campaigns", ("campaign",))
TO_ANNOTATOR = Ref("annotators", ("annotator",))
TO_ANSWER = Ref("answers", ("answer_id",))
TO_STUDY = Ref("studies", ("study",))
TO_SEARCH = Ref("searches", ("search",))
TO_ITEM = Ref("campaign_items", ("campaign", "position"))


class ArchiveError(ValueError):
    """An invalid archive; the message says where and what to do. Nothing was written."""


class WrongValueError(ValueError):
    """A value that no form would accept; the message says what is wrong with it."""
