"""The result of `geval.improve`: a change of a judge, and its test on locked documents."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np

from geval.improving.changes import (
    CHANGE_LABELS,
    MEASURE_LABELS,
    NO_ORDER,
    NO_OTHER_JUDGE,
    NO_RANKS,
    NOTHING_BETTER,
    ONE_LABEL,
    ONE_OUTPUT_EACH,
    TOO_FEW_VOTES,
    FreeChange,
    Measure,
)
from geval.improving.ground import Ground, ImproveError
from geval.improving.lock_file import LockFile
from geval.improving.proving import LookResult, proof_of, values_of
from geval.improving.search import FoundChange, Power, Searched, power, search
from geval.improving.words import sentence
from geval.statistics.held_out_test import ProofOutcome, confidence_of
from geval.statistics.thresholds import POWER
from geval.texts.numbers import thin


@dataclass(frozen=True)
class Improvement:
    """Possible improvements of a judge on a criterion.

    `candidates` are changes with their gains on training documents, the best first, which have seen
    no locked document. `look` is the test of one of them on the locked documents, None until
    `prove`. `left_out` says why judges could not be members, `not_tried` why there is no change of
    a kind.
    """

    judge: str
    criterion: str
    searched: Searched
    power: Power | None
    not_tried: dict[str, str]
    sample: tuple[str, ...]
    look: LookResult | None = None
    looked_at: FoundChange | None = None
    # Contains people's ratings of locked documents, so it is not shown.
    _ground: Ground = field(repr=False, kw_only=True)
    _lock: LockFile = field(repr=False, kw_only=True)

    @property
    def candidates(self) -> tuple[FoundChange, ...]:
        return tuple(self.searched.candidates)

    @property
    def proposed(self) -> FoundChange | None:
        """The change with the largest gain in rank on training documents, if any gains; else the
        map that brings scores closer to people's, if it also beats the best constant."""
        return next((each for each in self.candidates if each.is_better_on_training), None)

    @property
    def open_documents(self) -> tuple[str, ...]:
        """The names of documents that are not locked, on which a judge may be tuned."""
        return self._ground.open_documents

    @property
    def is_proven(self) -> bool:
        return self.look is not None and self.look.outcome == ProofOutcome.PROVEN

    @property
    def looks_used(self) -> int:
        """How many looks at these locked documents were taken, by anybody."""
        return len(self._lock.looks())

    def prove(self, change: str | None = None) -> "Improvement":
        """Test a change on the locked documents; return the same result with `look`.

        Each look counts, in the lock's file; repeating it does not. Without a proposal no look is
        taken.

        Args:
            change: `choice`, `panel` or `calibration`; by default what is `proposed`.

        Raises:
            ImproveError: all looks are used, or there is no such change.
        """
        candidate = self.proposed if change is None else self._candidate(change)
        if candidate is None:
            return self
        assert candidate.formula is not None
        values = values_of(self._ground, candidate.formula)
        look = self._lock.look(
            _question(self._ground, candidate, values),
            {
                "judge": self.judge,
                "criterion": self.criterion,
                "change": candidate.change,
                "title": candidate.title,
            },
            lambda: LookResult.of(
                proof_of(self._ground, candidate.measure, values, looks=self._lock.looks_allowed),
                candidate.measure,
            ),
        )
        return replace(self, look=look, looked_at=candidate)

    def _candidate(self, change: str) -> FoundChange:
        for candidate in self.candidates:
            if candidate.change == change:
                return candidate
        changes = ", ".join(each.change for each in self.candidates) or "none"
        raise ImproveError(f"The search has no change {change!r} (it has: {changes}).")

    def to_dict(self) -> dict[str, Any]:
        """Return everything except ratings and scores, in the form of `improve --json` on a
        site."""
        can_show = self.power
        return {
            "judge": self.judge,
            "criterion": self.criterion,
            "training": self.searched.training,
            "locked": self.searched.locked,
            "today": self.searched.today,
            "left_out": self.searched.left_out,
            "smallest_gain": can_show and can_show.smallest,
            "wanted_gain": can_show and can_show.wanted,
            "locked_for_wanted": can_show and can_show.documents,
            **({"what_numbers_speak_of": list(self.sample)} if self.sample else {}),
            "not_tried": self.not_tried,
            "looks_allowed": self._lock.looks_allowed,
            "looks_used": self.looks_used,
            "rule": {"share": self._lock.share, "seed": self._lock.seed},
            "candidates": [self._as_json(each) for each in self.candidates],
        }

    def _as_json(self, candidate: FoundChange) -> dict[str, Any]:
        formula, look = candidate.formula, self._look_of(candidate)
        return {
            "change": candidate.change,
            "title": candidate.title,
            "description": candidate.description,
            "measure": candidate.measure,
            "training": candidate.training(),
            "formula": formula and formula.model_dump(mode="json"),
            "look": look and {**vars(look)},
        }

    def to_json(self) -> str:
        """Return the same as `to_dict`."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def _look_of(self, candidate: FoundChange) -> LookResult | None:
        return self.look if candidate is self.looked_at else None

    def _sentences(self) -> list[str]:
        return [
            sentence(each.title, each.measure, each.training(), self._look_of(each))
            for each in self.candidates
        ]

    @property
    def headline(self) -> str:
        """Return the search's result in a sentence."""
        about = f"{self.judge} on {self.criterion}"
        if self.look is not None and self.looked_at is not None:
            return f"{about}: {self.looked_at.title} is {self.look.outcome}."
        if self.proposed is None:
            return f"{about}: nothing better was found; no look was taken."
        return f"{about}: {self.proposed.title} may be better; .prove(), or --prove, takes a look."

    def _basis(self) -> list[str]:
        used, allowed = self.looks_used, self._lock.looks_allowed
        lines = [
            f"{self.searched.training} training documents, {self.searched.locked} locked;"
            f" {used} of {allowed} looks used ({self._lock.path})."
        ]
        if used > allowed:
            lines.append(
                f"More than the {allowed} looks that are allowed were taken, as where two copies of"
                " the file were merged: together their results are less certain than each says."
            )
        if self.power is not None:
            lines.append(
                f"The locked documents prove a gain in {MEASURE_LABELS[self._ground.measure]} of"
                f" {self.power.smallest:.2f} in"
                f" {100 * POWER:.0f} % of tries; {self.power.wanted:g} takes"
                f" {thin(self.power.documents)} of them."
            )
        return [*lines, *self.sample]

    def _without(self) -> list[str]:
        reasons = self.not_tried | self.searched.left_out
        return [f"{what} is not proposed: {why}." for what, why in reasons.items()]

    def __str__(self) -> str:
        lines = [*self._basis(), *self._sentences(), *self._without()]
        return "\n".join([self.headline, *(f"  {line}" for line in lines)])

    # In a notebook or a shell, a result is read, not its fields.
    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in self._sentences())
        notes = "".join(f"<p>{escape(line)}</p>" for line in (*self._basis(), *self._without()))
        return f"<p><strong>{escape(self.headline)}</strong></p><ul>{items}</ul>{notes}"


