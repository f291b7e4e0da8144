"""Judges that a search improved, and the documents that it could see. Numbers over these documents
look better than they are, so every place that states such numbers says so."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluations.models import Candidate, Change, Judge, LockedDocuments, Project
from geval.evaluators.ensemble import names_in
from geval.evaluators.formula import formulas_in
from geval.reports.data import ReportData
from geval.reports.samples import Seen, marked_on
from geval.statistics.types import FloatArray
from geval.texts.numbers import two_decimals


@dataclass(frozen=True)
class Searches:
    """The searches behind a project's judges by criterion and judge, and its locked documents.
    `through_members` are judges that combine a judge made by a search, but were not themselves made
    by one."""

    candidates: dict[tuple[int, int], Candidate]
    lock: LockedDocuments | None
    through_members: frozenset[tuple[int, int]] = frozenset()

    def made(self, criterion: int, judge: int) -> bool:
        """Whether a search made a judge, or a member of it, on a criterion."""
        return (criterion, judge) in self.candidates

    def name_of(self, judge: Judge, criteria: Mapping[int, str]) -> str:
        """Return a judge's label, marked with the criteria (names by id) on which a search made
        it."""
        made = [name for pk, name in criteria.items() if self.made(pk, judge.pk)]
        return marked_on(judge.label, made, of=len(criteria))

    def made_among(self, judges: Iterable[Judge], criterion: int) -> tuple[str, ...]:
        """Return the labels of the judges that a search made on a criterion."""
        return tuple(judge.label for judge in judges if self.made(criterion, judge.pk))

    def seen_units(self, data: ReportData) -> NDArray[np.bool_]:
        """Return which units searches could see (all but the locked ones), shape (units,)."""
        if self.lock is None:
            return np.ones(len(data.names_of_units), dtype=bool)
        return ~data.locked_units(self.lock.among)

    def unseen(self, data: ReportData) -> ReportData:
        """Return the part of a project's data that no search has seen."""
        is_seen = self.seen_units(data)
        return data.only(~is_seen[data.units.document])

    def seen(self, criterion: int, judge: int, data: ReportData, scores: FloatArray) -> Seen | None:
        """Return how many of the documents behind a judge's numbers its search has seen; None if
        none."""
        candidate = self.candidates.get((criterion, judge))
        if candidate is None:
            return None
        counts = data.units.documents_with(~np.isnan(data.humans[criterion].mean + scores))
        seen = int((counts & self.seen_units(data)).sum())
        look = "" if (criterion, judge) in self.through_members else _look_of(candidate)
        return Seen(seen, int(counts.sum()), look) if seen else None


def searches_behind(project: Project) -> Searches:
    """Return the searches that made a project's judges. A search's result counts from the version
    that adopted it on. A changed scoring method applies to all criteria."""
    adopted = list(
        Candidate.objects.filter(search__project=project, adopted_as__isnull=False)
        .select_related("search", "adopted_as", "look", "proposal")
        .order_by("pk")
    )
    if not adopted:
        return Searches({}, None)
    judges = list(project.judges.order_by("pk"))
    criteria = list(project.criteria.values_list("pk", flat=True))
    behind = {}
    for candidate in adopted:
        made = candidate.adopted_as
        assert made is not None
        for judge in judges:
            if judge.name == made.name and judge.version >= made.version:
                everywhere = candidate.change == Change.SCORING and not (
                    candidate.proposal and candidate.proposal.part == "scale"
                )
                for criterion in criteria if everywhere else [candidate.search.criterion_id]:
                    behind[criterion, judge.pk] = candidate
    lock = LockedDocuments.objects.filter(project=project).first()
    through = _through_members(judges, criteria, behind)
    return Searches(through | behind, lock, frozenset(through.keys() - behind.keys()))


def _through_members(
    judges: Sequence[Judge], criteria: Sequence[int], behind: Mapping[tuple[int, int], Candidate]
) -> dict[tuple[int, int], Candidate]:
    """Return the search behind a member of each judge that combines other scores. Members are named
    without a version, so any version counts."""
    made: dict[tuple[int, str], Candidate] = {}
    names = {judge.pk: judge.name for judge in judges}
    for (criterion, pk), candidate in behind.items():
        made[criterion, names[pk]] = candidate
    through = {}
    for judge in judges:
        for criterion in criteria:
            for name in _members_of(judge):
                if (criterion, name) in made:
                    through[criterion, judge.pk] = candidate = made[criterion, name]
                    made.setdefault((criterion, judge.name), candidate)
    return through


def _members_of(judge: Judge) -> set[str]:
    """Return the names of the judges whose scores a judge combines."""
    if judge.kind == "ensemble":
        return set(names_in(judge.settings.get("judges", "")))
    if judge.kind == "formula":
        formulas = formulas_in(judge.settings.get("formula", "{}"))
        return {member.judge for formula in formulas.values() for member in formula.members}
    return set()


def _look_of(candidate: Candidate) -> str:
    look = getattr(candidate, "look", None)
    if look is None or look.value is None or candidate.is_map:
        return ""
    value = f"{candidate.get_measure_display()} {two_decimals(look.value)}"
    return f"its look at {look.documents:,} locked ones gave {value}"
