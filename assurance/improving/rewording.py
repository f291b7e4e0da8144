"""Search for a better wording: the search of GEPA (Agrawal et al., 2025) over our own runs.

A model is shown texts of training documents on which the judge and people differ, and rewrites one
part of the prompt. A wording that does better on those documents is tried on the selection
documents, by which one is chosen. Every step is stored as a row before the next begins, and the
search is repeatable: after a pause or a lost worker it starts over, and known results cost nothing.
"""

import importlib.util
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from assurance.improving.examples import example_sets
from assurance.improving.reflecting import Reflector
from assurance.improving.scoring import ScoringChange, rated_together, scoring_changes
from assurance.improving.search_data import cases_of
from assurance.improving.trials import LimitReachedError, Trials
from evaluations.judging.runs.lifecycle import RunError
from evaluations.judging.runs.shift import Shift
from evaluations.models import Change, Judge, Proposal, Search
from evaluations.models.improving import ASKING_CHANGES
from geval.evaluators.geval import GEval
from geval.evaluators.wording import Wording
from geval.improving.changes import Measure
from geval.improving.ground import Ground, ImproveError
from geval.llm.reflection import REWRITTEN
from geval.statistics.selection import select
from geval.statistics.types import FloatArray, IntArray

# Any constant: a search that starts over draws the same, and asks nothing twice.
SEED = 0
# Maximum number of documents that a proposal is made from, and of selection documents.
BATCH, MOST_SELECTING = 4, 20
# Maximum number of documents that the reflecting model sees: those of the batch, and other training
# documents with known scores for the wording.
EVIDENCE = 12
# A search ends after this many proposals, or this many in a row without improvement.
MOST_PROPOSALS, PATIENCE = 50, 12
# Number of documents on which every setting is tried first.
FEW = 5
KINDS = ("geval",)
NO_GEPA = (
    "New wordings are searched with the package gepa, which is not installed: run pip install"
    " 'geval-site[assurance]' where web processes and workers run. Examples and scoring do not need"
    " it."
)
# Parts of a judge's own wording that are never rewritten.
KEPT = ("examples", "nearest", "scale", "inputs", "beside")


@dataclass(frozen=True)
class Reworded:
    """The chosen wording, with its mean merit on the selection documents: today's, and the chosen
    wording's by cross-validation."""

    change: Change
    proposal: Proposal
    today: float
    candidate: float
    documents: int
    tried: int


def can_be_reworded(judge: Judge | None) -> bool:
    """Whether a judge has a prompt of ours, and a model to ask."""
    return judge is not None and judge.kind in KINDS and judge.endpoint_id is not None


def why_not_reworded(search: Search) -> str:
    """Return why a judge's wording cannot be changed, or an empty text."""
    judge = search.judge
    if not can_be_reworded(judge) or judge.endpoint is None:
        return f"{judge} cannot be reworded: only judges of the kind G-Eval have a prompt of ours."
    if judge.retired_at or judge.endpoint.retired_at:
        return f"{judge} or its endpoint is retired; restore it, or choose another judge."
    if search.reflector is not None and not search.reflector.asks_llm:
        return f"{search.reflector} asks no model, so it cannot propose wordings."
    if Change.WORDING in search.changes and importlib.util.find_spec("gepa") is None:
        return NO_GEPA
    return ""


def reword(search: Search, ground: Ground, shift: Shift) -> list[Reworded]:
    """Search for a wording, examples and scoring, as requested; return those that are better than
    today's.

    Raises:
        ImproveError: the judge cannot be reworded, or too few documents can be ranked.
        LeftError: the worker leaves the search, to be continued later.
    """
    if problem := why_not_reworded(search):
        raise ImproveError(problem)
    rewording = _Rewording(search, ground, shift)
    try:
        rewording.run()
    except LimitReachedError:
        pass  # keep what was tried so far
    except RunError as error:
        raise ImproveError(str(error)) from None
    rewordings = [rewording.chosen(change) for change in ASKING_CHANGES]
    return [reworded for reworded in rewordings if reworded is not None]