def improvement_of(ground: Ground, changes: Sequence[str], lock: LockFile) -> Improvement:
    """Search on the training documents.

    Raises:
        TooFewRatingsError: too few documents were rated.
    """
    if np.isnan(ground.merit_of_today).all():  # two outputs of a document would have to differ
        ranked = (FreeChange.CHOICE, FreeChange.PANEL)
        searched = search(ground, [change for change in changes if change not in ranked])
    else:
        searched = search(ground, changes)
    better = {each.change for each in searched.candidates}
    return Improvement(
        ground.judge.label,
        ground.criterion.name,
        searched,
        power(ground, confidence=confidence_of(lock.looks_allowed, 1)),
        {
            label: _why_none(ground, change) if change in changes else "it was not asked for"
            for change, label in CHANGE_LABELS.items()
            if change not in better
        },
        ground.sample,
        _ground=ground,
        _lock=lock.kept(),
    )


def _why_none(ground: Ground, change: str) -> str:
    """Return why a search did not propose a requested change."""
    if ground.measure == Measure.KAPPA and change in NO_ORDER:
        return NO_ORDER[change]
    if change == FreeChange.CALIBRATION:
        return NOTHING_BETTER[change]
    if len(ground.arms) < 2:
        return NO_OTHER_JUDGE
    if ground.is_pass_fail:
        return TOO_FEW_VOTES if change == FreeChange.PANEL else NOTHING_BETTER[change]
    if np.isnan(ground.merit_of_today).all():
        if ground.measure == Measure.KAPPA:
            return ONE_LABEL
        most = int(ground.outputs.by_document().max(initial=0))
        return NO_RANKS if most > 1 else ONE_OUTPUT_EACH
    return NOTHING_BETTER[change]


def _question(ground: Ground, candidate: FoundChange, own: np.ndarray) -> str:
    """Return a digest of everything that a look's answer depends on, independent of the outputs'
    order."""
    is_locked = np.isin(ground.outputs.document, ground.locked)
    weight = np.ones(len(own)) if ground.weight is None else ground.weight
    # The order of summation may change the last digits.
    values = np.stack([is_locked, ground.human, ground.today, own, weight], axis=1).round(9)
    lines = sorted(
        f"{ground.unit_names[document]}\0{row.tolist()!r}"
        for document, row in zip(ground.outputs.document, values, strict=True)
        if not np.isnan(row[1])
    )
    about = [ground.criterion.name, ground.judge.label, candidate.measure, *lines]
    return hashlib.sha256("\0\0".join(about).encode()).hexdigest()
