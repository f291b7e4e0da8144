"""What a published dataset has to tell besides its tables: who rated, when and by which guidelines,
how far people agree, and what was left out."""

import re
from collections.abc import Iterator, Mapping

from django.db.models import Count, Max, Min, Q

from annotations.models import (
    Assignment,
    AssignmentState,
    GuidelinesVersion,
    ItemKind,
    OpenLink,
    Preference,
    Rating,
)
from annotations.models.people import Annotator
from evaluations.models import Document, Project
from evaluations.models.improving import withheld_documents
from evaluations.reports.data import usual_options
from evaluations.reports.serving.view import report_view
from geval.reports.words import left_out_in_words
from geval.texts.numbers import counted, with_decimals

LANGUAGE = "language"  # the field of metadata that names a document's
_CODE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
MOST_LANGUAGES = 50


def languages_of(project: Project) -> list[str]:
    """Return the codes of a project's languages: its own, or those of its documents."""
    if project.text_language:
        return [project.text_language]
    fields = Document.objects.filter(project=project, metadata__has_key=LANGUAGE)
    values = fields.order_by().values_list(f"metadata__{LANGUAGE}", flat=True).distinct()
    codes = (value for value in values if isinstance(value, str) and _CODE.fullmatch(value))
    return sorted(codes)[:MOST_LANGUAGES]


def sections_of(project: Project, *, pseudonyms: bool) -> dict[str, list[str]]:
    """Return the lines of each section of a card, as Markdown; empty sections are left out."""
    sections: Mapping[str, Iterator[str]] = {
        "People": _people(project, pseudonyms=pseudonyms),
        "Agreement": _agreement(project),
        "Guidelines": _guidelines(project),
        "Consent": _consent(project),
        "Left out": _left_out(project, pseudonyms=pseudonyms),
    }
    read = {title: list(lines) for title, lines in sections.items()}
    return {title: lines for title, lines in read.items() if lines}


def _people(project: Project, *, pseudonyms: bool) -> Iterator[str]:
    hidden = withheld_documents(project.pk)
    ratings = Rating.objects.filter(
        output__document__project=project, annotator__kind=Annotator.Kind.PERSON
    ).exclude(output__document__in=hidden)
    choices = Preference.objects.filter(output_a__document__project=project).exclude(
        output_a__document__in=hidden
    )
    people: set[int] = set()
    dates = []
    for rows, noun in ((ratings, "rating"), (choices, "choice")):
        about = rows.aggregate(rows=Count("pk"), first=Min("created_at"), last=Max("created_at"))
        if not about["rows"]:
            continue
        who = set(rows.order_by().values_list("annotator", flat=True).distinct())
        first, last = (f"{about[end]:%Y-%m-%d}" for end in ("first", "last"))
        people |= who
        dates.append(
            f"{counted(about['rows'], noun)} by {counted(len(who), 'person', 'people')}, stored"
            f" {f'on {first}' if first == last else f'from {first} to {last}'}."
        )
    yield from dates
    if people:
        yield "They have pseudonyms." if pseudonyms else "They are named."


def _agreement(project: Project) -> Iterator[str]:
    view = report_view(project, usual_options(project))
    if not view.has_numbers:
        yield "It was not computed yet when this was written."
        return
    for criterion in view.numbers().report.criteria:
        for kind, alpha in criterion.agreement.alpha.items():
            ends = criterion.agreement.alpha_intervals[kind]
            if alpha.value is None:
                continue
            interval = ""
            if ends.low is not None and ends.high is not None:
                interval = f" [{with_decimals(ends.low)}, {with_decimals(ends.high)}]"
            yield (
                f"- {criterion.criterion}: Krippendorff's alpha ({kind})"
                f" {with_decimals(alpha.value)}{interval}"
            )


def _guidelines(project: Project) -> Iterator[str]:
    newest = GuidelinesVersion.objects.filter(project=project).last()
    if newest is None:
        yield from _quoted(project.guidelines)
        return
    yield f"Version {newest.number}; `answers` name the version that their author had read."
    for name, text in newest.texts.items():
        yield from ("", f"{name or 'All criteria'}:", "", *_quoted(text))


def _consent(project: Project) -> Iterator[str]:
    links = OpenLink.objects.filter(campaign__project=project).order_by("pk")
    for consent in dict.fromkeys(links.values_list("consent", flat=True)):
        yield from _quoted(consent)
        yield ""


def _quoted(text: str) -> Iterator[str]:
    return (f"> {line}" for line in text.splitlines())


def _left_out(project: Project, *, pseudonyms: bool) -> Iterator[str]:
    counts = Assignment.objects.filter(campaign__project=project).aggregate(
        practice=Count(
            "pk", filter=Q(item__kind=ItemKind.PRACTICE, state=AssignmentState.SUBMITTED)
        ),
        rejected=Count("pk", filter=Q(state=AssignmentState.REJECTED)),
    )
    if counts["practice"]:
        yield f"- {counted(counts['practice'], 'answer')} of practice: in `answers` only"
    if counts["rejected"]:
        yield f"- {counted(counts['rejected'], 'rejected answer')}: in `answers` only"
    if withheld := len(withheld_documents(project.pk)):
        yield f"- {left_out_in_words(withheld)}"
    if pseudonyms:
        yield "- Names of people, reviewers and adjudicators; what they wrote is unchanged"
    if OpenLink.objects.filter(campaign__project=project).exists():
        yield "- Ids that panels gave to participants"
