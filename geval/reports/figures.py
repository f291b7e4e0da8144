"""Figures for Plotly as plain dictionaries, with the same numbers as a table.

Colours are named by their design token ("--human", "--llm", "series:2"); the page's script puts in
the theme's values.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geval.reports.data import ReportData
from geval.reports.report import CriterionResult, JudgeResult
from geval.statistics.arrays import Outputs
from geval.statistics.scales import Scale, short
from geval.statistics.types import FloatArray
from geval.texts.numbers import in_brackets, signed, two_decimals
from geval.texts.sentences import listed
from geval.texts.subjects import CriterionLike

# A browser can draw a few thousand points; of more a fixed random sample is shown, and the page
# says so.
MOST_POINTS = 3000
# Browsers lay out longer tables slowly.
TABLE_ROWS = 2000
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "cross",
    "triangle-up",
    "x",
    "star",
    "triangle-down",
    "pentagon",
)
BINS = 21
# 0 to 10 has a bar per point; finer scales would have many empty ones.
MOST_BARS = 11
PEOPLE = "people"
# Fields of a trace that contain user-given names.
LABELS = frozenset({"name", "x", "y", "text"})
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True)
class Figure:
    """A chart: its kind, a sentence with its finding, Plotly's traces and layout, and its numbers
    as rows."""

    title: str
    caption: str
    traces: list[dict[str, Any]]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    layout: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON that the page's script draws. Names are escaped: Plotly would interpret
        links and tags in them."""
        traces = [
            {key: as_label(value) if key in LABELS else value for key, value in trace.items()}
            for trace in self.traces
        ]
        return {
            "title": self.title,
            "caption": self.caption,
            "traces": traces,
            "layout": self.layout,
        }


def as_label(value: Any) -> Any:
    """Escape a text, or each text of a list, so that Plotly shows it literally and our script does
    not take it for a colour."""
    if isinstance(value, list):
        return [as_label(part) for part in value]
    if not isinstance(value, str):
        return value
    escaped = value.translate(_ENTITIES)
    return f"&#{ord(value[0])};{escaped[1:]}" if value.startswith(("--", "series:")) else escaped


@dataclass(frozen=True)
class Subject:
    """The input of a figure: a criterion with its result and the numbers behind it."""

    criterion: CriterionLike
    result: CriterionResult
    data: ReportData

    def scores(self, judge: JudgeResult) -> FloatArray:
        return self.data.judges[self.criterion.pk, judge.pk]

    @property
    def human(self) -> FloatArray:
        return self.data.humans[self.criterion.pk].mean

    @property
    def outputs(self) -> Outputs:
        """The outputs, by session where there are sessions, with the weights of rated outputs."""
        return self.data.units_on(self.criterion.pk)

    @property
    def on_scale(self) -> tuple[tuple[int, JudgeResult], ...]:
        """The judges whose scores are on the criterion's scale, each with the number of its
        colour."""
        numbered = enumerate(self.result.judges)
        return tuple(pair for pair in numbered if pair[1].analysis.on_scale)

    @property
    def sides_on_scale(self) -> dict[str, tuple[str, FloatArray]]:
        """People and the judges on the criterion's scale: colour and values by name."""
        return {PEOPLE: ("--human", self.human)} | {
            judge.named: (colour(index), self.scores(judge)) for index, judge in self.on_scale
        }

    @property
    def left_out(self) -> str:
        """A sentence about the judges on other scales, which cannot share an axis with people."""
        names = [judge.named for judge in self.result.judges if not judge.analysis.on_scale]
        if not names:
            return ""
        are = "is left out because its" if len(names) == 1 else "are left out because their"
        return (
            f" {listed(names)} {are} scores are on another scale than people's"
            f" ({self.criterion.scale})."
        )

    @property
    def sides(self) -> dict[str, FloatArray]:
        """The mean ratings of people and the scores of each judge, by name."""
        return {PEOPLE: self.human} | {
            judge.named: self.scores(judge) for judge in self.result.judges
        }


def title_of(subject: Subject, kind: str) -> str:
    return f"{subject.criterion.name}: {FIGURE_TITLES[kind]}"


def colour(index: int) -> str:
    return f"series:{index}"


