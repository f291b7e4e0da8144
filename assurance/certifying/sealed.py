"""What a stored certificate says: from its signed content, never from its row, which an edited
archive may have written."""

import hashlib
from dataclasses import dataclass

from assurance.certifying.certificates import is_intact
from evaluations.models import Certificate
from evaluations.models.sealing import public_key
from geval.files.certificates import problem_of
from geval.reports.requirements import Outcome

# What a page, a badge and the API say of a certificate that cannot be trusted.
NOT_GENUINE = "not genuine"
FOREIGN = ", says another site"
_CHANGED = "it was changed after it was signed, so nothing that it says can be trusted"


@dataclass(frozen=True)
class Sealed:
    """A certificate's outcome, None where it cannot be trusted, for the `problem`; and the site
    that signed it, by the fingerprint of its key."""

    outcome: Outcome | None
    problem: str
    fingerprint: str
    is_ours: bool

    @property
    def said(self) -> str:
        """The outcome in words, or that there is none to trust. Of another site it is only what
        that site says: anybody can sign with a key of their own."""
        if not self.outcome:
            return NOT_GENUINE
        return self.outcome.value if self.is_ours else f"{self.outcome.value}{FOREIGN}"


def sealed(certificate: Certificate) -> Sealed:
    """What a certificate's signature holds for."""
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
    outcome = None if problem else Outcome(content["outcome"])
    return Sealed(outcome, problem, fingerprint(key), is_ours=key == public_key())


def fingerprint(key: str) -> str:
    """A public key as people compare it: the beginning of its SHA-256, in groups of four."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return " ".join(digest[at : at + 4] for at in range(0, len(digest), 4))
