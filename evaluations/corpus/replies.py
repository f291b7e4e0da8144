"""Load a judge's raw replies from a release: parsed, counted and stored like our own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from evaluations.corpus.load_statements import OUTPUT_IDS, CreatedRows, StagingTable
from evaluations.models import Criterion, ItemState, ModelReply, RunItem, Score
from geval.files import contradictions
from geval.files.load_results import LoadTally
from geval.files.rows import FileErrors, RepliesRow
from geval.llm.parsing import Failure
from geval.llm.released_replies import Read, score_replies
from geval.llm.replies import ReplyChoice
from geval.llm.reply_structure import choices_to_json
from geval.llm.scoring import Scored
from geval_site.sql import fetch_rows

# Replies have texts of any length.
CHUNK = 500
# A run, an output and a criterion.
Key = tuple[int, int, int]


class ReplyStage:
    """The replies of one load until its outputs and criteria are known."""

    def __init__(self) -> None:
        self.table = StagingTable(
            "stage_replies",
            "file int, line int, output bigint, criterion bigint, run bigint, replies jsonb",
        )
        self.unreadable = 0
        self.off_scale = 0

    def add(self, file: int, row: RepliesRow, output: int, criterion: int, run: int) -> None:
        replies = orjson.dumps(row.replies).decode()
        self.table.add((file, row.line, output, criterion, run, replies), len(replies))

    def merge(
        self,
        tally: LoadTally,
        created: CreatedRows,
        *,
        errors: FileErrors,
        files: Mapping[int, str],
        read: Read | None,
    ) -> None:
        """Create items, replies and scores from the staged rows. Existing items with different
        replies are errors.

        Args:
            created: gets the ids of what is created.
            read: a rule that replaces the built-in parser.
        """
        if not self.table.count:
            return
        criteria = {
            criterion.pk: criterion
            for criterion in Criterion.objects.filter(pk__in=self._criteria())
        }
        seen: dict[Key, list[str]] = {}
        for rows in self._chunks():
            existing = _known(
                [
                    (run, output, criterion)
                    for _file, _line, output, criterion, run, _replies in rows
                ]
            )
            new: dict[Key, tuple[list[str], int, int]] = {}
            for file, line, output, criterion, run, stored in rows:
                key, replies = (run, output, criterion), orjson.loads(stored)
                existing_score = seen.get(key, existing.get(key))
                if existing_score is None:
                    seen[key] = replies
                    new[key] = replies, file, line
                elif existing_score == replies:
                    tally.unchanged += 1
                else:
                    message = contradictions.REPLIES.format(criteria[criterion].name)
                    errors.add(files[file], line, "all_responses", message)
            tally.created += len(new)
            outcomes = self._outcomes(new, criteria, read)
            existing_scores = _scores_of(outcomes)
            for key, here, by_itself in _contradicting(outcomes, existing_scores):
                _replies, file, line = new[key]
                message = contradictions.of_scores(here, by_itself)
                errors.add(files[file], line, "all_responses", message)
            scored = _store({key: new[key][0] for key in new}, outcomes, criteria, created)
            pks = [score.pk for key, score in scored.items() if key not in existing_scores]
            created.note_all(Score._meta.db_table, pks)

    def sample(self, criterion: int) -> list[str]:
        """Return some replies about a criterion."""
        rows = fetch_rows(
            f"SELECT replies FROM {self.table.name} WHERE criterion = %s LIMIT {CHUNK}",
            [criterion],
        )
        return [reply for (stored,) in rows for reply in orjson.loads(stored)]

    def _criteria(self) -> list[int]:
        return [pk for (pk,) in fetch_rows(f"SELECT DISTINCT criterion FROM {self.table.name}")]

    def _chunks(self) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Yield staged rows with the ids of their outputs."""
        last = (-1, -1)
        while True:
            # By place in the files, as each chunk continues after the last row of the previous.
            rows = fetch_rows(
                f"""SELECT s.file, s.line, coalesce(o.id, -s.output), s.criterion, s.run,
                    s.replies
                    FROM {self.table.name} s
                    LEFT JOIN {OUTPUT_IDS} o ON o.number = s.output
                    WHERE (s.file, s.line) > (%s, %s) ORDER BY s.file, s.line LIMIT {CHUNK}""",
                list(last),
            )
            if not rows:
                return
            last = rows[-1][:2]
            yield rows

    def _outcomes(
        self,
        new: Mapping[Key, tuple[Sequence[str], int, int]],
        criteria: Mapping[int, Criterion],
        read: Read | None,
    ) -> dict[Key, Scored | Failure]:
        outcomes: dict[Key, Scored | Failure] = {}
        for key, (replies, _file, _line) in new.items():
            criterion = criteria[key[2]]
            scored = score_replies(
                replies, scale=criterion.scale, criterion=criterion.name, read=read
            )
            outcomes[key] = scored.outcome
            self.unreadable += scored.unread
            self.off_scale += scored.off_scale
        return outcomes


