"""A table of the verdicts of two reports, in Markdown. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from geval.reports.verdicts.verdict import USABLE, Verdict
from geval.statistics.resampling import Interval
from geval.texts.numbers import in_brackets, or_dash, signed

# The end of the comment, by which a later run finds it.
MARK = "<!-- geval-site: {name} -->"
HEAD = "| criterion | verdict | judge | rho | one rater | changed |\n|---|---|---|---|---|---|"


@dataclass(frozen=True)
class VerdictLine:
    """A criterion of a report: its verdict, the best judge, and the correlations of the judge and
    of one rater; None where undefined."""

    criterion: str
    verdict: Verdict
    judge: str
    rho: float | None
    interval: tuple[float, float] | None
    one_rater: float | None

    @property
    def is_usable(self) -> bool:
        """Whether a judge may rate, alone or with spot checks."""
        return self.verdict in USABLE


def verdict_lines(report: Mapping[str, Any]) -> list[VerdictLine]:
    """Read the verdicts in a report's JSON (`report --format json`), in order."""
    view = report["view"]
    return [
        _line(name, content, view["coefficient"], view["level"])
        for name, content in report["criteria"].items()
    ]


def _line(name: str, content: Mapping[str, Any], coefficient: str, level: str) -> VerdictLine:
    verdict = content["verdict"]
    judge = verdict.get("judge") or ""
    numbers = content["judges"].get(judge, {})
    ends = numbers.get("view_interval")
    return VerdictLine(
        name,
        Verdict(verdict["verdict"]),
        judge,
        numbers.get(coefficient, {}).get(level, {}).get("value"),
        None if ends is None else (ends[0], ends[1]),
        (verdict.get("one_rater") or {}).get("value"),
    )


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
    interval = in_brackets(Interval(*line.interval)) if line.interval else ""
    cells = (
        line.criterion,
        line.verdict.label,
        line.judge or "–",
        f"{or_dash(line.rho)} {interval}".rstrip(),
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
    if line.rho is not None and before.rho is not None:
        difference = round(line.rho - before.rho, 2)
        changes += [f"rho {signed(difference)}"] if difference else []
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