class _Rewording:
    """One search by a worker, from its beginning; implements the interface of gepa's adapters."""

    def __init__(self, search: Search, ground: Ground, shift: Shift) -> None:
        self.search, self.ground = search, ground
        self.trials = Trials(search, shift)
        self.reflector = Reflector(search, self.trials)
        self.learning, self.selecting = _divided(ground)
        self.rows: dict[tuple[tuple[str, str], ...], Proposal] = {}
        self.newest: Proposal | None = None
        self.before = 0.0
        self.known: dict[tuple[tuple[str, str], ...], FloatArray] = {}
        self.proposed = self.in_vain = 0
        self.repeated = False
        self.best_somewhere: Any = None

    def run(self) -> None:
        """Run the search until it is done, or left."""
        texts = today_in_parts(self.trials)
        today, _ = Proposal.objects.get_or_create(
            search=self.search, number=0, defaults={"texts": texts, "prompt_key": "0"}
        )
        self.rows[_key(texts)] = today
        learning = np.isin(self.ground.outputs.document, self.learning)
        self.known[_key(texts)] = np.where(learning, self.ground.today, np.nan)
        if Change.EXAMPLES in self.search.changes:
            self._try_examples(texts)
        if Change.SCORING in self.search.changes:
            self._try_scorings(texts)
        if Change.WORDING in self.search.changes:
            self._rewrite(texts)

    def _try_examples(self, today: dict[str, str]) -> None:
        """Try sets of examples from training documents, in today's wording."""
        if "prompt" in today:
            raise ImproveError(
                f"{self.search.criterion} has a whole prompt of its own, so there is no place for"
                " examples. Leave them out."
            )
        self._choose_by(today)
        for name, parts in example_sets(self.ground, self.learning):
            texts = today | parts
            self.rows[_key(texts)] = self._row(name, "examples", texts)
            self._choose_by(texts)

    def _try_scorings(self, today: dict[str, str]) -> None:
        """Try other settings of the judge by successive halving (Jamieson and Talwalkar, 2016): all
        on a few training documents, the better half on the selection documents."""
        self._choose_by(today)
        few = self._drawn()
        before = float(self._score_wording(today, few)[1].mean())
        rows = [
            self._row(change.name, change.part, texts, change.scoring)
            for change, texts in self._scorings(today)
        ]
        for row in rows:
            rho = float(self._score_proposal(row, few).mean())
            if row.on_batch is None:
                row.on_batch, row.parent_on_batch = rho, before
                row.save(update_fields=["on_batch", "parent_on_batch"])
        best = sorted(rows, key=lambda row: (-(row.on_batch or 0.0), row.number))
        for row in best[: (len(best) + 1) // 2]:
            rho_by_document = self._score_proposal(row, self.selecting)
            if not row.on_selection:
                row.on_selection = self._by_document(self.selecting, rho_by_document)
                row.save(update_fields=["on_selection"])

    def _drawn(self) -> IntArray:
        """Draw a few training documents."""
        order = np.random.default_rng(SEED).permutation(self.learning)
        return np.sort(order[:FEW])

    def _scorings(self, today: dict[str, str]) -> list[tuple[ScoringChange, dict[str, str]]]:
        """Return the settings to try, each with its parts of the wording."""
        scale = self.search.criterion.scale
        asked_scale = wording_of(today).asked_scale(scale) or scale
        evaluator = GEval(self.search.judge.settings)
        changes = [*scoring_changes(self.search.judge, evaluator, scale, asked_scale)]
        if together := rated_together(self.search.judge, self.search.criterion, wording_of(today)):
            changes.append(together)
        return [
            (change, today | dict(change.wording))
            for change in changes
            if not (change.wording and "prompt" in today)  # its scale is part of its own prompt
        ]

    def _row(
        self,
        name: str,
        part: str,
        texts: Mapping[str, str],
        scoring: Mapping[str, Any] | None = None,
    ) -> Proposal:
        """Return the proposal with this name, which is the same each time the search is
        repeated."""
        existing = self.search.proposals.filter(prompt_key=name).first()
        return existing or Proposal.objects.create(
            search=self.search,
            number=self.search.next_number(),
            parent=self.search.proposals.get(number=0),
            part=part,
            texts=dict(texts),
            scoring=dict(scoring or {}),
            prompt_key=name,
        )

    def _score_proposal(self, row: Proposal, documents: IntArray) -> FloatArray:
        """Return rho in each document, scored with a proposal's settings."""
        today = self.trials.scoring
        self.trials.scoring = today.merged(row.scoring)
        try:
            return self._score_wording(row.texts, documents)[1]
        finally:
            self.trials.scoring = today

    @staticmethod
    def _by_document(documents: IntArray, rho: FloatArray) -> dict[str, float]:
        return dict(zip(map(str, documents.tolist()), rho.tolist(), strict=True))

    def _choose_by(self, texts: Mapping[str, str]) -> None:
        """Try a wording on the selection documents."""
        self._note(texts, self.selecting, self._score_wording(texts, self.selecting)[1])

    def _rewrite(self, texts: dict[str, str]) -> None:
        """Run the search of GEPA."""
        from gepa.api import optimize
        from gepa.strategies.candidate_selector import ParetoCandidateSelector

        repeatable = random.Random(SEED)  # noqa: S311 (it draws wordings)
        self.best_somewhere = ParetoCandidateSelector(repeatable)
        optimize(
            seed_candidate=texts,
            trainset=self.learning.tolist(),
            valset=self.selecting.tolist(),
            adapter=cast(Any, self),
            module_selector=cast(Any, next_part),
            candidate_selection_strategy=cast(Any, self),
            reflection_minibatch_size=min(BATCH, len(self.learning)),
            stop_callbacks=cast(Any, self),
            logger=_Silent(),
            seed=SEED,
        )

    def __call__(self, _state: Any) -> bool:
        """Whether to stop; gepa calls this before each proposal."""
        return self.proposed >= MOST_PROPOSALS or self.in_vain >= PATIENCE

    def select_candidate_idx(self, state: Any) -> int:
        """Return the wording to rewrite next, for gepa: one that is best on some document, but
        today's after a proposal that repeated an earlier one. Otherwise a model that considers its
        own wording good would end the search with it."""
        return 0 if self.repeated else self.best_somewhere.select_candidate_idx(state)

    # gepa's adapter interface.

    def evaluate(
        self, batch: Sequence[int], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> Any:
        """Return the merit of a wording in each document of a batch."""
        from gepa.core.adapter import EvaluationBatch

        documents = np.array(batch, dtype=np.int64)
        scores, rho = self._score_wording(candidate, documents)
        if not np.array_equal(documents, self.selecting):
            before = self.known.get(_key(candidate), scores)
            self.known[_key(candidate)] = np.where(np.isnan(scores), before, scores)
        self._note(candidate, documents, rho)
        traces = [(int(document), scores) for document in documents] if capture_traces else None
        return EvaluationBatch(
            outputs=[None] * len(batch), scores=rho.tolist(), trajectories=traces
        )

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return, for each part to be rewritten, the documents of a batch, other training documents
        on which this wording was tried before, and the scores on them."""
        batch = [document for document, _ in eval_batch.trajectories]
        scores = self.known[_key(candidate)]
        # Use what this pass knows, not what the database holds, so that a repeated search sends the
        # same requests.
        tried = np.unique(self.ground.outputs.document[~np.isnan(scores)])
        others = np.setdiff1d(tried, batch)
        rng = np.random.default_rng([SEED, self.proposed])
        more = rng.permutation(others)[: EVIDENCE - len(batch)]
        records = [{"document": int(document), "scores": scores} for document in (*batch, *more)]
        return dict.fromkeys(components_to_update, records)

    def propose_new_texts(
        self,
        candidate: Mapping[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: Sequence[str],
    ) -> dict[str, str]:
        """Have a part rewritten; if the reply cannot be used, the part stays as it is."""
        new: dict[str, str] = {}
        for part in components_to_update:
            records = reflective_dataset[part]
            cases = cases_of(
                self.ground, [record["document"] for record in records], records[0]["scores"]
            )
            parent = self.rows[_key(candidate)]
            proposal = self.reflector.propose(parent, part, cases)
            self.proposed += 1
            self.in_vain += 1
            new[part] = proposal.texts[part]
            self.repeated = _key(proposal.texts) in self.rows
            if not self.repeated:
                self.rows[_key(proposal.texts)] = self.newest = proposal
        return new

    # Rows

    def _score_wording(
        self, candidate: Mapping[str, str], documents: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return scores of all outputs (NaN for others), and their merit in each document."""
        ground = self.ground
        is_wanted = np.isin(ground.outputs.document, documents) & ~np.isnan(ground.human)
        scores = np.full(len(ground.outputs), np.nan)
        scores[is_wanted] = self.trials.scores(wording_of(candidate), ground.output_ids[is_wanted])
        return scores, np.nan_to_num(ground.merit(documents, scores), nan=0.0)

    def _note(self, candidate: Mapping[str, str], documents: IntArray, rho: FloatArray) -> None:
        """Record the result of a wording, unless it is already known."""
        row = self.rows[_key(candidate)]
        if np.array_equal(documents, self.selecting):
            by_document = self._by_document(documents, rho)
            self.in_vain = 0
            if not row.on_selection:
                row.on_selection = by_document
                row.save(update_fields=["on_selection"])
        elif row is self.newest:
            self.newest = None
            if row.on_batch is None:
                row.on_batch, row.parent_on_batch = float(rho.mean()), self.before
                row.save(update_fields=["on_batch", "parent_on_batch"])
        else:
            self.before = float(rho.mean())

    def chosen(self, change: Change) -> Reworded | None:
        """Return the best of what was tried on the selection documents: examples, scorings or
        wordings."""
        rows = [
            row
            for row in self.search.proposals.order_by("number")
            if not row.number or change_of(row) == change
        ]
        tried = [row for row in rows if row.on_selection]
        if len(tried) < 2 or tried[0].number:
            return None
        documents = list(tried[0].on_selection)
        values = np.array([[row.on_selection[document] for document in documents] for row in tried])
        selected = select(values, seed=SEED)
        if selected.best == 0:
            return None
        return Reworded(
            change,
            tried[selected.best],
            float(values[0].mean()),
            float(selected.by_document.mean()),
            len(documents),
            len(rows) - 1,
        )


class _Silent:
    """A silent logger for gepa, whose events are stored as rows."""

    def log(self, message: str) -> None: ...


def today_in_parts(trials: Trials) -> dict[str, str]:
    """Return the current parts of the judge's prompt that can be reworded."""
    wording = trials.own_wording()
    parts = wording.of(trials.parts)
    if parts.prompt_file.strip():
        return {"prompt": parts.prompt_file}
    texts = {"definition": parts.definition}
    for name, text in wording.texts().items():
        if name in KEPT:
            texts[name] = text
    if trials.judge.use_steps:
        texts["steps"] = wording.steps or trials.steps or ""
    if parts.introduction.strip():
        texts["introduction"] = parts.introduction
    return texts


def next_part(
    state: Any, _traces: object, _scores: object, _parent: int, candidate: Mapping[str, str]
) -> list[str]:
    """Return the next part to rewrite, in turn."""
    parts = [part for part in REWRITTEN if part in candidate]
    return [parts[state.i % len(parts)]]


def change_of(proposal: Proposal) -> Change:
    """Return the kind of change that a proposal makes."""
    if proposal.part in ("mode", "samples", "scale", "beside"):
        return Change.SCORING
    return Change.EXAMPLES if proposal.part == "examples" else Change.WORDING


def wording_of(texts: Mapping[str, str]) -> Wording:
    """Return the wording made of parts by name."""
    return Wording.model_validate(dict(texts))


def _key(texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(texts.items()))


def _divided(ground: Ground) -> tuple[IntArray, IntArray]:
    """Divide the training documents, where ranks are improved those that people rank, into two
    halves: for learning, and for selection.

    Raises:
        ImproveError: there are too few documents.
    """
    ranked = ground.training
    if ground.measure == Measure.RANK:
        ranked = np.array([pk for pk in ranked if _is_ranked(ground, int(pk))], dtype=np.int64)
    half = min(MOST_SELECTING, len(ranked) // 2)
    if half < BATCH:
        raise ImproveError(
            f"People rank the outputs of {len(ranked)} training documents; a wording needs"
            f" {2 * BATCH}. Have several outputs of each document rated."
            if ground.measure == Measure.RANK
            else f"{len(ranked)} training documents have ratings; a wording needs {2 * BATCH}."
        )
    order = np.random.default_rng(SEED).permutation(ranked)
    return np.sort(order[half:]), np.sort(order[:half])


def _is_ranked(ground: Ground, document: int) -> bool:
    """Whether people give a document's outputs different ratings."""
    human = ground.human[ground.outputs.document == document]
    defined = human[~np.isnan(human)]
    return len(defined) > 1 and np.ptp(defined) > 0