def scatter(subject: Subject) -> Figure:
    """Human mean and judge's score with marginals, and the density of the best judge's."""
    human, name = subject.human, subject.criterion.name
    traces: list[dict[str, Any]] = []
    rows: list[tuple[str, ...]] = []
    best = subject.result.best or next(iter(subject.result.judges), None)
    left_out = 0
    for index, judge in enumerate(subject.result.judges):
        scores = subject.scores(judge)
        indexes = np.flatnonzero(~np.isnan(human) & ~np.isnan(scores))
        shown = _sample(indexes)
        left_out += len(indexes) - len(shown)
        x, y = np.round(human[shown], 4).tolist(), np.round(scores[shown], 4).tolist()
        texts = [" · ".join(subject.data.name_of(output)) for output in shown]
        is_best = best is not None and judge.pk == best.pk
        visible = True if is_best else "legendonly"
        if is_best:
            traces.append(_density(x, y))
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": judge.named, "x": x, "y": y,
                "text": texts,
                "hovertemplate": "%{text}<br>people %{x:.2f}, judge "
                                 "%{y:.2f}<extra>%{fullData.name}</extra>",
                "visible": visible,
                "marker": {"color": colour(index), "symbol": SYMBOLS[index % len(SYMBOLS)],
                    "size": 7, "opacity": 0.6},
            }
        )  # fmt: skip
        if is_best:
            traces.append(_marginal("x", x, "--human", "people"))
            traces.append(_marginal("y", y, colour(index), judge.named))
        rows.extend(
            (judge.named, *text.split(" · ", 1), two_decimals(a), two_decimals(b))
            for text, a, b in zip(texts, x, y, strict=True)
        )
    scale = subject.criterion.scale
    label = subject.result.options.human_score_label
    pad = (scale.highest - scale.lowest) * 0.05
    sampled = f" A random sample is drawn; {left_out} marks are left out." if left_out else ""
    return Figure(
        title=title_of(subject, "scatter"),
        caption=f"Each mark is an output: {label} on {name}, and judge's score. The shade "
        "shows where most of the best judge's outputs are; the bars show how often each "
        f"value was given.{sampled}",
        traces=traces,
        layout={
            "xaxis": {
                "title": {"text": f"{label} ({short(scale.lowest)}-{short(scale.highest)})"},
                "range": [scale.lowest - pad, scale.highest + pad],
                "domain": [0, 0.86],
            },
            "yaxis": {"title": {"text": "judge's score"}, "domain": [0, 0.86]},
            "xaxis2": {"domain": [0.88, 1], "showticklabels": False},
            "yaxis2": {"domain": [0.88, 1], "showticklabels": False},
            "barmode": "overlay",
        },
        columns=("judge", "document", "system", "human score", "judge's score"),
        rows=tuple(rows[:TABLE_ROWS]),
    )


def _density(x: list[float], y: list[float]) -> dict[str, Any]:
    return {
        "type": "histogram2d", "x": x, "y": y, "nbinsx": 24, "nbinsy": 24, "showscale": False,
        "zsmooth": "best", "hoverinfo": "skip",
        "colorscale": [[0, "rgba(0,0,0,0)"], [1, "--llm"]], "opacity": 0.5, "name": "density",
    }  # fmt: skip


def _marginal(axis: str, values: list[float], token: str, name: str) -> dict[str, Any]:
    placed = {"x": values, "yaxis": "y2"} if axis == "x" else {"y": values, "xaxis": "x2"}
    return {
        "type": "histogram", "name": name, "showlegend": False, "marker": {"color": token},
        "opacity": 0.7,
        f"nbins{axis}": BINS, **placed,
    }  # fmt: skip


def documents(subject: Subject) -> Figure:
    """Return the distribution of the rank correlation over documents, for each judge."""
    traces: list[dict[str, Any]] = []
    rows: list[tuple[str, ...]] = []
    for index, judge in enumerate(subject.result.judges):
        values = judge.correlations.by_document["spearman"]
        defined = values[~np.isnan(values)]
        traces.append(
            {
                "type": "box", "name": judge.named, **box_of(defined), "boxmean": True,
                "marker": {"color": colour(index)},
            }
        )  # fmt: skip
        rows.extend(
            (judge.named, subject.data.doc_ids[position], two_decimals(values[position]))
            for position in np.flatnonzero(~np.isnan(values))
        )
    return Figure(
        title=title_of(subject, "documents"),
        caption=(
            "Spearman's rho within each document. The line in a box is the median, the dashed line"
            " the mean."
        ),
        traces=traces,
        layout={
            "yaxis": {"title": {"text": "rho within a document"}, "range": [-1.05, 1.05]},
            "showlegend": False,
        },
        columns=("judge", "document", "rho"),
        rows=tuple(rows[:TABLE_ROWS]),
    )


def box_of(values: FloatArray) -> dict[str, Any]:
    """Return the input of a Plotly box: the values, or if there are too many for a browser their
    summary, without outliers."""
    if len(values) <= MOST_POINTS:
        return {"y": np.round(values, 4).tolist()}
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], method="hazen")  # as Plotly does
    reach = 1.5 * (high - low)
    shown = {
        "q1": low,
        "median": middle,
        "q3": high,
        "mean": values.mean(),
        "lowerfence": values[values >= low - reach].min(),
        "upperfence": values[values <= high + reach].max(),
    }
    return {name: [round(float(value), 4)] for name, value in shown.items()}


