"""A table of the verdicts of two reports, in Markdown. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from geval.reports.verdicts.expert import FOUND_AND_KEPT
from geval.reports.verdicts.verdict import USABLE, Verdict
from geval.statistics.resampling import Interval
from geval.texts.numbers import in_brackets, or_dash, signed

# The end of the comment, by which a later run finds it.
MARK = "<!-- geval-site: {name} -->"
HEAD = (
    "| criterion | verdict | judge | agreement | one rater | changed |\n|---|---|---|---|---|---|"
)


class LineFigure(NamedTuple):
    """A figure of the best judge, by its name; None where undefined."""

    name: str
    value: float | None
    interval: tuple[float, float] | None

    def __str__(self) -> str:
        interval = in_brackets(Interval(*self.interval)) if self.interval else ""
        return f"{self.name} {or_dash(self.value)} {interval}".rstrip()


@dataclass(frozen=True)
class VerdictLine:
    """A criterion of a report: its verdict, the best judge, what its verdict is by, and one rater's
    correlation. `figures` are what the judge finds and keeps on pass or fail, or weighted kappa, by
    an expert's labels; kappa and the weakest label where labels have no order; else rho."""

    criterion: str
    verdict: Verdict
    judge: str
    figures: tuple[LineFigure, ...]
    one_rater: float | None = None

    @property
    def is_usable(self) -> bool:
        """Whether a judge may rate, alone or with spot checks."""
        return self.verdict in USABLE


def verdict_lines(report: Mapping[str, Any]) -> list[VerdictLine]:
    """Read the verdicts in a report's JSON (`report --format json`), in order."""
    view = report["view"]
    lines = [
        _line(name, content, view["coefficient"], view["level"])
        for name, content in report["criteria"].items()
    ]
    return lines + [_line_of_labels(each) for each in report.get("labels", ()) if each["judges"]]


def _line(name: str, content: Mapping[str, Any], coefficient: str, level: str) -> VerdictLine:
    verdict = content["verdict"]
    judge = verdict.get("judge") or ""
    numbers = content["judges"].get(judge, {})
    value = numbers.get(coefficient, {}).get(level, {}).get("value")
    figures: tuple[LineFigure, ...]
    figures = (LineFigure("rho", value, _ends(numbers.get("view_interval"))),)
    one_rater = (verdict.get("one_rater") or {}).get("value")
    passing, by_labels = numbers.get("pass_fail"), verdict.get("by_labels")
    if by_labels and passing:
        names = FOUND_AND_KEPT[passing["class_to_find"] == "pass"]
        shares = zip(names, ("sensitivity", "specificity"), strict=True)
        figures = tuple(_figure(name, passing[share]) for name, share in shares)
    elif by_labels:
        figures = (_figure("weighted kappa", by_labels["weighted_kappa_of_the_judge"]),)
    return VerdictLine(name, Verdict(verdict["verdict"]), judge, figures, one_rater)


def _line_of_labels(content: Mapping[str, Any]) -> VerdictLine:
    best = content["judges"][0]
    shares = [
        _figure(f"{name} found", of["recall"])
        for name, of in best["by_label"].items()
        if of["recall"]["value"] is not None
    ]
    weakest = sorted(shares, key=lambda figure: figure.value or 0.0)[:1]
    figures = (_figure("kappa", best["kappa"]), *weakest)
    verdict = next(each for each in Verdict if each.label == best["verdict"])
    return VerdictLine(content["criterion"], verdict, best["judge"], figures)


def _figure(name: str, content: Mapping[str, Any]) -> LineFigure:
    return LineFigure(name, content["value"], _ends(content["ci"]))


def _ends(interval: Sequence[float] | None) -> tuple[float, float] | None:
    return None if interval is None else (interval[0], interval[1])


def comment(
    title: str,
    lines: Sequence[VerdictLine],
    before: Sequence[VerdictLine] | None,
    *,
    required: Sequence[str] = (),
    link: str = "",
    name: str = "verdicts",
) -> str:
    """Return the comment for a pull request.

    Args:
        before: the base branch's verdicts; None where it has none.
        required: the outcomes of requirements, as lines.
        link: the link to the report or the run.
        name: distinguishes comments of several checks.
    """
    earlier = {line.criterion: line for line in before or ()}
    rows = [_row(line, earlier.get(line.criterion), before is not None) for line in lines]
    gone = [name for name in earlier if name not in {line.criterion for line in lines}]
    parts = [f"### {_cell(title)}", "", HEAD, *rows]
    if gone:
        parts += ["", f"No longer measured: {', '.join(map(_cell, gone))}."]
    if required:
        parts += ["", *(f"- {_cell(line)}" for line in required)]
    if link:
        parts += ["", f"[All numbers]({link})"]
    return "\n".join([*parts, "", MARK.format(name=name)])


def _row(line: VerdictLine, before: VerdictLine | None, has_base: bool) -> str:
    cells = (
        line.criterion,
        line.verdict.label,
        line.judge or "–",
        ", ".join(map(str, line.figures)),
        or_dash(line.one_rater),
        _change(line, before) if has_base else "–",
    )
    return f"| {' | '.join(map(_cell, cells))} |"


def _change(line: VerdictLine, before: VerdictLine | None) -> str:
    if before is None:
        return "new"
    changes = []
    if line.verdict != before.verdict:
        changes.append(f"was “{before.verdict.label}”")
    if line.judge != before.judge:
        changes.append(f"was {before.judge or 'no judge'}")
    earlier = {figure.name: figure.value for figure in before.figures}
    for name, value, _interval in line.figures:
        if value is not None and (was := earlier.get(name)) is not None:
            difference = round(value - was, 2)
            changes += [f"{name} {signed(difference)}"] if difference else []
    return ", ".join(changes) or "no"


def _cell(text: str) -> str:
    """Escape a text so that it cannot end a cell, mention anybody or begin an element, as names
    come from files."""
    plain = " ".join(text.split())
    for sign, written in (
        ("&", "&amp;"), ("<", "&lt;"), ("|", "\\|"), ("@", "@\u200b"), ("`", "ˋ"),
        ("[", "\\["), ("](", "]\\("),
    ):  # fmt: skip
        plain = plain.replace(sign, written)
    return plain
