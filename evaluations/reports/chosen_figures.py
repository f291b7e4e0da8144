"""The figures of one criterion and judge that a reader of a report has chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.utils.safestring import SafeString, mark_safe

from evaluations.models import Criterion
from evaluations.reports.serving.parts import ReportView
from geval.reports.drawings.drawn import drawings
from geval.reports.drawings.numbers import CriterionNumbers, JudgeNumbers
from geval.reports.drawings.rendering import as_page_part, can_draw_pictures
from geval.reports.drawings.shapes import WIDTHS_MM, Drawing
from geval.reports.options import ReportOptions

# File endings of downloads with their names; pictures need an extra of the package.
ALWAYS = (("svg", "SVG"), ("tex", "LaTeX"))
PICTURES = (("pdf", "PDF"), ("png", "PNG"))


# The name and address of a link.
Download = tuple[str, str]


@dataclass(frozen=True)
class ShownDrawing:
    """A figure on a page: the drawing, the HTML element, and its downloads by width in
    millimetres."""

    drawing: Drawing
    picture: SafeString
    downloads: tuple[tuple[int, tuple[Download, ...]], ...]


def downloads_of(
    base: str, kind: str, criterion: int, judge: int, options: ReportOptions
) -> tuple[tuple[int, tuple[Download, ...]], ...]:
    """Return the downloads of a figure, by width in millimetres.

    Args:
        base: the address of the report, with a slash at its end.
    """
    place = f"{base}drawing/{kind}/{criterion}/{judge}"
    endings = (ALWAYS[0], PICTURES[0], ALWAYS[1], PICTURES[1]) if can_draw_pictures() else ALWAYS

    def address(ending: str, wide: int) -> str:
        pairs = [*options.pairs, *([] if wide == WIDTHS_MM[0] else [("mm", wide)])]
        return f"{place}/{ending}/{'?' if pairs else ''}{urlencode(pairs)}"

    return tuple(
        (wide, tuple((name, address(ending, wide)) for ending, name in endings))
        for wide in WIDTHS_MM
    )


@dataclass
class ChosenFigures:
    """The chosen figures, computed when first accessed.

    Args:
        criterion_pk, judge_pk: ids from the address; None, or an unknown id, means the first
            criterion of the view and its best judge.
        base: the address of the report, with a slash at its end.
        may_open: whether circles link to their texts.
    """

    view: ReportView
    criteria: Sequence[Criterion]
    criterion_pk: int | None
    judge_pk: int | None
    base: str
    may_open: bool

    @property
    def key(self) -> str:
        """A key that differs between choices."""
        return f"{self.criterion_pk}-{self.judge_pk}"

    @cached_property
    def in_view(self) -> list[Criterion]:
        return [about for about in self.criteria if self.view.options.shows(about.pk)]

    @cached_property
    def criterion(self) -> Criterion | None:
        by_pk = {criterion.pk: criterion for criterion in self.in_view}
        return by_pk.get(self.criterion_pk or 0) or next(iter(self.in_view), None)

    @cached_property
    def numbers(self) -> CriterionNumbers | None:
        return self.view.figure_numbers(self.criterion.pk) if self.criterion else None

    @cached_property
    def judge(self) -> JudgeNumbers | None:
        return self.numbers.judge(self.judge_pk) if self.numbers else None

    @cached_property
    def figures(self) -> list[ShownDrawing]:
        """All figures of the choice, drawn."""
        if self.numbers is None or self.judge is None:
            return []
        address = self._outputs_behind if self.may_open else None
        return [self._shown(drawing) for drawing in drawings(self.numbers, self.judge, address)]

    @property
    def lacks_pictures(self) -> bool:
        """Whether PNG and PDF cannot be downloaded from this site."""
        return not can_draw_pictures()

    @property
    def query(self) -> str:
        """The query string of this choice."""
        chosen = {"drawn": self.criterion_pk, "by": self.judge_pk}
        query = [(name, value) for name, value in chosen.items() if value]
        return urlencode([*self.view.options.pairs, *query])

    def _shown(self, drawing: Drawing) -> ShownDrawing:
        assert self.criterion is not None
        assert self.judge is not None
        return ShownDrawing(
            drawing,
            mark_safe(as_page_part(drawing)),  # noqa: S308 (escaped where it is put together)
            downloads_of(
                self.base, drawing.kind, self.criterion.pk, self.judge.pk, self.view.options
            ),
        )

    def _outputs_behind(self, human: float, score: float) -> str:
        assert self.criterion is not None
        assert self.judge is not None
        query = [*self.view.options.pairs, ("human", f"{human:g}"), ("score", f"{score:g}")]
        return f"{self.base}bubble/{self.criterion.pk}/{self.judge.pk}/?{urlencode(query)}"