def _contradicting(
    outcomes: Mapping[Key, Scored | Failure], existing: Mapping[Key, float | None]
) -> Iterator[tuple[Key, float | None, float | None]]:
    """Return existing scores of the judge, imported without replies, that the replies contradict:
    the key, the replies' score and the existing score."""
    for key, score in existing.items():
        outcome = outcomes.get(key)
        if isinstance(outcome, Scored) and not _are_same(outcome.number, score):
            yield key, outcome.number, score


def _scores_of(outcomes: Mapping[Key, Scored | Failure]) -> dict[Key, float | None]:
    """Return the scores that exist of some outputs by some runs."""
    runs, outputs, _criteria = zip(*outcomes, strict=True) if outcomes else ((), (), ())
    scores = Score.objects.filter(run__in=set(runs), output__in=set(outputs)).values_list(
        "run", "output", "criterion", "value"
    )
    return {(run, output, criterion or 0): score for run, output, criterion, score in scores}


def _are_same(number: float | None, score: float | None) -> bool:
    if number is None or score is None:
        return number is score
    return contradictions.are_same(number, score)


def _store(
    new: Mapping[Key, Sequence[str]],
    outcomes: Mapping[Key, Scored | Failure],
    criteria: Mapping[int, Criterion],
    created: CreatedRows,
) -> dict[Key, Score]:
    """Store replies with their items and scores; return the scores, new or not."""
    stored = ModelReply.objects.bulk_create(
        ModelReply(
            project_id=criteria[criterion].project_id,
            request_key="",  # the request is unknown, so other runs cannot reuse the reply
            choices=choices_to_json([ReplyChoice(reply) for reply in replies]),
            calls=0,
        )
        for (_run, _output, criterion), replies in new.items()
    )
    items = RunItem.objects.bulk_create(
        RunItem(
            run_id=run,
            output_id=output,
            criterion_id=criterion,
            state=ItemState.DONE if isinstance(outcome, Scored) else ItemState.FAILED,
            reason="" if isinstance(outcome, Scored) else outcome.reason,
            detail="" if isinstance(outcome, Scored) else outcome.detail,
            reply=reply,
        )
        for ((run, output, criterion), outcome), reply in zip(outcomes.items(), stored, strict=True)
    )
    # An equal score that was imported without replies gets the distribution that the replies show.
    scores = Score.objects.bulk_create(
        (
            Score(
                run_id=run,
                output_id=output,
                criterion_id=criterion,
                value=outcome.number,
                distribution=outcome.written_distribution,
                coverage=outcome.coverage,
                entropy=outcome.entropy,
                mode="samples",
                note=outcome.note,
            )
            for (run, output, criterion), outcome in outcomes.items()
            if isinstance(outcome, Scored)
        ),
        update_conflicts=True,
        unique_fields=["run", "output", "criterion"],
        update_fields=["distribution", "coverage", "entropy", "mode", "note"],
    )
    created.note_all(ModelReply._meta.db_table, [reply.pk for reply in stored])
    created.note_all(RunItem._meta.db_table, [item.pk for item in items])
    return {(score.run_id, score.output_id, score.criterion_id or 0): score for score in scores}


def _known(keys: Sequence[Key]) -> dict[Key, list[str]]:
    """Return the existing replies, by run, output and criterion."""
    items = RunItem.objects.filter(
        run__in={run for run, _, _ in keys},
        output__in={output for _, output, _ in keys},
        reply__isnull=False,
    )
    return {
        (run, output, criterion): [choice["text"] for choice in choices]
        for run, output, criterion, choices in items.values_list(
            "run", "output", "criterion", "reply__choices"
        )
        if criterion is not None
    }
