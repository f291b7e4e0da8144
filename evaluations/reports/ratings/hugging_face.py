"""A project as a Hugging Face dataset."""

from collections.abc import Callable, Iterator
from typing import Any

from evaluations.models import Project
from evaluations.reports.ratings.exported import exported_outputs, metadata_names
from evaluations.reports.ratings.exports import COLUMNS, records
from geval.files.hugging_face import RECORDS, Dataset, Rows
from geval_site.version import __version__


def dataset_of(project: Project) -> Dataset:
    """Return a project as a dataset whose rows are read when it is written."""

    def given(of: str, author: str) -> Iterator[dict[str, Any]]:
        for output in exported_outputs(project):
            for criterion, who, points in getattr(output, of):
                names = {name: output.columns[name] for name in ("doc_id", "system_id")}
                comment = {"comment": output.comments.get(who, "")} if of == "ratings" else {}
                yield names | {"criterion": criterion, author: who, "score": points} | comment

    tables: dict[str, Callable[[], Rows]] = {
        "outputs": lambda: (output.columns for output in exported_outputs(project)),
        "ratings": lambda: given("ratings", "annotator"),
        "scores": lambda: given("scores", "judge"),
        "preferences": lambda: records(project, "preferences"),
        "answers": lambda: records(project, "answers"),
        "decisions": lambda: records(project, "decisions"),
    }
    criteria = project.criteria.order_by("position", "pk")
    return Dataset(
        project.name,
        project.description,
        tables,
        {name: COLUMNS[name] for name in RECORDS},
        metadata_names(project),
        tuple(criteria.values_list("name", "scale_min", "scale_max", "definition")),
        __version__,
    )
