"""A project's data as the rows that `geval.measure` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from geval.files.project_fields import CriterionFields
from geval.files.rows import ShareRow

PREFERENCE = (
    "doc_id", "system_a", "system_b", "criterion", "annotator", "winner", "strength", "shown_first",
    "comment",
)  # fmt: skip


class Pulled(list[dict[str, Any]]):
    """Rows of outputs, ratings, preferences and scores, as uploads have them. `geval.measure` also
    takes the settings of `criteria` by name, the weights of items by rubric, and the `choices` of
    judges between two outputs."""

    def __init__(
        self,
        rows: Iterable[dict[str, Any]],
        criteria: Sequence[Mapping[str, Any]],
        choices: Iterable[ShareRow] = (),
    ) -> None:
        super().__init__(rows)
        self.choices = tuple(choices)
        self.criteria = {each["name"]: CriterionFields.model_validate(each) for each in criteria}
        self.rubrics: dict[str, dict[str, float]] = {}
        names = {each["id"]: each["name"] for each in criteria}
        for each in criteria:
            if each["rubric"] is not None:
                items = self.rubrics.setdefault(names[each["rubric"]], {})
                items[each["name"]] = each["weight"]


@dataclass(frozen=True)
class Contents:
    """A site's data of a project, in the order in which it was stored."""

    criteria: Sequence[Mapping[str, Any]]
    judges: Iterable[Mapping[str, Any]]
    documents: Iterable[Mapping[str, Any]]
    outputs: Iterable[Mapping[str, Any]]
    ratings: Iterable[Mapping[str, Any]]
    preferences: Iterable[Mapping[str, Any]]
    scores: Iterable[Mapping[str, Any]]
    choices: Iterable[Mapping[str, Any]]

    def pulled(self) -> Pulled:
        """The rows."""
        return Pulled(self._rows(), self.criteria, self._choices())

    def _rows(self) -> Iterator[dict[str, Any]]:
        # A conversation has turns instead of a source; here the document's name is enough.
        sources, sessions = {}, {}
        for document in self.documents:
            name = document["doc_id"]
            sources[name] = document["source"] or name
            if document["session"]:
                sessions[name] = {"session_id": document["session"]}
        for output in self.outputs:
            yield {
                "doc_id": output["doc_id"],
                "system_id": output["system_id"],
                "source": sources.get(output["doc_id"], output["doc_id"]),
                "output": output["output"],
                **sessions.get(output["doc_id"], {}),
            }
        for rating in self.ratings:
            yield _only(rating, "criterion", "annotator", "score", "probability", "comment")
        for choice in self.preferences:
            yield {name: choice[name] for name in PREFERENCE}
        yield from self._newest_scores()

    def _newest_scores(self) -> Iterable[dict[str, Any]]:
        """Return only the last run's score of each output by a judge, as in reports."""
        newest = {}
        for score in self.scores:
            judge = self._label(score)
            key = (score["doc_id"], score["system_id"], score["criterion"], judge)
            newest[key] = _only(score, "criterion", "score") | {"judge": judge}
        return newest.values()

    def _choices(self) -> Iterator[ShareRow]:
        for line, row in enumerate(self.choices, start=1):
            pair = (row["doc_id"], row["system_a"], row["system_b"], row["criterion"])
            yield ShareRow(
                line, *pair, self._label(row), 0, by_judge=True,
                share=row["share"], tie=row["tie"], left=row["shown_first"],
            )  # fmt: skip

    @cached_property
    def _labels(self) -> Mapping[tuple[str, int], str]:
        return {(each["name"], each["version"]): each["label"] for each in self.judges}

    def _label(self, row: Mapping[str, Any]) -> str:
        return self._labels.get((row["judge"], row["judge_version"]), row["judge"])


def _only(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in ("doc_id", "system_id", *names)}
