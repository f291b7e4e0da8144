"""Read certificate files, and compare them with their project."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from assurance.certifying.bindings import differences
from assurance.certifying.certificates import bindings_now, is_intact
from assurance.certifying.sealed import fingerprint
from evaluations.models import Criterion, Judge, Project
from geval.files.certificates import FORMAT, problem_of
from geval.reports.requirements import RequirementOutcome

# A certificate has some kilobytes; any file may be named by mistake.
MOST_BYTES = 2**20
VALID, REFUSED, UNKNOWN = 0, 1, 2


class VerifyError(ValueError):
    """A file is not a certificate; the message says why."""


@dataclass(frozen=True)
class Verified:
    """The result of verifying, line by line, with the exit code."""

    exit: int
    said: tuple[str, ...]


def read_certificate(path: Path) -> dict[str, Any]:
    """Return the content of a certificate's file.

    Raises:
        VerifyError: the file cannot be read, or is not a certificate.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise VerifyError(f"{path} cannot be read: {error.strerror}.") from None
    if len(raw) > MOST_BYTES:
        raise VerifyError(f"{path} is too large for a certificate.")
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise VerifyError(f"{path} is not JSON (line {error.lineno}): {error.msg}.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise VerifyError(f"{path} is not a certificate of this format ({FORMAT}).")
    if problem := problem_of(content):
        raise VerifyError(f"{path} {problem}; it is not a whole certificate.")
    return content


def verify(content: dict[str, Any], *, key: str, project: str | None = None) -> Verified:
    """Compare a certificate with its project as it is now.

    Args:
        key: the public key of the trusted site.
        project: the short name of its project on this site, if it differs.
    """
    # Check the signature first: comparing changed content would be pointless.
    if not is_intact(content):
        return Verified(REFUSED, ("Refused: it was changed after it was signed.",))
    if content["public_key"] != key:
        return Verified(
            REFUSED,
            (
                f"Refused: it was signed by another site, key {fingerprint(content['public_key'])}."
                " Name that site's public key with --key.",
            ),
        )
    slug = project or content["project"]
    subject = _found(slug, content["judge"], content["criterion"])
    if isinstance(subject, str):
        return Verified(UNKNOWN, ("Genuine.", f"Cannot say whether it still fits: {subject}"))
    changed = differences(content["bound_to"], bindings_now(*subject, content))
    if changed:
        return Verified(REFUSED, ("Refused: it no longer fits.", *changed))
    sentence = f"{content['judge']} on {content['criterion']}: {content['outcome']}."
    met = content["outcome"] == RequirementOutcome.MET
    return Verified(VALID if met else REFUSED, ("Genuine, and it still fits.", sentence))


def _found(slug: str, label: str, name: str) -> tuple[Judge, Criterion] | str:
    """Return the judge and the criterion of a certificate, or say which of them does not exist
    here."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        return f"project {slug} is not on this site."
    judge = next(
        (candidate for candidate in project.judges.all() if candidate.label == label), None
    )
    if judge is None:
        return f"project {slug} has no judge {label}."
    criterion = project.criteria.filter(name=name).first()
    if criterion is None:
        return f"project {slug} has no criterion {name}."
    return judge, criterion
