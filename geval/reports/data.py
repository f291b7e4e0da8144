"""Human and judge scores as arrays over the same outputs, and parts of them."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geval.reports.human_scores import HumanScores
from geval.reports.options import ADJUDICATED, MEAN, ReportOptions
from geval.statistics.arrays import Outputs, complete
from geval.statistics.bias import Family
from geval.statistics.cache import remembered
from geval.statistics.consensus import HumanScore, consensus
from geval.statistics.locked_rule import groups_of_names
from geval.statistics.rubrics import Rubric
from geval.statistics.types import FloatArray, IntArray


class DocumentName(NamedTuple):
    """A document's number and name, with its session and group, "" for none."""

    pk: int
    name: str
    session: str
    group: str


def with_groups(documents: Sequence[DocumentName]) -> list[DocumentName]:
    """Return the documents with the groups that their names state, where none is given."""
    groups = groups_of_names([document.name for document in documents])
    if not groups or any(document.group for document in documents):
        return list(documents)
    return [
        document._replace(group=group) for document, group in zip(documents, groups, strict=True)
    ]


def in_order(documents: Iterable[DocumentName]) -> list[DocumentName]:
    """Order documents for reports: those of a group, and in it those of a session, at the place of
    their first. A session is in the group of its first turn."""
    sessions: dict[str, list[DocumentName]] = {}
    for document in with_groups([*documents]):
        sessions.setdefault(document.session or document.name, []).append(document)
    groups: dict[tuple[str, str], list[DocumentName]] = {}
    for name, members in sessions.items():
        group = members[0].group
        key = ("group", group) if group else ("session", name)
        groups.setdefault(key, []).extend(
            member if member.group == group else member._replace(group=group) for member in members
        )
    return list(itertools.chain.from_iterable(groups.values()))


