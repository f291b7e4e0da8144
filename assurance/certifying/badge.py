"""A certificate as a badge: a small SVG for a README or a dashboard."""

from geval.reports.requirements import RequirementOutcome
from geval.texts.sentences import shortened
from geval.texts.spelling import for_xml

# Approximate widths of Verdana at 11 pixels.
_CHARACTER, _PADDING, _HEIGHT = 6.6, 8, 20
# Dark enough for white text.
_COLOURS = {
    RequirementOutcome.MET: "#1b7f4b",
    RequirementOutcome.NOT_MET: "#b3261e",
    RequirementOutcome.CANNOT_SAY: "#6b6b6b",
}
OUTDATED = "outdated"


def badge(judge: str, criterion: str, outcome: str, *, fits: bool = True) -> str:
    """Return an SVG with the outcome in words and colour.

    Args:
        fits: whether the certificate still fits; an outdated one says so instead.
    """
    left = shortened(f"{judge}: {criterion}", 60)
    right = outcome if fits else OUTDATED
    is_known = fits and outcome in set(RequirementOutcome)
    colour = _COLOURS[RequirementOutcome(outcome) if is_known else RequirementOutcome.CANNOT_SAY]
    first, second = (round(_CHARACTER * len(text)) + 2 * _PADDING for text in (left, right))
    name = for_xml(f"{left}: {right}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{first + second}" height="{_HEIGHT}"'
        f' role="img" aria-label="{name}"><title>{name}</title>'
        f'<rect width="{first}" height="{_HEIGHT}" rx="3" fill="#444"/>'
        f'<rect x="{first}" width="{second}" height="{_HEIGHT}" rx="3" fill="{colour}"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,sans-serif"'
        f' font-size="11"><text x="{first / 2}" y="14">{for_xml(left)}</text>'
        f'<text x="{first + second / 2}" y="14">{for_xml(right)}</text></g></svg>\n'
    )
