"""The items of a rubric as lines of text, which create, change and remove criteria."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from evaluations.corpus.removing import StillInUseError, remove_criterion
from evaluations.models import Criterion


@dataclass(frozen=True)
class ItemLine:
    """An item: `2 | Cites its sources | definition`. Weight (1) and definition may be left out."""

    name: str
    weight: float = 1.0
    definition: str = ""

    def __str__(self) -> str:
        # All digits, so that an unchanged line changes nothing.
        written = f"{self.weight}".removesuffix(".0") + f" | {self.name}"
        return f"{written} | {self.definition}" if self.definition else written

    @property
    def key(self) -> str:
        return self.name.lower()


def lines_of_items(rubric: Criterion) -> list[ItemLine]:
    """Return the items that a rubric has; definitions of several lines are one."""
    items = rubric.items.all() if rubric.pk else ()
    return [ItemLine(item.name, item.weight, _in_a_line(item.definition)) for item in items]


def read_items(text: str) -> list[ItemLine]:
    """Read a line for each item.

    Raises:
        ValidationError: a line has no name, or a name is there twice.
    """
    lines = [_read_item(line) for line in text.splitlines() if line.strip()]
    keys = [line.key for line in lines]
    if twice := [line.name for line in lines if keys.count(line.key) > 1]:
        raise ValidationError(f"“{twice[0]}” is there twice; keep one line.")
    return lines


def _read_item(line: str) -> ItemLine:
    first, bar, rest = (part.strip() for part in line.partition("|"))
    try:
        weight = float(first)
    except ValueError:
        weight, rest, bar = 1.0, line, "|"
    name, _, definition = (part.strip() for part in rest.partition("|"))
    if not bar or not name:
        raise ValidationError(
            f"“{line}” has no name; write for example “2 | Cites its sources | definition”."
        )
    return ItemLine(name, weight, _in_a_line(definition))


@transaction.atomic
def change_items(rubric: Criterion, lines: list[ItemLine]) -> None:
    """Create, change and remove the items of a rubric. A criterion of pass or fail that exists
    becomes an item.

    Raises:
        ValidationError: a line cannot be an item, or an item to remove has ratings, scores, runs or
            campaigns; nothing was changed.
    """
    existing = {each.name.lower(): each for each in rubric.project.criteria.all()}
    before = {line.key: line for line in lines_of_items(rubric)}
    wanted = {line.key for line in lines}
    for key in before.keys() - wanted:
        try:
            remove_criterion(existing[key])
        except StillInUseError as error:
            raise ValidationError(f"{error} Keep its line.") from None
    for line in lines:
        if before.get(line.key) == line:
            continue
        item = existing.get(line.key) or Criterion(
            project=rubric.project,
            name=line.name,
            scale_min=0,
            scale_max=1,
            allows_not_applicable=rubric.allows_not_applicable,
            position=len(existing) + len(lines),
        )
        if item.rubric_id not in (None, rubric.pk):
            raise ValidationError(f"{item} is an item of {item.rubric}; use another name.")
        # A criterion that becomes an item by its name alone keeps its definition.
        is_stated = bool(line.definition) or item.rubric_id is not None
        if is_stated and _in_a_line(item.definition) != line.definition:
            item.definition = line.definition
        item.rubric, item.weight = rubric, line.weight
        try:
            item.full_clean()
        except ValidationError as error:
            raise ValidationError(list(_in_words(line, error))) from None
        item.save()


def _in_words(line: ItemLine, error: ValidationError) -> Iterator[str]:
    for message in error.messages:
        yield f"“{line.name}”: {message}"


def _in_a_line(text: str) -> str:
    return " ".join(text.split())