@dataclass
class ReportData:
    """The data of a project for the statistics.

    `system_ids` are ascending. `outputs` says to which document and system each output belongs, and
    `output_ids` has shape (outputs,), as have a judge's scores, NaN for missing, and `words`,
    which counts the words of each output. `not_applicable` has a mask of outputs for each
    criterion and judge that answered "n/a", which are missing scores. `judges` maps (criterion id,
    judge id) to scores; those on `rubrics` are totals. `withheld` counts the locked documents that
    are left out until the last look. `sessions` has the session of each document, "" for none;
    documents of a session are adjacent, and so are those of a group (`groups`, in the same way,
    which are given or stated by names).
    """

    document_ids: IntArray
    system_ids: IntArray
    doc_ids: tuple[str, ...]
    system_names: tuple[str, ...]
    system_kinds: tuple[str, ...]
    system_families: tuple[Family, ...]
    outputs: Outputs
    output_ids: IntArray
    words: FloatArray
    humans: dict[int, HumanScores] = field(default_factory=dict)
    judges: dict[tuple[int, int], FloatArray] = field(default_factory=dict)
    not_applicable: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    rubrics: tuple[Rubric, ...] = ()
    withheld: int = 0
    sessions: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    are_groups_given: bool = False

    @cached_property
    def unit_names(self) -> tuple[str, ...]:
        """The unit with which each document is drawn, locked and left out: its session, or
        itself."""
        named = zip(self.doc_ids, self.sessions, strict=True) if self.sessions else ()
        return tuple(session or name for name, session in named) or self.doc_ids

    @cached_property
    def units(self) -> Outputs:
        """The outputs with units instead of documents: turns of a session are correlated, so
        statistics treat sessions as documents."""
        units = self.outputs
        if any(self.sessions):
            units = Outputs(self.unit_of[units.document], units.system,
                            int(self.unit_of.max()) + 1, units.systems)  # fmt: skip
        group = self._group_of_units
        return units if group is None else replace(units, group=group)

    @property
    def _group_of_units(self) -> IntArray | None:
        """The group of each unit, numbered in order of first occurrence; a unit without one is by
        itself. None where no document has a group."""
        if not any(self.groups):
            return None
        numbers: dict[tuple[str, str], int] = {}
        named = (
            ("group", group) if group else ("unit", unit)
            for unit, group in zip(self.names_of_units, self.groups_of_units, strict=True)
        )
        return np.array([numbers.setdefault(name, len(numbers)) for name in named])

    @cached_property
    def unit_of(self) -> IntArray:
        """The unit of each document, numbered in order of first occurrence; shape (documents,)."""
        if not any(self.sessions):
            return np.arange(len(self.doc_ids))
        _, first, indexes = np.unique(self.unit_names, return_index=True, return_inverse=True)
        unit: IntArray = np.argsort(np.argsort(first))[indexes]
        return unit

    def units_on(self, criterion_id: int) -> Outputs:
        """Return the units, with the weights that outputs have among those rated on a criterion."""
        return self.units.weighted(self.humans[criterion_id].weight)

    def outputs_on(self, criterion_id: int) -> Outputs:
        """Return the outputs with the same weights, for counting documents."""
        return self.outputs.weighted(self.humans[criterion_id].weight)

    @property
    def names_of_units(self) -> tuple[str, ...]:
        """The names of the documents that `units` counts."""
        return tuple(dict.fromkeys(self.unit_names)) if any(self.sessions) else self.doc_ids

    @property
    def groups_of_units(self) -> tuple[str, ...]:
        """The group of each unit; empty where no document has one."""
        names = dict(zip(self.unit_names, self.groups, strict=True)) if self.groups else {}
        return tuple(names.values())

    @property
    def shared_groups(self) -> int:
        """The number of groups; 0 if each document has one of its own, which is no group."""
        stated = [group for group in self.groups_of_units if group]
        groups = len(set(stated))
        return groups if groups < len(stated) else 0

    def locked_units(
        self, locked: Callable[[Sequence[str], Sequence[str]], Sequence[bool]]
    ) -> np.ndarray:
        """Return a mask of the units that a lock's rule locks, shape (units,). The rule itself
        reads the groups that names state, so that they do not depend on other documents."""
        groups = self.groups_of_units if self.are_groups_given else ()
        return np.array(locked(self.names_of_units, groups), dtype=bool)

    def kinds(self, kind: str) -> np.ndarray:
        """Return a mask of the systems of a kind, shape (systems,)."""
        return np.array([system_kind == kind for system_kind in self.system_kinds], dtype=bool)

    def name_of(self, output: int) -> tuple[str, str]:
        """Return an output's document and system."""
        document, system = self.outputs.document[output], self.outputs.system[output]
        return self.doc_ids[document], self.system_names[system]

    def system_means(self, values: FloatArray, rated_on: int | None = None) -> FloatArray:
        """Return the mean of each system's values; shape (systems,), NaN where it has none.

        Args:
            rated_on: the criterion whose ratings determine the outputs' weights; None where values
                are of all outputs.
        """
        outputs = self.outputs if rated_on is None else self.outputs_on(rated_on)
        outputs, (complete_values,) = complete(outputs, values)
        return outputs.means_by_system(complete_values)

    def selected(self, options: ReportOptions) -> "ReportData":
        """Return the part selected by options, with the human score that they name; excluded
        annotators do not count in it."""
        part = self._filtered(options) if options.is_filtered else self
        return part.scored(options.human_score)

    def scored(self, kind: HumanScore) -> "ReportData":
        """Return the data with a human score of this kind, computed only from the ratings in this
        part."""
        if kind == MEAN:
            return self
        return replace(
            self,
            humans={
                pk: human.scored(
                    human.adjudicated()
                    if kind == ADJUDICATED
                    else remembered(consensus, kind, human.ratings)
                )
                for pk, human in self.humans.items()
            },
        )

    def _filtered(self, options: ReportOptions) -> "ReportData":
        sought, wanted = options.documents.lower(), set(options.systems)
        documents = np.array([sought in name.lower() for name in self.doc_ids], dtype=bool)
        systems = np.array([not wanted or pk in wanted for pk in self.system_ids.tolist()], bool)
        return self._part(documents, systems, frozenset(options.annotators))

    def without(self, hidden: np.ndarray) -> "ReportData":
        """Leave out some documents, which `withheld` counts; `hidden` has shape (documents,)."""
        systems = np.ones(len(self.system_ids), dtype=bool)
        return replace(self._part(~hidden, systems, frozenset()), withheld=int(hidden.sum()))

    def only(self, chosen: np.ndarray) -> "ReportData":
        """Select outputs, with their documents and all systems.

        Args:
            chosen: a mask of shape (outputs,).
        """
        documents = self.outputs.documents_with(chosen)
        systems = np.ones(len(self.system_ids), dtype=bool)
        return replace(
            self,
            document_ids=self.document_ids[documents],
            doc_ids=tuple(itertools.compress(self.doc_ids, documents)),
            sessions=tuple(itertools.compress(self.sessions, documents)),
            groups=tuple(itertools.compress(self.groups, documents)),
            outputs=self.outputs.part(chosen).among(documents, systems),
            output_ids=self.output_ids[chosen],
            words=self.words[chosen],
            humans={pk: human.among(chosen, frozenset()) for pk, human in self.humans.items()},
            judges={key: scores[chosen] for key, scores in self.judges.items()},
            not_applicable={key: mask[chosen] for key, mask in self.not_applicable.items()},
        )

    def _part(
        self, documents: np.ndarray, systems: np.ndarray, annotators: frozenset[int]
    ) -> "ReportData":
        """Select documents and systems by masks, and annotators (all if none are named)."""
        chosen = documents[self.outputs.document] & systems[self.outputs.system]
        return replace(
            self,
            document_ids=self.document_ids[documents],
            system_ids=self.system_ids[systems],
            doc_ids=tuple(itertools.compress(self.doc_ids, documents)),
            sessions=tuple(itertools.compress(self.sessions, documents)),
            groups=tuple(itertools.compress(self.groups, documents)),
            system_names=tuple(itertools.compress(self.system_names, systems)),
            system_kinds=tuple(itertools.compress(self.system_kinds, systems)),
            system_families=tuple(itertools.compress(self.system_families, systems)),
            outputs=self.outputs.among(documents, systems),
            output_ids=self.output_ids[chosen],
            words=self.words[chosen],
            humans={pk: human.among(chosen, annotators) for pk, human in self.humans.items()},
            judges={key: scores[chosen] for key, scores in self.judges.items()},
            not_applicable={key: mask[chosen] for key, mask in self.not_applicable.items()},
        )
