"""What a stored certificate says: from its signed content, never from its row, which an edited
archive may have written."""

import hashlib
from dataclasses import dataclass
from typing import Any

from evaluations.certifying.certificates import FORMAT, TEXTS, is_intact
from evaluations.certifying.requirements import Outcome
from evaluations.models import Certificate
from evaluations.sealing import public_key

# What a page, a badge and the API say of a certificate that cannot be trusted.
NOT_GENUINE = "not genuine"
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
        """The outcome in words, or that there is none to trust."""
        return self.outcome.value if self.outcome else NOT_GENUINE


def sealed(certificate: Certificate) -> Sealed:
    """What a certificate's signature holds for."""
    content = certificate.content
    if not _is_whole(content) or not is_intact(content):
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


def _is_whole(content: Any) -> bool:
    """Whether a content has every field that is shown, in its type: an archive may hold
    anything."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return False
    requirements = content.get("requirements")
    return (
        all(isinstance(content.get(name), str) for name in TEXTS)
        and content["outcome"] in set(Outcome)
        and isinstance(content.get("bound_to"), dict)
        and isinstance(requirements, list)
        and all(isinstance(one, dict) for one in requirements)
    )