def scores(subject: Subject) -> Figure:
    """Draw how often each value was given, by people and by each judge."""
    edges, names = _bins(subject.criterion.scale)
    traces: list[dict[str, Any]] = []
    rows: list[tuple[str, ...]] = []
    for name, (token, given) in subject.sides_on_scale.items():
        defined = given[~np.isnan(given)]
        weight = subject.data.humans[subject.criterion.pk].weight if name == PEOPLE else None
        weights = None if weight is None else weight[~np.isnan(given)]
        counts, _ = np.histogram(np.clip(defined, edges[0], edges[-1]), bins=edges, weights=weights)
        total = len(defined) if weights is None else weights.sum()
        shares = (counts / max(1, total)).round(4).tolist()
        traces.append(
            {"type": "bar", "name": name, "x": names, "y": shares, "marker": {"color": token}}
        )
        rows.extend(
            (name, point, f"{share:.1%}") for point, share in zip(names, shares, strict=True)
        )
    return Figure(
        title=title_of(subject, "scores"),
        caption=(
            "The share of outputs with each score, to the nearest point of the scale. A judge that "
            "almost always gives the same score hardly ranks outputs." + subject.left_out
        ),
        traces=traces,
        layout={
            "xaxis": {"title": {"text": "score"}, "type": "category"},
            "yaxis": {"title": {"text": "share"}, "tickformat": ".0%"},
            "barmode": "group",
        },
        columns=("by", "score", "share"),
        rows=tuple(rows),
    )


def _bins(scale: Scale) -> tuple[np.ndarray, list[str]]:
    """Return a bin around each point of a scale with few points, else ten ranges, with their
    names."""
    if len(scale.points) <= MOST_BARS:
        points = np.array(scale.points)
        return np.append(points - scale.step / 2, points[-1] + scale.step / 2), [
            short(point) for point in scale.points
        ]
    edges = np.linspace(scale.lowest, scale.highest, 11)
    return edges, [f"{low:.3g}–{high:.3g}" for low, high in itertools.pairwise(edges)]


def _reach(end: float | None, middle: float) -> float:
    return 0.0 if end is None else round(abs(end - middle), 4)


WRITER_GROUPS = {
    "human": "people prefer the human's",
    "equal": "people see no difference",
    "llm": "people prefer the LLM's",
}


def writers(subject: Subject) -> Figure:
    """Figure 2 of Liu et al. (2023): scores of human- and LLM-written texts by which of them people
    prefer."""
    traces: list[dict[str, Any]] = []
    rows: list[tuple[str, ...]] = []
    for index, judge in subject.on_scale:
        bias = judge.analysis.writers
        if bias is None:
            continue
        names = [WRITER_GROUPS[name] for name in bias.groups]
        gaps = [group.gap for group, _ in bias.groups.values()]
        above = [_reach(interval.high, group.gap) for group, interval in bias.groups.values()]
        below = [_reach(interval.low, group.gap) for group, interval in bias.groups.values()]
        traces.append(
            {
                "type": "bar", "name": judge.named, "x": names, "y": np.round(gaps, 4).tolist(),
                "marker": {"color": colour(index)},
                "error_y": {
                    "type": "data", "symmetric": False,
                    "array": above, "arrayminus": below,
                },
            }
        )  # fmt: skip
        for name, (group, interval) in bias.groups.items():
            rows.append(
                (judge.named, WRITER_GROUPS[name], two_decimals(group.human_written),
                    two_decimals(group.llm_written),
                 f"{signed(group.gap)} {in_brackets(interval)}", str(group.pairs))
            )  # fmt: skip
    return Figure(
        title=title_of(subject, "writers"),
        caption=(
            "How much higher a judge scores the LLM's text than the human's for the same document, "
            "by which of them people prefer. A value above 0 where people prefer the human's text "
            "means that the judge favours LLMs." + subject.left_out
        ),
        traces=traces,
        layout={"yaxis": {"title": {"text": "LLM's minus human's score"}}, "barmode": "group"},
        columns=("judge", "group", "human-written", "LLM-written", "difference", "pairs"),
        rows=tuple(rows),
    )


FIGURE_TITLES = {
    "scatter": "output by output",
    "documents": "document by document",
    "scores": "distribution of scores",
    "writers": "human- and LLM-written texts",
}
# In the page's order.
FIGURES: dict[str, Callable[[Subject], Figure]] = {
    "scatter": scatter,
    "documents": documents,
    "scores": scores,
    "writers": writers,
}


def figures_of(result: CriterionResult) -> list[str]:
    """Return the figures of a criterion that have something to show, in order."""
    has_writers = any(judge.analysis.writers and judge.analysis.on_scale for judge in result.judges)
    return [name for name in FIGURES if name != "writers" or has_writers]


def _sample(places: np.ndarray) -> np.ndarray:
    if len(places) <= MOST_POINTS:
        return places
    chosen = np.random.default_rng(0).choice(len(places), MOST_POINTS, replace=False)
    return np.asarray(places[np.sort(chosen)])
