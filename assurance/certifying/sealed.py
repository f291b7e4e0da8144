"""What a stored certificate says, read from its signed content rather than its row, which an edited
archive may have written; and a certificate as a badge."""

import hashlib
from dataclasses import dataclass

from assurance.certifying.certificates import is_intact
from evaluations.models import Certificate
from evaluations.models.sealing import public_key
from geval.files.certificates import problem_of
from geval.reports.requirements import RequirementOutcome
from geval.texts.sentences import shortened
from geval.texts.spelling import for_xml

# What a page, a badge and the API say about a certificate that cannot be trusted.
NOT_GENUINE = "not genuine"
FOREIGN = ", says another site"
_CHANGED = "it was changed after it was signed, so nothing that it says can be trusted"


@dataclass(frozen=True)
class Sealed:
    """A certificate's outcome (None, with a `problem`, if it cannot be trusted), and the
    fingerprint of the signing site's key."""

    outcome: RequirementOutcome | None
    problem: str
    fingerprint: str
    is_ours: bool

    @property
    def said(self) -> str:
        """The outcome in words, or that there is none to trust. The outcome of another site is
        marked as that site's statement: anybody can sign with a key of their own."""
        if not self.outcome:
            return NOT_GENUINE
        return self.outcome.value if self.is_ours else f"{self.outcome.value}{FOREIGN}"


def sealed(certificate: Certificate) -> Sealed:
    """Return the outcome of a certificate if its signature is valid for it, else the problem."""
    content = certificate.content
    if unreadable := problem_of(content):
        return Sealed(None, f"its content cannot be read ({unreadable})", "", is_ours=False)
    if not is_intact(content):
        return Sealed(None, _CHANGED, "", is_ours=False)
    key = content["public_key"]
    named = (content["judge"], content["criterion"])
    problem = ""
    if named != (certificate.judge.label, certificate.criterion.name):
        problem = f"it was signed for {named[0]} on {named[1]}"
    outcome = None if problem else RequirementOutcome(content["outcome"])
    return Sealed(outcome, problem, fingerprint(key), is_ours=key == public_key())


def fingerprint(key: str) -> str:
    """Return the fingerprint of a public key for people to compare: the beginning of its SHA-256,
    in groups of four."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return " ".join(digest[index : index + 4] for index in range(0, len(digest), 4))


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
