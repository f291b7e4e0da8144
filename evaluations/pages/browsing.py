"""A page of a project's documents, filtered by words, metadata and ratings, and sorted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.core.paginator import Page, Paginator
from django.urls import reverse

from evaluations.models import Project
from evaluations.models.corpus import DocumentQuerySet, ListedDocument
from evaluations.models.improving import withheld_documents
from evaluations.models.sizes import rated_documents
from evaluations.reports.data import usual_options
from evaluations.reports.serving.view import report_view
from geval.reports.document_figures import DISAGREEMENT, DocumentFigures, measure_of
from geval.statistics.types import IntArray
from geval.texts.numbers import or_dash
from geval.texts.sentences import shortened

PAGE_SIZE = 25
# More columns would not fit next to the text.
SHOWN_METADATA = 4


@dataclass(frozen=True)
class DocumentRow:
    """A document in the list, prepared for display, because a page has many and templates are slow
    at truncating and counting.

    `judged` is the mean of the judge by which the list is sorted.
    """

    address: str
    name: str
    begins: str
    metadata: tuple[str, ...]
    outputs: int
    human: str
    judged: str = ""
    disagreement: str = ""


@dataclass(frozen=True)
class Browsed:
    """A page of documents. `figures` says whether the rows have disagreement."""

    page: Page[int]
    rows: tuple[DocumentRow, ...]
    metadata_names: tuple[str, ...]
    judge: int | None
    figures: bool


def browse(
    project: Project, filters: Mapping[str, str], names: Sequence[str], *, page: str | None
) -> Browsed:
    """Return documents, filtered and sorted.

    Args:
        filters: `q` (words), `name` and `value` (metadata), `rated` (yes, no), `sort`; only
            non-empty ones.
        names: the metadata's names, the first of which get a column.

    Raises:
        NotComputedError: a worker is still computing the values by which a large project is sorted.
    """
    sort = filters.get("sort", "")
    figures = None
    if sort not in ("", "name"):
        view = report_view(project, usual_options(project))
        # A judge without scores has no values to sort by.
        figures = view.part("documents", measure_of(sort)) or view.needed("documents", DISAGREEMENT)
    return _browse(project, filters, names, figures, page=page)


def _browse(
    project: Project,
    filters: Mapping[str, str],
    names: Sequence[str],
    figures: DocumentFigures | None,
    *,
    page: str | None,
) -> Browsed:
    sort = filters.get("sort", "")
    is_filtered = any(name in filters for name in ("q", "value", "rated"))
    order_by = ("doc_id", "pk") if sort == "name" else ("pk",)
    documents = _matching(project, filters).order_by(*order_by).values_list("pk", flat=True)
    ids = _rated(project, documents, filters["rated"]) if filters.get("rated") else documents
    judge = int(sort.partition("-")[2]) if "-" in sort else None
    if figures is not None:
        order = figures.order(sort)
        chosen = order[np.isin(order, np.fromiter(ids, dtype=np.int64))] if is_filtered else order
        chosen_page = Paginator(chosen, PAGE_SIZE).get_page(page)
    else:
        # Search once; counting and showing a page would search twice.
        chosen_page = Paginator(list(ids) if is_filtered else ids, PAGE_SIZE).get_page(page)
    columns = [
        *([filters["name"]] if filters.get("name") else []),
        *(n for n in names if n != filters.get("name")),
    ]
    shown = tuple(columns[:SHOWN_METADATA])
    listed = project.documents.listed(
        [int(pk) for pk in chosen_page.object_list], hidden=withheld_documents(project.pk)
    )
    address = reverse("evaluations:document_detail", args=[project.slug, 0])
    rows = tuple(_row(document, address, shown, figures, judge) for document in listed)
    return Browsed(chosen_page, rows, shown, judge, sort not in ("", "name"))


def _matching(project: Project, filters: Mapping[str, str]) -> DocumentQuerySet:
    documents = project.documents.all()
    if filters.get("q"):
        documents = documents.matching(filters["q"])
    if filters.get("name") and filters.get("value"):
        documents = documents.filter(metadata__contains={filters["name"]: filters["value"]})
    return documents


def _rated(project: Project, documents: Iterable[int], rated: str) -> IntArray:
    """Return those of some documents that are rated, or not, in their order."""
    ids = np.fromiter(documents, dtype=np.int64)
    return ids[np.isin(ids, rated_documents(project), invert=rated != "yes")]


def _row(
    document: ListedDocument,
    address: str,
    names: Sequence[str],
    figures: DocumentFigures | None,
    judge: int | None,
) -> DocumentRow:
    disagreement = figures.distance(document.pk) if figures else None
    judged = figures.judged(judge, document.pk) if figures and judge is not None else None
    return DocumentRow(
        address=address.replace("/0/", f"/{document.pk}/"),
        name=shortened(document.doc_id, 40),
        begins=shortened(document.begins, 110),
        metadata=tuple(shortened(str(document.metadata.get(name, "")), 60) for name in names),
        outputs=document.output_count,
        human=or_dash(document.human_mean),
        judged=or_dash(judged),
        disagreement=or_dash(disagreement),
    )
